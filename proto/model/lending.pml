// SPDX-License-Identifier: Apache-2.0
//
// The names, holds and covers of one value x, over sessions that deliver each frame once and in
// order (session.pml). README.md says which code each step stands for, and what is checked.
//
//   A   calls x = f() on B and y = g(x) on C, uses y, may cancel g, releases both at any time
//   B   owns x
//   C   runs g: may want x, keep it, call h(x) on D, and return x as y
//   D   runs h: may want x, and keep it
//
// Each choice is free, so one run of the check covers every program of this shape. Switches:
// NESTED, C calls D; DEATH, one host dies at any moment, and each other host notices that by itself.
// Each MISTAKE_x is one that can be planted, which the check must find.
#define A 0
#define B 1
#define C 2
#define D 3
#define HOSTS 4

#ifdef NESTED
#define HAS_D true
#else
#define HAS_D false
#endif

// The mistake that is planted: the number in the environment variable MISTAKE, or none.
#define MISTAKE_DONE_BEFORE_RETAINED 1
#define MISTAKE_EARLY_WANT_FAILS     2
#define MISTAKE_LOANS_END_AT_CANCEL  3
#define MISTAKE_SLOT_RELEASED_FIRST  4
#define MISTAKE_DEAD_HOLD_ON         5
byte mistake;
#define CHOOSE_MISTAKE \
  c_code { now.mistake = getenv("MISTAKE") ? atoi(getenv("MISTAKE")) : 0; }

mtype = { INVOKE_F, INVOKE_G, INVOKE_H, CANCEL, VALUE_IS_HERE, FORWARD, FAILED, DONE };
mtype = { RELEASE_X, RELEASE_Y, WANT, RESOLVED, LOST, RETAIN, RETAINED };

// A handle on x: none; covered by the call it was lent with; being registered; held; an error.
mtype = { NO_HANDLE, COVERED, REGISTERING, HELD, GONE };

// A call, at its callee, or as its caller sees it.
mtype = { UNUSED, RUNNING, RETIRED, GATED, CALL_DONE };

chan link[HOSTS * HOSTS] = [3] of { mtype };
#define to(from, host) link[(from) * HOSTS + (host)]
#define SENDS(from, host, frame) \
  if \
  :: buried[(from) * HOSTS + (host)] \
  :: else -> to(from, host)!frame \
  fi

bool is_dead[HOSTS];
bool someone_died;
bool buried[HOSTS * HOSTS];  // by the first, the second

// The object x at B: exists from the Invoke of f until the last hold ends.
bool was_made;
bool exists;
bool holds[HOSTS];
bool is_asked[HOSTS];         // a Want that B keeps until the Invoke of f comes
bool is_hold_asked[HOSTS];    // a Retain, the same

// x on the other hosts.
typedef host_t {
  mtype handle = NO_HANDLE;
  bool is_kept;   // something here uses it beyond the call
  bool wants;     // a Want of it is open
};
host_t hosts[HOSTS];

mtype g_made = UNUSED;   // g as A sees it
mtype g_runs = UNUSED;   // at C
mtype h_made = UNUSED;   // h as C sees it
mtype h_runs = UNUSED;   // at D
bool g_is_cancelled;
bool f_is_made;
bool x_is_used;          // by A's program
bool y_is_used;          // by A's program: its hold on the slot y at C
bool y_is_x;             // A knows that y is x
bool y_is_told;          // C has told what y is
bool slot_is_held;       // the slot y at C has A as its holder
bool slot_is_x;          // and stands for x
bool asks_for_y;         // A's Want of y, which is x, is open

// --- B, the owner of x ---------------------------------------------------------

inline free_if_unused() {
  if
  :: exists && !holds[A] && !holds[C] && !holds[D] -> exists = false
  :: else
  fi
}

inline answer(host) {
  if
  :: exists -> SENDS(B, host, RESOLVED)
  :: !exists && (was_made || buried[B * HOSTS + A]) ->
     // Released, or never to come: only a death makes that so while somebody asks.
     assert(someone_died);
     SENDS(B, host, LOST)
  :: !exists && !was_made && !buried[B * HOSTS + A] ->
     assert(mistake != MISTAKE_EARLY_WANT_FAILS);
     is_asked[host] = true
  fi
}

inline hold(host) {
  if
  :: exists -> holds[host] = true; SENDS(B, host, RETAINED)
  :: !exists && (was_made || buried[B * HOSTS + A]) ->
     assert(someone_died);
     SENDS(B, host, LOST)
  :: !exists && !was_made && !buried[B * HOSTS + A] -> is_hold_asked[host] = true
  fi
}

// What |host| asked for too early is answered now.
inline answer_early(host) {
  if
  :: is_asked[host] -> is_asked[host] = false; answer(host)
  :: else
  fi;
  if
  :: is_hold_asked[host] -> is_hold_asked[host] = false; hold(host)
  :: else
  fi
}

inline owner_handles(host, frame) {
  if
  :: frame == INVOKE_F ->
     assert(!was_made);
     was_made = true;
     exists = true;
     holds[A] = true;
     answer_early(C);
     answer_early(D)
  :: frame == WANT -> answer(host)
  :: frame == RETAIN -> hold(host)
  :: frame == RELEASE_X ->
     assert(holds[host]);
     holds[host] = false;
     free_if_unused()
  fi
}

// --- Borrowers -------------------------------------------------------------------

// |me| has no use for x any more.
inline let_go(me) {
  if
  :: hosts[me].handle == HELD -> SENDS(me, B, RELEASE_X)
  :: else
  fi;
  hosts[me].handle = NO_HANDLE
}

inline borrower_handles(me, frame) {
  if
  :: frame == RESOLVED -> assert(hosts[me].wants); hosts[me].wants = false
  :: frame == RETAINED -> assert(hosts[me].handle == REGISTERING); hosts[me].handle = HELD
  :: frame == LOST ->
     hosts[me].wants = false;
     if
     :: hosts[me].handle == REGISTERING -> hosts[me].handle = GONE
     :: else
     fi
  fi
}

// Whether anything of a call that has retired still needs x at |me|.
#define NEEDS_X(me) (hosts[me].is_kept || (me == C && slot_is_held && slot_is_x))

// The gate of a call at |me|, for |caller|, which has retired.
inline pass_gate(me, caller, call) {
  if
  :: NEEDS_X(me) && hosts[me].handle == COVERED ->
     hosts[me].handle = REGISTERING;
     SENDS(me, B, RETAIN);
     if
     :: mistake == MISTAKE_DONE_BEFORE_RETAINED -> call = CALL_DONE; SENDS(me, caller, DONE)
     :: else -> call = GATED
     fi
  :: !NEEDS_X(me) && hosts[me].handle == COVERED ->
     hosts[me].handle = NO_HANDLE;
     call = CALL_DONE;
     SENDS(me, caller, DONE)
  :: hosts[me].handle != COVERED && hosts[me].handle != REGISTERING ->
     call = CALL_DONE;
     SENDS(me, caller, DONE)
  fi
}
#define CAN_PASS(me, call) \
  ((call == RETIRED || call == GATED) && !hosts[me].wants && hosts[me].handle != REGISTERING)

// --- C, which runs g ---------------------------------------------------------------

inline callee_handles(frame) {
  if
  :: frame == INVOKE_G ->
     assert(g_runs == UNUSED);
     g_runs = RUNNING;
     if
     :: buried[C * HOSTS + B] -> hosts[C].handle = GONE
     :: else -> hosts[C].handle = COVERED
     fi;
     slot_is_held = true
  :: frame == CANCEL -> g_is_cancelled = g_is_cancelled || g_runs == RUNNING
  :: frame == RELEASE_Y ->
     assert(slot_is_held);
     slot_is_held = false;
     slot_is_x = false
  :: frame == DONE -> assert(h_made == RUNNING); h_made = CALL_DONE
  fi
}

// --- A, the caller -----------------------------------------------------------------

// A's own hold on x ends when neither its program nor its call of g needs x.
inline release_x_if_unused() {
  if
  :: hosts[A].handle == HELD && !x_is_used && g_made != RUNNING &&
     (g_made != RETIRED || mistake == MISTAKE_LOANS_END_AT_CANCEL) -> let_go(A)
  :: else
  fi
}

inline caller_handles(frame) {
  if
  :: frame == VALUE_IS_HERE || frame == FAILED -> y_is_told = true
  :: frame == FORWARD -> y_is_told = true; y_is_x = (g_made == RUNNING)
  :: frame == DONE ->
     assert(g_made == RUNNING || g_made == RETIRED);
     g_made = CALL_DONE;
     release_x_if_unused()
  :: frame == RESOLVED -> assert(asks_for_y); asks_for_y = false
  :: frame == LOST -> asks_for_y = false
  fi
}

// --- Deaths ------------------------------------------------------------------------

// |me| buries |other|: nothing of it counts from here on.
inline bury(me, other) {
  buried[me * HOSTS + other] = true;
  do
  :: len(to(other, me)) > 0 -> to(other, me)?_
  :: len(to(other, me)) == 0 -> break
  od;
  if
  :: me == B ->
     is_asked[other] = false;
     is_hold_asked[other] = false;
     holds[other] = holds[other] && mistake == MISTAKE_DEAD_HOLD_ON;
     free_if_unused();
     // The Invoke of f never comes: who asked hears that.
     if
     :: other == A && !was_made -> answer_early(C); answer_early(D)
     :: else
     fi
  :: me != B && other == B ->
     hosts[me].wants = false;
     if
     :: me == A -> asks_for_y = false
     :: else
     fi;
     if
     :: hosts[me].handle != NO_HANDLE -> hosts[me].handle = GONE
     :: else
     fi
  :: else
  fi;
  if
  :: me == A && other == C ->
     y_is_used = false;
     if
     :: g_made == RUNNING || g_made == RETIRED -> g_made = CALL_DONE
     :: else
     fi;
     release_x_if_unused()
  :: me == C && other == A -> g_is_cancelled = true; slot_is_held = false; slot_is_x = false
  :: me == C && other == D && h_made == RUNNING -> h_made = CALL_DONE
  :: else
  fi
}

// --- The hosts -----------------------------------------------------------------------

#define MAY_HEAR(me, other) (!is_dead[me] && !buried[me * HOSTS + other] && \
                             len(to(other, me)) > 0)

proctype caller() {
  mtype frame;
end:
  do
  :: atomic {
       !is_dead[A] && !f_is_made && g_made == UNUSED ->
       f_is_made = true;
       x_is_used = true;
       y_is_used = true;
       hosts[A].handle = HELD;
       g_made = RUNNING;
       SENDS(A, B, INVOKE_F);
       SENDS(A, C, INVOKE_G);
       if
       :: buried[A * HOSTS + C] -> g_made = CALL_DONE; y_is_used = false
       :: else
       fi;
       if
       :: buried[A * HOSTS + B] -> hosts[A].handle = GONE
       :: else
       fi
     }
  :: atomic { !is_dead[A] && x_is_used -> x_is_used = false; release_x_if_unused() }
  // A cancel: y is an error here at once; the record stays until g is done.
  :: atomic {
       !is_dead[A] && g_made == RUNNING && f_is_made && y_is_used ->
       g_made = RETIRED;
       SENDS(A, C, CANCEL);
       release_x_if_unused()
     }
  // A asks the owner of x for y, which is x. Its hold on the slot y covers that.
  :: atomic {
       !is_dead[A] && y_is_x && y_is_used && !asks_for_y && hosts[A].handle != GONE ->
       y_is_x = false;
       if
       :: mistake == MISTAKE_SLOT_RELEASED_FIRST -> y_is_used = false; SENDS(A, C, RELEASE_Y)
       :: else
       fi;
       if
       :: buried[A * HOSTS + B]
       :: else -> asks_for_y = true; SENDS(A, B, WANT)
       fi
     }
  :: atomic {
       !is_dead[A] && y_is_used && y_is_told && !asks_for_y ->
       y_is_used = false;
       y_is_x = false;
       SENDS(A, C, RELEASE_Y)
     }
  :: atomic { MAY_HEAR(A, B) -> to(B, A)?frame; caller_handles(frame); frame = 0 }
  :: atomic { MAY_HEAR(A, C) -> to(C, A)?frame; caller_handles(frame); frame = 0 }
  od
}

proctype owner() {
  mtype frame;
end:
  do
  :: atomic { MAY_HEAR(B, A) -> to(A, B)?frame; owner_handles(A, frame); frame = 0 }
  :: atomic { MAY_HEAR(B, C) -> to(C, B)?frame; owner_handles(C, frame); frame = 0 }
#ifdef NESTED
  :: atomic { MAY_HEAR(B, D) -> to(D, B)?frame; owner_handles(D, frame); frame = 0 }
#endif
  od
}

inline want_x(me) {
  if
  :: hosts[me].handle == GONE
  :: else -> hosts[me].wants = true; SENDS(me, B, WANT)
  fi
}

proctype borrower() {
  mtype frame;
  bool has_wanted;
end:
  do
  :: atomic { MAY_HEAR(C, A) -> to(A, C)?frame; callee_handles(frame); frame = 0 }
  :: atomic { MAY_HEAR(C, B) -> to(B, C)?frame; borrower_handles(C, frame); frame = 0 }
  // Kernels of g.
  :: atomic {
       !is_dead[C] && g_runs == RUNNING && !g_is_cancelled && !has_wanted &&
       !buried[C * HOSTS + B] ->
       has_wanted = true;
       want_x(C)
     }
  :: atomic {
       !is_dead[C] && g_runs == RUNNING && !g_is_cancelled && !hosts[C].is_kept &&
       hosts[C].handle == COVERED -> hosts[C].is_kept = true
     }
#ifdef NESTED
  :: atomic { MAY_HEAR(C, D) -> to(D, C)?frame; callee_handles(frame); frame = 0 }
  :: atomic {
       !is_dead[C] && g_runs == RUNNING && !g_is_cancelled && h_made == UNUSED &&
       !buried[C * HOSTS + D] ->
       h_made = RUNNING;
       SENDS(C, D, INVOKE_H)
     }
#endif
  // g retires: every kernel has its results, every nested call is over.
  :: atomic {
       !is_dead[C] && g_runs == RUNNING && h_made != RUNNING ->
       if
       :: g_is_cancelled -> SENDS(C, A, FAILED)
       :: !g_is_cancelled -> SENDS(C, A, VALUE_IS_HERE)
       :: !g_is_cancelled && hosts[C].handle == COVERED && slot_is_held ->
          slot_is_x = true;
          SENDS(C, A, FORWARD)
       fi;
       g_runs = RETIRED
     }
  :: atomic { !is_dead[C] && CAN_PASS(C, g_runs) -> pass_gate(C, A, g_runs) }
  // What was kept is not needed any more.
  :: atomic { !is_dead[C] && hosts[C].is_kept && g_runs == CALL_DONE -> hosts[C].is_kept = false }
  :: atomic {
       !is_dead[C] && g_runs == CALL_DONE && !NEEDS_X(C) && hosts[C].handle == HELD -> let_go(C)
     }
  od
}

#ifdef NESTED
proctype keeper() {
  mtype frame;
  bool has_wanted;
end:
  do
  :: atomic {
       MAY_HEAR(D, C) ->
       to(C, D)?frame;
       assert(frame == INVOKE_H && h_runs == UNUSED);
       h_runs = RUNNING;
       if
       :: buried[D * HOSTS + B] -> hosts[D].handle = GONE
       :: else -> hosts[D].handle = COVERED
       fi;
       frame = 0
     }
  :: atomic { MAY_HEAR(D, B) -> to(B, D)?frame; borrower_handles(D, frame); frame = 0 }
  :: atomic {
       !is_dead[D] && h_runs == RUNNING && !has_wanted && !buried[D * HOSTS + B] ->
       has_wanted = true;
       want_x(D)
     }
  :: atomic {
       !is_dead[D] && h_runs == RUNNING && !hosts[D].is_kept && hosts[D].handle == COVERED ->
       hosts[D].is_kept = true
     }
  :: atomic { !is_dead[D] && h_runs == RUNNING -> h_runs = RETIRED }
  :: atomic { !is_dead[D] && CAN_PASS(D, h_runs) -> pass_gate(D, C, h_runs) }
  :: atomic { !is_dead[D] && hosts[D].is_kept && h_runs == CALL_DONE -> hosts[D].is_kept = false }
  :: atomic {
       !is_dead[D] && h_runs == CALL_DONE && !hosts[D].is_kept && hosts[D].handle == HELD ->
       let_go(D)
     }
  od
}
#endif

#ifdef DEATH
#define NOTICES(me, other) (!is_dead[me] && is_dead[other] && !buried[me * HOSTS + other])

proctype death() {
end:
  do
  :: atomic { !someone_died -> someone_died = true; is_dead[A] = true }
  :: atomic { !someone_died -> someone_died = true; is_dead[B] = true }
  :: atomic { !someone_died -> someone_died = true; is_dead[C] = true }
#ifdef NESTED
  :: atomic { !someone_died -> someone_died = true; is_dead[D] = true }
  :: atomic { NOTICES(B, D) -> bury(B, D) }
  :: atomic { NOTICES(C, D) -> bury(C, D) }
  :: atomic { NOTICES(D, B) -> bury(D, B) }
  :: atomic { NOTICES(D, C) -> bury(D, C) }
#endif
  :: atomic { NOTICES(A, B) -> bury(A, B) }
  :: atomic { NOTICES(A, C) -> bury(A, C) }
  :: atomic { NOTICES(B, A) -> bury(B, A) }
  :: atomic { NOTICES(B, C) -> bury(B, C) }
  :: atomic { NOTICES(C, A) -> bury(C, A) }
  :: atomic { NOTICES(C, B) -> bury(C, B) }
  od
}
#endif

// --- The right end: nothing happens any more, and nothing is left on hosts that live --------------

#define IS_CALL_OVER(call) (call == UNUSED || call == CALL_DONE)
#define HAS_NOTHING(me) (!hosts[me].wants && !hosts[me].is_kept && \
                         (hosts[me].handle == NO_HANDLE || hosts[me].handle == GONE))

proctype end_of_all() {
end:
  atomic {
    timeout ->
    if
    :: !is_dead[A] ->
       assert(g_made == CALL_DONE && HAS_NOTHING(A) && !asks_for_y && !x_is_used && !y_is_used)
    :: else
    fi;
    if
    :: !is_dead[B] -> assert(!exists && !holds[A] && !holds[C] && !holds[D] && !is_asked[C] &&
                             !is_asked[D] && !is_hold_asked[C] && !is_hold_asked[D])
    :: else
    fi;
    if
    :: !is_dead[C] -> assert(IS_CALL_OVER(g_runs) && IS_CALL_OVER(h_made) && HAS_NOTHING(C) &&
                             !slot_is_held && !slot_is_x)
    :: else
    fi;
    if
    :: !is_dead[D] -> assert(IS_CALL_OVER(h_runs) && HAS_NOTHING(D))
    :: else
    fi
  }
}

init {
  atomic {
    CHOOSE_MISTAKE;
    run caller();
    run owner();
    run borrower();
#ifdef NESTED
    run keeper();
#endif
#ifdef DEATH
    run death();
#endif
    run end_of_all()
  }
}
