// SPDX-License-Identifier: Apache-2.0
//
// A session: the numbered, shared state of two processes, as far as it is a pair of
// reliable, ordered sequences of frames. It outlives connections, not processes. Only the session
// deals with losses and duplicates of the network: the handler gets each frame exactly once and in
// order while the session lives, and none afterwards.
//
//              dial, or Hello comes
//                      |                 reset, gap             redial / Hello with resume
//                      v               +-----------> BROKEN ------------+
//                 CONNECTING --------> OPEN <---------------------------+
//                      |    Welcome    |                |
//                      |               |                | refused, other incarnation,
//                      |               |                | silence
//                      +---------------+------> DEAD <--+
//
// An OPEN session that has heard nothing for half of the silence dials a second connection, if it
// can: a connection may be lost without a word, while the peer is there. The first to bring a
// Welcome takes the session over.
//
//   A (dialler)                                      B
//     Hello: session 1, connection 1  ------------->   the manager
//     <-------------------------------  Welcome
//     batch: seq 1..3, ack 0   -------------------->   on_frame 1, 2, 3
//     <-----------------  batch: seq 1, ack 3          A forgets 1..3
//     batch: seq 4             --------X  reset
//     Hello: resume, connection 2, received 1 ----->
//     <-------------------------------  Welcome: received 3
//     batch: seq 4, age        -------------------->   on_frame 4
//
// Life of a session:
//  1. Made by a dial or by a Hello that the session manager accepts: CONNECTING or OPEN.
//     Frames may be appended in each state but DEAD; they wait until it is OPEN. Until then
//     the number may change, as both sides may dial; what depends on it is sealed after that.
//  2. OPEN: the number is final. Frames are written in batches, while one write is in flight the
//     next batch collects. Sent frames are kept until the peer has processed them.
//  3. BROKEN and OPEN again, any number of times: what the peer has not processed is
//     replayed.
//  4. DEAD, once and for ever: on_dead, with the reason. After that no frame comes in or
//     goes out, and its number is never accepted again.
//  5. Released by all who retained it.
//
// Numbers of calls and wants: the body of an Invoke, Void or Want holds a number that is
// taken from tfrt_session_next_call() or tfrt_session_next_want() in the critical section
// that appends the frame. An Invoke or a Want waits inside the session for the peer's
// credit and for room in the replay window, together with the frames that must come after it. All
// other frames free something and overtake it. If the peer sends an Invoke or a Want beyond the
// credit granted here, the session ends.
//
// Thread rule: thread-compatible under the node's lock (node_lock.h): every function here
// expects that the caller holds it, but retain and release. The handler is called with it
// held, against the house's rule, because that lock guards the tables that the handler changes. The
// handler MUST NOT block, unlock, or run foreign code; it defers such work.
// Failure rule: the caller's mistake and lack of memory fail at once and change nothing;
// what the peer or the network does arrives at the handler.
#ifndef TFRT_DISTRIBUTED_SESSION_SESSION_H_
#define TFRT_DISTRIBUTED_SESSION_SESSION_H_

#include <stdbool.h>
#include <stdint.h>

#include "distributed/threads/node_lock.h"
#include "distributed/transport/transport.h"
#include "distributed/wire/batch.h"
#include "distributed/wire/session.h"
#include "host_runtime/async/timer_queue.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/base/string_view.h"

typedef struct tfrt_session_s tfrt_session_t;
typedef struct tfrt_session_manager_s tfrt_session_manager_t;

typedef enum tfrt_session_state_e {
  TFRT_SESSION_CONNECTING = 0,
  TFRT_SESSION_OPEN = 1,
  TFRT_SESSION_BROKEN = 2,
  TFRT_SESSION_DEAD = 3,
} tfrt_session_state_t;

// Why a session is dead.
typedef enum tfrt_session_death_e {
  // Silent for the budget, or never answered.
  TFRT_SESSION_DEATH_SILENCE = 0,
  // Nobody listens at its address any more: it is gone.
  TFRT_SESSION_DEATH_GONE = 1,
  // The peer does not let us in: wrong cluster key.
  TFRT_SESSION_DEATH_REJECTED = 2,
  // No common version.
  TFRT_SESSION_DEATH_VERSION = 3,
  // The peer has buried us, or refused to begin or resume the session.
  TFRT_SESSION_DEATH_BURIED = 4,
  // The peer broke the protocol, or says that we did.
  TFRT_SESSION_DEATH_PROTOCOL = 5,
  // The peer said goodbye.
  TFRT_SESSION_DEATH_GOODBYE = 6,
  // Closed by us.
  TFRT_SESSION_DEATH_CLOSED = 7,
  // It is heard, and nothing of what we send arrives there: for three times the budget of silence.
  TFRT_SESSION_DEATH_STALLED = 8,
  // Another process, or a relay, answers at its address: it is gone.
  TFRT_SESSION_DEATH_REPLACED = 9,
} tfrt_session_death_t;

// Makes the body, in |out_body| (empty), of a frame that names its session: |draft| is what
// was appended in its place. Called once, with the node's lock held, when the number of
// |session| is final.
typedef tfrt_status_t (*tfrt_session_seal_fn_t)(const tfrt_session_t* session,
                                                tfrt_string_view_t draft,
                                                tfrt_string_builder_t* out_body);

// A frame to append.
typedef struct tfrt_session_frame_s {
  uint32_t kind;                   // tfrt_wire_frame_kind_t
  uint32_t job;                    // our handle of the job; 0: none
  uint32_t epoch;                  // newest view that we know
  uint64_t request;                // 0: none
  int64_t deadline_ns;             // of our clock; TFRT_TIME_INFINITE: none
  const tfrt_wire_trace_t* trace;  // copied; NULL: not traced
  tfrt_string_view_t body;         // encoded (wire/batch.h), or a draft of it; copied
  // Not NULL: makes the body out of |body|, a draft, which never leaves this process. For a
  // frame without |call|, |want| and after.
  tfrt_session_seal_fn_t seal;
  // The number in the body of an Invoke or Void; else 0.
  uint64_t call;
  // The number in the body of a Want; else 0.
  uint64_t want;
  // This frame must not come before that call's Invoke or Void, or that Want, of ours; 0:
  // none. (A Release of results, a Cancel, an Unwant.)
  uint64_t after_call;
  uint64_t after_want;
  // Nobody waits for this frame: it goes with the next batch. Without one it goes after the company
  // delay or, with |can_wait_long|, after the acknowledgement delay.
  bool can_wait;
  bool can_wait_long;
} tfrt_session_frame_t;

typedef struct tfrt_session_handler_s tfrt_session_handler_t;

// Events of sessions. All slots are called with the node's lock held; none is NULL.
typedef struct tfrt_session_handler_vtable_s {
  // |session| is OPEN for the first time: peer, version, features, limits and the peer's
  // next call number are known. Not called again after a resume.
  void (*on_opened)(tfrt_session_handler_t* handler, tfrt_session_t* session);
  // This process refused a dialler without a session because of |status| (+0). At most one call a
  // second, however many dial: |untold| counts the refusals since the last call.
  void (*on_refused)(tfrt_session_handler_t* handler, tfrt_status_t status, uint64_t untold);
  // The next frame of |session|, exactly once and in order; |frame| and its body live until
  // the function returns. |deadline_ns| by our clock, TFRT_TIME_INFINITE if it has none.
  // An error is the peer's breach of protocol: the session sends Goodbye(protocol) with the message
  // and dies. MAY append to and close any session.
  tfrt_status_t (*on_frame)(tfrt_session_handler_t* handler, tfrt_session_t* session,
                            const tfrt_wire_frame_t* frame, int64_t deadline_ns);
  // The peer drains: it takes no new jobs; what runs is finished.
  void (*on_draining)(tfrt_session_handler_t* handler, tfrt_session_t* session);
  // The session is DEAD. Exactly once, also for one that never was OPEN. |status| (+0, an
  // error) names the peer; its root key is the peer's incarnation where that is known. MAY
  // be called inside of tfrt_session_close(), never inside of another function here. MUST
  // NOT append to the session.
  void (*on_dead)(tfrt_session_handler_t* handler, tfrt_session_t* session,
                  tfrt_session_death_t death, tfrt_status_t status);
  // A batch to the peer is filled next: the last moment to append frames that were put off for it
  // (TFRT_SESSION_FLUSH_SOON).
  void (*fill_batch)(tfrt_session_handler_t* handler, tfrt_session_t* session);
  // Fills in |named| and the progress counters of the next heartbeat to the peer; the session fills
  // in the rest. The text that |oldest| points to lives until the lock is released.
  void (*fill_heartbeat)(tfrt_session_handler_t* handler, tfrt_session_t* session,
                         tfrt_wire_heartbeat_t* heartbeat);
  // The peer's newest heartbeat; it lives until the function returns.
  void (*on_heartbeat)(tfrt_session_handler_t* handler, tfrt_session_t* session,
                       const tfrt_wire_heartbeat_t* heartbeat);
  // The peer has been silent for the time of suspicion (true), or speaks again (false).
  void (*on_suspected)(tfrt_session_handler_t* handler, tfrt_session_t* session, bool is_suspected);
  // When the peer was last heard on another connection than the session's own; 0: never. A session
  // is not silent then, but its own connection may be lost.
  int64_t (*heard_elsewhere_ns)(tfrt_session_handler_t* handler, tfrt_session_t* session);
  // The time is over that tfrt_session_wake_at() was called with. MAY append to any session.
  void (*on_wake)(tfrt_session_handler_t* handler, tfrt_session_t* session);
} tfrt_session_handler_vtable_t;

// Embedded in the object that handles the frames of a process; lives until the manager is drained.
struct tfrt_session_handler_s {
  const tfrt_session_handler_vtable_t* vtable;
};

// Adds one reference to |session| and returns it. Thread-safe.
tfrt_session_t* tfrt_session_retain(tfrt_session_t* session);

// Drops one reference; NULL is allowed. Thread-safe.
void tfrt_session_release(tfrt_session_t* session);

// Appends |frame| to what the peer will get, exactly once and in order, if the session does
// not die before. FAILED_PRECONDITION if it is DEAD; INVALID_ARGUMENT for a kind that is the
// session's own, a number that is not the next one, a draft that would wait for credit, or too
// big a body; RESOURCE_EXHAUSTED when memory is out; what |seal| says. Thread-compatible (the
// node's lock is held).
tfrt_status_t tfrt_session_append(tfrt_session_t* session, const tfrt_session_frame_t* frame)
    TFRT_MUST_USE;

// The number that the next Invoke or Void to this peer must have, from 1; it runs on over
// all sessions with the same incarnation. The number that the next Want must have, from 1.
// Appending the frame takes it. Thread-compatible (the node's lock is held).
uint64_t tfrt_session_next_call(const tfrt_session_t* session);
uint64_t tfrt_session_next_want(const tfrt_session_t* session);

// Whether the peer takes more now, at once: of INVOKE, at least half of the calls that it took when
// the session began; of WANT, one that is appended now. Thread-compatible (the node's lock is
// held).
bool tfrt_session_has_credit(const tfrt_session_t* session, tfrt_wire_frame_kind_t kind);

// Puts a Void with |body| into the place of the Invoke of |call|, if that was never
// written: sets |*out_replaced|. If it was, nothing changes: send Cancel.
// RESOURCE_EXHAUSTED when memory is out. Thread-compatible (the node's lock is held).
tfrt_status_t tfrt_session_replace_by_void(tfrt_session_t* session, uint64_t call,
                                           tfrt_string_view_t body, bool* out_replaced)
    TFRT_MUST_USE;

// Returns true if the frame of |call| was written to a connection of this session: only
// then the call may have run. Stays known when the session is DEAD.
// Thread-compatible (the node's lock is held).
bool tfrt_session_call_was_written(const tfrt_session_t* session, uint64_t call);

typedef enum tfrt_session_flush_e {
  // A batch within the company delay, even an empty one. If the session is not OPEN, this happens
  // with the first batch or heartbeat after it opens.
  TFRT_SESSION_FLUSH_SOON = 0,
  // The frames that wait for company, now, if there are any.
  TFRT_SESSION_FLUSH_WAITING,
} tfrt_session_flush_t;

// Writes what |which| says. Thread-compatible (the node's lock is held).
void tfrt_session_flush(tfrt_session_t* session, tfrt_session_flush_t which);

// Has on_wake called once at |due_ns| by our clock, or at the earlier time that is set already;
// never if the session is DEAD by then. Thread-compatible (the node's lock is held).
void tfrt_session_wake_at(tfrt_session_t* session, int64_t due_ns);

// Grants the peer |calls| and |wants| in all since the session began; a number lower than before
// changes nothing. The next batch or acknowledgement carries the grant. Thread-compatible (the
// node's lock is held).
void tfrt_session_grant(tfrt_session_t* session, uint64_t calls, uint64_t wants);

// Gives back the credit of |calls| and |wants| of the peer, which are over or only wait for others.
// Thread-compatible (the node's lock is held).
void tfrt_session_return_credit(tfrt_session_t* session, uint64_t calls, uint64_t wants);

// Says goodbye. DRAIN: the session goes on, the peer is asked for no new jobs. Any other
// reason: it is DEAD now (on_dead is called inside, with CLOSED, or PROTOCOL for that
// reason); what was appended and needs no credit is still written with SHUTDOWN, nothing of
// it else. |message| is one line for people. Nothing happens when it is DEAD already.
// Thread-compatible (the node's lock is held).
void tfrt_session_close(tfrt_session_t* session, tfrt_wire_goodbye_reason_t reason,
                        tfrt_string_view_t message);

// Its state; the peer's incarnation, 0 while it is not known; the session's number; the
// peer's address, empty if it can't be dialled, and its name for people, both living as long
// as the session. Thread-compatible (the node's lock is held).
tfrt_session_state_t tfrt_session_state(const tfrt_session_t* session);
uint64_t tfrt_session_peer_incarnation(const tfrt_session_t* session);
uint32_t tfrt_session_number(const tfrt_session_t* session);
tfrt_string_view_t tfrt_session_address(const tfrt_session_t* session);
tfrt_string_view_t tfrt_session_peer_name(const tfrt_session_t* session);

// The terms that both sides agreed on, from on_opened on: the features that both have, the limits
// in force. Thread-compatible (the node's lock is held).
tfrt_wire_features_t tfrt_session_features(const tfrt_session_t* session);
const tfrt_wire_limits_t* tfrt_session_limits(const tfrt_session_t* session);

// The rank by which people know the peer, for messages and errors; TFRT_WIRE_NO_RANK
// until it is set. Thread-compatible (the node's lock is held).
void tfrt_session_set_peer_rank(tfrt_session_t* session, uint32_t rank);

// Facts that are asked for when a session begins, or seldom.
typedef struct tfrt_session_description_s {
  uint32_t version;         // that both sides agreed on
  uint64_t peer_next_call;  // the number of the peer's next call to us, when the session began
  uint64_t heartbeat;       // the number of our last one; 0: none yet
  int64_t round_trip_ns;    // as it was last measured; -1: not yet
  // Each numbered frame counts once; bytes are those of all messages, replayed ones included, and 0
  // without TFRT_COUNTERS.
  uint64_t frames_sent;
  uint64_t frames_received;
  uint64_t bytes_sent;
  uint64_t bytes_received;
} tfrt_session_description_t;

// Describes |session|, from on_opened on. Thread-compatible (the node's lock is held).
tfrt_session_description_t tfrt_session_describe(const tfrt_session_t* session);

// A pointer of the handler's, NULL at first, which the handler reads and sets. Thread-compatible
// (the node's lock is held).
void** tfrt_session_user_data(tfrt_session_t* session);

// The names of a state and of a cause of death, in capitals; static. Thread-safe.
const char* tfrt_session_state_name(tfrt_session_state_t state);
const char* tfrt_session_death_name(tfrt_session_death_t death);

// --- The manager ---

// All sessions of one process. The manager finds sessions, dials, judges incoming connections, and
// keeps the numbers that must outlive a session.
//
//   manager --> peer (by incarnation): number of the last session, next call number
//                 |
//                 +--> session (at most one that is not DEAD) --> link (connection)
//           --> sessions whose peer's incarnation is not known yet (dialled by address)
//
// Two processes that dial each other at once end up with one session: the connection that
// the smaller incarnation dialled stays.
//
// Life of a manager:
//  1. Created over a transport, the node's lock, a timer queue and a handler.
//  2. Listens, if others may dial; dials, finds.
//  3. Closed: no new sessions; those that live say Goodbye(shutdown) and are DEAD.
//  4. Drained: waits until every goodbye is written or its time is over. A test steps its network
//     until the counter |live| is 0.
//  5. Released, when the transport has been closed and drained.
//
// A peer's record is kept after its session's death, because neither session nor call
// numbers return. There are at most |max_peers|; beyond, the oldest dead one is forgotten,
// and new peers start at call numbers above all forgotten ones.
//
// Each function says whether the caller holds the node's lock. Nothing waits without a deadline in
// the timer queue.

// All texts are copied by create.
typedef struct tfrt_session_options_s {
  uint64_t incarnation;            // of this process; random, never 0
  tfrt_string_view_t name;         // for people: host name and port
  uint32_t rank_hint;              // by which others should know us, for messages only
  tfrt_string_view_t cluster_key;  // a dialling peer must have the same; empty: none is asked for
  tfrt_wire_features_t features;
  uint32_t version_min;
  uint32_t version_max;
  // Sizes and times, in force between two processes as the smaller of both. The period of
  // heartbeats and the silence after which a peer is dead are in here.
  tfrt_wire_limits_t limits;
  int64_t suspect_ns;         // silence after which a peer is suspected
  int64_t dial_timeout_ns;    // for one attempt, at most; and for a dialler to say Hello
  int64_t redial_delay_ns;    // between attempts, at most; the first ones after a reset come sooner
  int64_t company_delay_ns;   // until a frame that can wait, or credit, goes without company
  int64_t ack_delay_ns;       // until an acknowledgement does
  uint32_t ack_frames;        // frames after which it goes at once
  uint32_t ack_bytes;         // bytes of their bodies, or an eighth of the window, likewise
  int64_t linger_ns;          // for writing what is left, and for the peer to end its side
  uint64_t first_call_limit;  // granted to each peer at the beginning
  uint64_t first_want_limit;
  size_t max_sessions;  // that live at once
  size_t max_peers;     // remembered, living and dead
  // Judges BULK streams, whose cluster key was checked; NULL: they are rejected.
  tfrt_transport_acceptor_t* bulk_acceptor;
} tfrt_session_options_t;

// Sets |*out_options| to the protocol's defaults; |incarnation| stays 0 and must be set.
// Thread-safe.
void tfrt_session_options_initialize(tfrt_session_options_t* out_options);

// Creates a manager (+1). |transport|, |lock|, |timers| and |handler| (all +0) outlive it;
// its clock is that of |timers|. INVALID_ARGUMENT for options that can't work, e.g. a
// silence of less than two heartbeats; RESOURCE_EXHAUSTED when memory is out. Thread-safe.
tfrt_status_t tfrt_session_manager_create(const tfrt_session_options_t* options,
                                          tfrt_transport_t* transport, tfrt_node_lock_t* lock,
                                          tfrt_timer_queue_t* timers,
                                          tfrt_session_handler_t* handler,
                                          tfrt_allocator_t allocator,
                                          tfrt_session_manager_t** out_manager) TFRT_MUST_USE;

// Frees |manager|, which is drained and whose transport is too; NULL is allowed.
// Thread-compatible (the node's lock is not held).
void tfrt_session_manager_free(tfrt_session_manager_t* manager);

// Lets others dial |address|; as tfrt_transport_listen(). Thread-safe (the node's lock is
// not held).
tfrt_status_t tfrt_session_manager_listen(tfrt_session_manager_t* manager,
                                          tfrt_string_view_t address,
                                          char out_address[TFRT_TRANSPORT_ADDRESS_SIZE])
    TFRT_MUST_USE;

// Sets the name by which peers know this process from now on; those that know it already keep
// the old one. For a name that says the port, which listen finds out. INVALID_ARGUMENT for one
// that is too long. Thread-compatible (the node's lock is held).
tfrt_status_t tfrt_session_manager_set_name(tfrt_session_manager_t* manager,
                                            tfrt_string_view_t name) TFRT_MUST_USE;

// That name, which lives until it is set again. Thread-compatible (the node's lock is held).
tfrt_string_view_t tfrt_session_manager_name(const tfrt_session_manager_t* manager);

// Returns the session (+1) with the process |incarnation| at |address|: the one that lives,
// or a new one, CONNECTING, whose first attempt to connect begins when the lock is
// released. With |incarnation| 0, any process that answers at |address|. If that process already
// has a living session, the new one dies with ALREADY_EXISTS, whose origin names the process.
// |address| may be empty for a peer that is known to dial us: the session waits for it.
// INVALID_ARGUMENT for neither address nor incarnation, or our own; FAILED_PRECONDITION when
// closed; RESOURCE_EXHAUSTED for memory or too many sessions. Thread-compatible (the node's lock is
// held).
tfrt_status_t tfrt_session_manager_dial(tfrt_session_manager_t* manager, tfrt_string_view_t address,
                                        uint64_t incarnation, tfrt_session_t** out_session)
    TFRT_MUST_USE;

// Returns the living session (+0) with |incarnation|, or NULL.
// Thread-compatible (the node's lock is held).
tfrt_session_t* tfrt_session_manager_find(tfrt_session_manager_t* manager, uint64_t incarnation);

// The first living session (+0) and the one after |session|, NULL at the end; in no useful
// order. No session may be made or die meanwhile. Thread-compatible (the node's lock is
// held).
tfrt_session_t* tfrt_session_manager_first(tfrt_session_manager_t* manager);
tfrt_session_t* tfrt_session_manager_next(tfrt_session_manager_t* manager, tfrt_session_t* session);

// Refuses new sessions from now on. With |is_draining|, keeps those that live and sends them
// Goodbye(drain); without, closes them with SHUTDOWN. Idempotent. Thread-compatible (the node's
// lock is held).
void tfrt_session_manager_close(tfrt_session_manager_t* manager, bool is_draining);

// Waits, after close, until nothing is left, for at most |linger_ns| and a second; then
// breaks what is left. For a transport and timers that have threads of their own.
// Thread-safe (the node's lock is not held; from no callback).
void tfrt_session_manager_drain(tfrt_session_manager_t* manager);

// Counters over all sessions since the manager was created, and what is alive now; for tests and
// for people.
typedef struct tfrt_session_counters_s {
  uint64_t frames_sent;      // sequenced frames, each counted once
  uint64_t frames_replayed;  // written again on a later connection
  uint64_t frames_received;  // handed to the handler
  uint64_t duplicates;       // dropped by their number
  uint64_t gaps;             // connections closed for a missing number
  uint64_t resumes;          // BROKEN -> OPEN
  uint64_t dials;            // attempts
  uint64_t deaths;
  size_t live;  // connections, timers and tasks; after close, 0: drained
} tfrt_session_counters_t;

// Sets |*out_counters|. Thread-compatible (the node's lock is held).
void tfrt_session_manager_counters(const tfrt_session_manager_t* manager,
                                   tfrt_session_counters_t* out_counters);

#endif  // TFRT_DISTRIBUTED_SESSION_SESSION_H_
