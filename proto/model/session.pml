// SPDX-License-Identifier: Apache-2.0
//
// Two views of one session, with calls on it: A calls B. README.md says which code each step stands
// for, and what is checked.
//
// A connection is a channel each way. It breaks at any moment; each end notices that later, and may
// lose what is on the way by then. Times are not modelled: `timeout`, when nothing else can happen,
// stands for the delay before a second attempt, and for the silence that means death.
//
// Numbers: BREAKS of connections, DIALS in all, CALLS of A (1 or 2), REPEATS of batches by the
// transport, STALES Hellos that come although their connection is gone, MUTES connections that lose one
// direction, or both, without a word: a side that hears nothing dials a second connection beside the
// one that it has. Switches: DEATH, one side buries the other while their connection is broken; ONE_DIALS,
// B has no address for A. Each MISTAKE_x is one that can be planted, which the check must find.
#ifndef BREAKS
#define BREAKS 1
#endif
#ifndef DIALS
#define DIALS 5
#endif
#ifndef MUTES
#define MUTES 0
#endif
#ifndef STALES
#define STALES 0
#endif
#ifndef CALLS
#define CALLS 1
#endif

#define A 0
#define B 1
#define NONE 255
#define FRAMES 7  // the most that a side sends, and one

// The mistake that is planted: the number in the environment variable MISTAKE, or none.
#define MISTAKE_NO_REPLAY      1
#define MISTAKE_FORGET_WRITTEN 2
#define MISTAKE_VOID_WRITTEN   3
#define MISTAKE_BOTH_STAY      4
#define MISTAKE_DUPLICATES     5
#define MISTAKE_DEAD_RESUMES   6
#define MISTAKE_LATE_HELLO     7
#define MISTAKE_SECOND_BEGINS  8
byte mistake;
#define CHOOSE_MISTAKE \
  c_code { now.mistake = getenv("MISTAKE") ? atoi(getenv("MISTAKE")) : 0; }

mtype = { HELLO, WELCOME, REFUSE_CROSSED, REFUSE_SESSION, BATCH };
mtype = { INVOKE, VOIDED, CANCEL, RELEASE, RESULT };
mtype = { CONNECTING, OPEN, BROKEN, DEAD };
mtype = { UNUSED, NAMED, CANCELLED, ENDED, RUNNING };

// What is on a connection, by connection and receiver: kind, frame's number or what the greeting
// says was received (0: a batch without a frame), acknowledgement, and whether a Hello resumes.
chan wire[2 * DIALS] = [2] of { mtype, byte, byte, bool };
#define to(c, s) wire[2 * (c) + (s)]

typedef connection_t {
  byte number;     // that its Hello says
  byte dialler;
  bool is_broken;
  bool is_mute[2];  // by receiver: what is written is lost
};
connection_t connections[DIALS];
chan listener[2] = [DIALS] of { byte };  // connections whose Hello is still to be judged
byte dial_count;
byte break_count;
byte stale_count;
byte mute_count;

typedef frame_t {
  mtype kind;
  byte call;
};

typedef side_t {
  mtype state = CONNECTING;
  byte link = NONE;  // its connection
  byte dial = NONE;  // the connection that its Hello is on
  byte number;       // of the connection that it has, or had last
  byte attempt;      // the highest number that it dialled with
  bool must_wait;    // before its next attempt
  frame_t sent[FRAMES];
  byte appended;
  byte written;      // ever
  byte cursor;       // to this connection
  byte acked;
  byte received;
  byte told;         // of what was received, on this connection
};
side_t sides[2];

// Calls, at the caller and at the callee, by number from 1.
mtype made[CALLS + 1] = UNUSED;
mtype work[CALLS + 1] = UNUSED;
bool has_slot[CALLS + 1];
byte watermark;
bool was_buried;
bool is_over;

inline append(s, what, n) {
  sides[s].appended++;
  sides[s].sent[sides[s].appended].kind = what;
  sides[s].sent[sides[s].appended].call = n;
}

// --- Calls ---------------------------------------------------------------------

inline on_invoke(n) {
  assert(n == watermark + 1);
  assert(work[n] == UNUSED);
  watermark = n;
  has_slot[n] = true;
  if
  :: sides[A].sent[seq].kind == VOIDED -> work[n] = ENDED
  :: else -> work[n] = RUNNING
  fi
}

inline on_cancel(n) {
  assert(n <= watermark);
  if
  :: work[n] == RUNNING -> work[n] = CANCELLED
  :: else
  fi
}

inline on_release(n) {
  assert(has_slot[n]);
  has_slot[n] = false;
}

inline on_result(n) {
  assert(made[n] == NAMED || made[n] == CANCELLED);
  made[n] = ENDED;
  append(A, RELEASE, n);
}

// The handler of frames: each comes once, and in its order.
inline handle(s, peer) {
  if
  :: sides[peer].sent[seq].kind == INVOKE || sides[peer].sent[seq].kind == VOIDED ->
     on_invoke(sides[peer].sent[seq].call)
  :: sides[peer].sent[seq].kind == CANCEL -> on_cancel(sides[peer].sent[seq].call)
  :: sides[peer].sent[seq].kind == RELEASE -> on_release(sides[peer].sent[seq].call)
  :: sides[peer].sent[seq].kind == RESULT -> on_result(sides[peer].sent[seq].call)
  fi
}

// |s| reads nothing from |c| any more.
inline leave(s, c) {
  connections[c].is_broken = true;
  do
  :: len(to(c, s)) > 0 -> to(c, s)?_, _, _, _
  :: len(to(c, s)) == 0 -> break
  od
}

// The funeral of the session at |s|.
inline bury(s) {
  sides[s].state = DEAD;
  if
  :: sides[s].link != NONE -> leave(s, sides[s].link)
  :: else
  fi;
  if
  :: sides[s].dial != NONE -> leave(s, sides[s].dial)
  :: else
  fi;
  sides[s].link = NONE;
  sides[s].dial = NONE;
  n = 1;
  do
  :: n > CALLS -> break
  :: else ->
     if
     :: s == A && made[n] != UNUSED -> made[n] = ENDED
     :: s == B && work[n] != UNUSED -> work[n] = ENDED; has_slot[n] = false
     :: else
     fi;
     n++
  od;
  n = 0
}

// --- Connections ---------------------------------------------------------------

inline acknowledge(s, upto) {
  assert(upto <= sides[s].written);
  if
  :: upto > sides[s].acked -> sides[s].acked = upto
  :: else
  fi
}

// |c| becomes the connection of |s|; the peer has received |upto| frames.
inline adopt(s, c, upto) {
  if
  :: sides[s].link != NONE -> leave(s, sides[s].link)
  :: else
  fi;
  sides[s].link = c;
  sides[s].number = connections[c].number;
  sides[s].state = OPEN;
  sides[s].must_wait = false;
  acknowledge(s, upto);
  if
  :: mistake == MISTAKE_NO_REPLAY && sides[s].cursor > 0
  :: else -> sides[s].cursor = sides[s].acked + 1
  fi;
  sides[s].told = sides[s].received
}

// The incarnation of A is the smaller one: its own dial stays when two cross.
#define STAYS(s) (s == A || mistake == MISTAKE_BOTH_STAY)
// A Hello on a connection that was given up: another one came later, or had more acknowledged.
#define IS_OLD(c, s) \
  (connections[c].number <= sides[s].number || \
   (upto < sides[s].acked && mistake != MISTAKE_LATE_HELLO))
#define IS_BEYOND(s, upto) (upto < sides[s].acked || upto > sides[s].written)

// |s| has read the Hello on |c|, by which the peer has received |upto| frames.
inline judge_hello(s, c, upto, is_resume) {
  if
  :: sides[s].state == DEAD ->
     if
     :: mistake == MISTAKE_DEAD_RESUMES ->
        adopt(s, c, upto);
        to(c, 1 - s)!WELCOME, sides[s].received, 0, false
     :: else -> to(c, 1 - s)!REFUSE_SESSION, 0, 0, false
     fi
  :: sides[s].state != DEAD && (IS_OLD(c, s) || (sides[s].dial != NONE && STAYS(s))) ->
     to(c, 1 - s)!REFUSE_CROSSED, 0, 0, false
  :: sides[s].state != DEAD && !(IS_OLD(c, s) || (sides[s].dial != NONE && STAYS(s))) ->
     if
     :: IS_BEYOND(s, upto) || (!is_resume && (sides[s].received > 0 || sides[s].acked > 0)) ->
        to(c, 1 - s)!REFUSE_SESSION, 0, 0, false;
        bury(s);
        assert(false)  // without a death, the two agree what was received
     :: else ->
        if
        :: sides[s].dial != NONE ->
           leave(s, sides[s].dial);
           sides[s].dial = NONE
        :: else
        fi;
        adopt(s, c, upto);
        to(c, 1 - s)!WELCOME, sides[s].received, 0, false
     fi
  fi
}

inline on_batch(s, peer) {
  acknowledge(s, upto);
  if
  :: seq == 0
  :: seq != 0 && seq <= sides[s].received && mistake != MISTAKE_DUPLICATES
  :: seq == sides[s].received + 1 || (seq != 0 && seq <= sides[s].received && mistake == MISTAKE_DUPLICATES) ->
     sides[s].received = seq;
     handle(s, peer)
  :: seq > sides[s].received + 1 ->
     leave(s, sides[s].link);
     sides[s].link = NONE;
     sides[s].state = BROKEN
  fi
}

#ifdef ONE_DIALS
#define HAS_ADDRESS(s) (s == A)
#else
#define HAS_ADDRESS(s) true
#endif
#define HAS_NO_LINK(s) (sides[s].state == CONNECTING || sides[s].state == BROKEN)
// It has heard nothing for half of the silence.
#define IS_DEAF(s) (sides[s].state == OPEN && connections[sides[s].link].is_mute[s])
#define CAN_DIAL(s) \
  ((HAS_NO_LINK(s) || IS_DEAF(s)) && sides[s].dial == NONE && dial_count < DIALS && HAS_ADDRESS(s))

inline begin_dial(s) {
  if
  :: sides[s].attempt < sides[s].number -> sides[s].attempt = sides[s].number
  :: else
  fi;
  sides[s].attempt++;
  sides[s].must_wait = false;
  sides[s].dial = dial_count;
  connections[dial_count].number = sides[s].attempt;
  connections[dial_count].dialler = s;
  to(dial_count, 1 - s)!HELLO, sides[s].received, 0,
    (sides[s].state == BROKEN || (sides[s].state == OPEN && mistake != MISTAKE_SECOND_BEGINS));
  listener[1 - s]!dial_count;
  dial_count++
}

#define IS_RUN(n) (work[n] == RUNNING || work[n] == CANCELLED)
#define LINK_GONE(s) (sides[s].link != NONE && connections[sides[s].link].is_broken)
#define DIAL_GONE(s) (sides[s].dial != NONE && connections[sides[s].dial].is_broken)
#define CAN_WRITE(s) (sides[s].state == OPEN && !connections[sides[s].link].is_broken && \
                      nfull(to(sides[s].link, 1 - s)))

// The right ends: nothing is left anywhere, and both sides agree.
#define IS_DONE(s) (sides[s].state == OPEN && !LINK_GONE(s) && sides[s].acked == sides[s].appended && \
                    sides[1 - s].received == sides[s].appended)
#define HAS_NONE(n) (made[n] == ENDED && work[n] == ENDED && !has_slot[n])
#define IS_FREE(n) ((made[n] == ENDED || made[n] == UNUSED) && !IS_RUN(n) && !has_slot[n])
#define IS_OVER ((IS_DONE(A) && IS_DONE(B) && sides[A].link == sides[B].link && \
                  HAS_NONE(1) && HAS_NONE(CALLS)) || \
                 (sides[A].state == DEAD && sides[B].state == DEAD && was_buried && \
                  IS_FREE(1) && IS_FREE(CALLS)))

proctype side(byte me) {
  byte seq;
  byte upto;
  byte c;
  byte n;
  bool is_resume;
  do
  // Session: dials, connections that break.
  :: atomic { CAN_DIAL(me) && !sides[me].must_wait -> begin_dial(me) }
  // Both have the same delay: one may dial before it hears of the other.
  :: atomic {
       timeout && CAN_DIAL(me) && sides[me].must_wait ->
       sides[A].must_wait = false;
       sides[B].must_wait = false
     }
  :: atomic {
       LINK_GONE(me) ->
       leave(me, sides[me].link);
       sides[me].link = NONE;
       sides[me].state = BROKEN
     }
  :: atomic {
       DIAL_GONE(me) ->
       leave(me, sides[me].dial);
       sides[me].dial = NONE;
       sides[me].must_wait = true
     }
  // Hellos that come, in any order.
  :: atomic {
       nempty(listener[me]) ->
       listener[me]?c;
       if
       :: connections[c].is_broken -> leave(me, c)
       :: !connections[c].is_broken || stale_count < STALES ->
          to(c, me)?HELLO, upto, _, is_resume;
          stale_count = stale_count + connections[c].is_broken;
          judge_hello(me, c, upto, is_resume)
       :: len(listener[me]) > 0 -> listener[me]!c
       fi;
       upto = 0; c = 0; is_resume = false
     }
  // Answers to a Hello.
  :: atomic {
       sides[me].dial != NONE && nempty(to(sides[me].dial, me)) ->
       c = sides[me].dial;
       sides[me].dial = NONE;
       if
       :: to(c, me)?WELCOME, upto, _, _ ->
          if
          :: IS_BEYOND(me, upto) -> bury(me)
          :: else -> adopt(me, c, upto)
          fi
       :: to(c, me)?REFUSE_CROSSED, _, _, _ ->
          leave(me, c); sides[me].must_wait = true
       :: to(c, me)?REFUSE_SESSION, _, _, _ -> leave(me, c); bury(me)
       fi;
       upto = 0; c = 0
     }
  // Frames, out and in.
  :: atomic {
       CAN_WRITE(me) && sides[me].cursor <= sides[me].appended ->
       if
       :: connections[sides[me].link].is_mute[1 - me]
       :: else -> to(sides[me].link, 1 - me)!BATCH, sides[me].cursor, sides[me].received, false
       fi;
       sides[me].told = sides[me].received;
       if
       :: sides[me].cursor > sides[me].written -> sides[me].written = sides[me].cursor
       :: else
       fi;
       if
       :: mistake == MISTAKE_FORGET_WRITTEN -> sides[me].acked = sides[me].cursor
       :: else
       fi;
       sides[me].cursor++
     }
  :: atomic {
       CAN_WRITE(me) && sides[me].cursor > sides[me].appended &&
       sides[me].told < sides[me].received ->
       if
       :: connections[sides[me].link].is_mute[1 - me]
       :: else -> to(sides[me].link, 1 - me)!BATCH, 0, sides[me].received, false
       fi;
       sides[me].told = sides[me].received
     }
  :: atomic {
       sides[me].state == OPEN && nempty(to(sides[me].link, me)) ->
       to(sides[me].link, me)?BATCH, seq, upto, _;
       on_batch(me, 1 - me);
       seq = 0; upto = 0
     }
#ifdef DEATH
  // While there is no connection, one side gives the other up.
  :: atomic { sides[me].state == BROKEN && !was_buried -> was_buried = true; bury(me) }
#endif
  // Silence: nothing else can happen. Without a death nobody waits so long.
  :: atomic {
       timeout && HAS_NO_LINK(me) && !CAN_DIAL(me) && !CAN_DIAL(1 - me) ->
       assert(was_buried);
       bury(me)
     }
  // Calls.
  :: atomic {
       me == A && sides[A].state != DEAD && made[CALLS] == UNUSED ->
       n = 1;
       do
       :: made[n] == UNUSED -> break
       :: else -> n++
       od;
       made[n] = NAMED;
       append(A, INVOKE, n);
       n = 0
     }
  :: atomic {
       me == A && sides[A].state != DEAD && (made[1] == NAMED || made[CALLS] == NAMED) ->
       n = 1;
       do
       :: made[n] == NAMED -> break
       :: n < CALLS && made[CALLS] == NAMED -> n++
       od;
       made[n] = CANCELLED;
       seq = 1;
       do
       :: sides[A].sent[seq].kind == INVOKE && sides[A].sent[seq].call == n -> break
       :: else -> seq++
       od;
       if
       :: seq > sides[A].written || (seq > sides[A].acked && mistake == MISTAKE_VOID_WRITTEN) ->
          // The Invoke was never written: a Void takes its place, and the call is over.
          sides[A].sent[seq].kind = VOIDED;
          made[n] = ENDED;
          append(A, RELEASE, n)
       :: else -> append(A, CANCEL, n)
       fi;
       n = 0; seq = 0
     }
  :: atomic {
       me == B && sides[B].state != DEAD && (IS_RUN(1) || IS_RUN(CALLS)) ->
       n = 1;
       do
       :: IS_RUN(n) -> break
       :: n < CALLS && IS_RUN(CALLS) -> n++
       od;
       work[n] = ENDED;
       append(B, RESULT, n);
       n = 0
     }
  :: atomic { IS_OVER || is_over -> is_over = true; break }
  od
}

#ifdef REPEATS
byte repeat_count;
#define CAN_REPEAT(s) (sides[s].link != NONE && len(to(sides[s].link, s)) == 1)
#endif

inline mute(c, s) {
  connections[c].is_mute[s] = true;
  do
  :: len(to(c, s)) > 0 -> to(c, s)?_, _, _, _
  :: len(to(c, s)) == 0 -> break
  od
}

proctype network() {
  byte c;
  byte upto;
end:
  do
  :: atomic {
       break_count < BREAKS && dial_count > 0 && !is_over ->
       c = 0;
       do
       :: c < dial_count - 1 -> c++
       :: break
       od;
       if
       :: !connections[c].is_broken -> connections[c].is_broken = true; break_count++
       :: else
       fi;
       c = 0
     }
#if MUTES
  // The connection of both loses what is on it, and all that comes later, towards one side or both.
  :: atomic {
       mute_count < MUTES && !is_over && sides[A].link != NONE && sides[A].link == sides[B].link ->
       mute_count++;
       c = sides[A].link;
       if
       :: mute(c, A)
       :: mute(c, B)
       :: mute(c, A); mute(c, B)
       fi;
       c = 0
     }
#endif
#ifdef REPEATS
  // The transport delivers a batch a second time, later.
  :: atomic {
       repeat_count < REPEATS && !is_over && CAN_REPEAT(A) ->
       to(sides[A].link, A)?<BATCH, c, upto, _>;
       to(sides[A].link, A)!BATCH, c, upto, false;
       c = 0; upto = 0; repeat_count++
     }
  :: atomic {
       repeat_count < REPEATS && !is_over && CAN_REPEAT(B) ->
       to(sides[B].link, B)?<BATCH, c, upto, _>;
       to(sides[B].link, B)!BATCH, c, upto, false;
       c = 0; upto = 0; repeat_count++
     }
#endif
  od
}

init {
  atomic { CHOOSE_MISTAKE; run side(A); run side(B); run network() }
}
