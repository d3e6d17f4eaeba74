// SPDX-License-Identifier: Apache-2.0
//
// Internals that the sources of sessions share; no other file includes this one.
//
//    session_manager.c    tables, options, listening, closing
//    session.c            the life of a session, and its end
//    session_frames.c     frames in and out, and those that wait for company
//    session_link.c       one connection: bytes in and out, and who calls whom unlocked
//    session_handshake.c  Hello, Welcome, Refuse
//    session_liveness.c   timers: heartbeats, silence, the next dial; dials, and what their failure
//                         means
//
//   manager --> peers, sessions, links
//   session --> link (its connection) and dialling (the attempt to get one)
//   link    --> session (from the moment that it is known), connection of the transport
//
// References. A link is counted by: the transport, until on_closed; its session, in either
// place; its work, while deferred; its write, while in flight; its timer, while waiting. A
// session is counted by: its users; the manager, while it is not DEAD; each link of it; its
// dial task and its timer, while waiting.
//
// Foreign code (the transport) is only called by the work of a link and by the dial
// task, both deferred, so with no lock held. Everything else here expects the node's lock.
#ifndef TFRT_DISTRIBUTED_SESSION_SESSION_INTERNAL_H_
#define TFRT_DISTRIBUTED_SESSION_SESSION_INTERNAL_H_

#include <string.h>

#include "distributed/session/send_queue.h"
#include "distributed/session/session.h"
#include "distributed/tuning/tuning.h"
#include "distributed/wire/batch.h"
#include "host_runtime/base/arena.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/ref_count.h"

typedef struct tfrt_session_link_s tfrt_session_link_t;

// The manager's record of a process with which it has or had a session.
typedef struct tfrt_session_peer_s {
  tfrt_hash_node_t node;  // by |incarnation|
  tfrt_list_link_t link;  // in the manager's list, the one whose session died last at the end
  uint64_t incarnation;
  uint32_t last_session;  // the highest number known
  uint64_t next_call;
  tfrt_session_t* session;  // the living one, or NULL
} tfrt_session_peer_t;

// The other process, for people.
typedef struct tfrt_session_label_s {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  char name[TFRT_WIRE_MAX_NAME_SIZE + 1];
  uint32_t rank;
} tfrt_session_label_t;

typedef struct tfrt_session_dial_s {
  tfrt_session_link_t* link;  // on its way to become the session's, or NULL
  uint32_t attempt;           // the highest number that we dialled with
  tfrt_status_t failure;      // +1; how the last attempt ended, or NULL
  int64_t delay_ns;  // behind the last reset of an attempt; 0: none since the session opened
  tfrt_task_t task;
  bool is_deferred;
} tfrt_session_dial_t;

// Frames of the peer.
typedef struct tfrt_session_receipt_s {
  uint64_t sequence;       // of the last one
  uint32_t unacked_count;  // since the last acknowledgement
  size_t unacked_bytes;    // of their bodies
} tfrt_session_receipt_t;

typedef struct tfrt_session_bytes_s {
  uint64_t sent;
  uint64_t received;
} tfrt_session_bytes_t;

// Invokes and Voids, and Wants, that the peer may send.
typedef struct tfrt_session_credit_s {
  uint64_t received_calls;  // each once
  uint64_t received_wants;
  uint64_t granted_calls;
  uint64_t granted_wants;
  uint64_t told_calls;  // of the granted ones: as the last batch or greeting said
  uint64_t told_wants;
} tfrt_session_credit_t;

typedef struct tfrt_session_terms_s {
  uint32_t version;
  tfrt_wire_features_t features;
  tfrt_wire_limits_t limits;  // in force
} tfrt_session_terms_t;

// Times of our clock at which something is due; TFRT_TIME_INFINITE: not due.
typedef struct tfrt_session_schedule_s {
  int64_t beat_ns;    // next heartbeat
  int64_t flush_ns;   // frames that wait for company; see session_frames.c
  int64_t ack_ns;     // an acknowledgement
  int64_t wake_ns;    // the handler's on_wake
  int64_t redial_ns;  // next attempt
  bool is_beat_due;
  bool is_flush_due;
  tfrt_timer_t timer;
  bool is_timer_waiting;
  int64_t timer_ns;
} tfrt_session_schedule_t;

// Signs of life, by our clock.
typedef struct tfrt_session_liveness_s {
  int64_t heard_ns;        // last sign of life on the session's connections, or when it began
  int64_t elsewhere_ns;    // last sign of life on another connection; 0: none
  int64_t ticked_ns;       // the timer ran, or the session began
  int64_t judge_ns;        // not before this time is the peer judged: we slept
  int64_t second_dial_ns;  // a second connection was dialled last; 0: never
  bool is_suspected;
  uint64_t beat;  // our last heartbeat, and when it was encoded
  int64_t beat_ns;
  uint64_t peer_beat;  // the peer's last one, and when it came
  int64_t peer_beat_ns;
  int64_t round_trip_ns;
} tfrt_session_liveness_t;

struct tfrt_session_s {
  tfrt_ref_count_t ref_count;
  tfrt_session_manager_t* manager;
  tfrt_list_link_t link_in_manager;  // while not DEAD
  tfrt_session_peer_t* peer;         // NULL: not known yet, or DEAD
  uint64_t incarnation;              // the peer's; 0: not known yet
  uint32_t number;
  tfrt_session_state_t state;
  bool was_opened;
  bool is_peer_draining;
  bool has_goodbye;  // appended: the last frame
  tfrt_session_label_t label;
  uint32_t renumber_count;
  void* user_data;
  tfrt_session_link_t* link;  // the connection that is in use, or NULL
  uint32_t connection;        // number of |link|, or of the last one
  tfrt_session_dial_t dial;
  tfrt_send_queue_t queue;
  uint64_t first_call;
  uint64_t next_want;
  uint64_t peer_next_call;
  tfrt_session_receipt_t receipt;
  tfrt_session_bytes_t bytes;
  tfrt_session_credit_t credit;
  tfrt_session_terms_t terms;
  tfrt_session_schedule_t schedule;
  tfrt_session_liveness_t liveness;
};

typedef enum tfrt_session_link_state_e {
  TFRT_SESSION_LINK_DIALLING = 0,     // our Hello is, or will be, on its way
  TFRT_SESSION_LINK_ACCEPTED = 1,     // waits for a Hello
  TFRT_SESSION_LINK_ESTABLISHED = 2,  // carries the session's batches
  TFRT_SESSION_LINK_FINISHING = 3,    // writes what is left, then closes
  TFRT_SESSION_LINK_DROPPED = 4,      // waits for on_closed
  TFRT_SESSION_LINK_CLOSED = 5,       // on_closed came
} tfrt_session_link_state_t;

// How the connection is still to be ended: the later ones win.
typedef enum tfrt_session_link_ending_e {
  TFRT_SESSION_LINK_KEEP = 0,
  TFRT_SESSION_LINK_CLOSE,
  TFRT_SESSION_LINK_ABORT,
} tfrt_session_link_ending_t;

// Hello, Welcome or Refuse, to be written before all else.
typedef struct tfrt_session_greeting_s {
  uint32_t kind;   // of the frame; 0: none is due
  bool is_resume;  // of a Hello, or of that which a Welcome answers
  // For a Refuse only.
  tfrt_wire_refuse_reason_t reason;
  tfrt_status_code_t code;
  uint32_t session;      // number that the refused Hello named
  uint64_t incarnation;  // who said it
  uint32_t last_session;
  char message[256];
} tfrt_session_greeting_t;

struct tfrt_session_link_s {
  tfrt_transport_handler_t handler;
  tfrt_session_manager_t* manager;
  tfrt_list_link_t link_in_manager;
  uint32_t ref_count;  // guarded by the node's lock
  tfrt_session_link_state_t state;
  tfrt_session_t* session;                  // retained, or NULL
  tfrt_transport_connection_t* connection;  // NULL until the dial has returned
  tfrt_session_link_ending_t ending;
  bool wants_receive;
  bool is_writing;
  uint32_t number;  // of the connection
  tfrt_session_greeting_t greeting;
  tfrt_transport_write_t write;
  tfrt_string_builder_t out;  // its bytes
  // Only on_message uses these, without the lock; one on_message runs at a time.
  tfrt_string_builder_t in;
  tfrt_arena_t arena;
  tfrt_task_t work;
  bool is_work_deferred;
  tfrt_timer_t timer;  // for a Hello to come, for the rest to be written, for the end
  bool is_timer_waiting;
};

struct tfrt_session_manager_s {
  tfrt_session_options_t options;  // its name is |name|
  char name[TFRT_WIRE_MAX_NAME_SIZE];
  tfrt_transport_t* transport;
  tfrt_node_lock_t* lock;
  tfrt_timer_queue_t* timers;
  tfrt_session_handler_t* handler;
  tfrt_allocator_t allocator;
  tfrt_transport_acceptor_t acceptor;
  // All below is guarded by |lock|.
  bool is_draining;  // no new sessions
  bool is_closed;    // and no old ones
  tfrt_hash_table_t peers;
  tfrt_list_link_t peer_list;
  uint64_t call_floor;  // above every call number of a forgotten peer
  tfrt_list_link_t sessions;
  size_t session_count;
  tfrt_list_link_t links;  // the oldest first
  size_t link_count;
  size_t busy_count;  // dial tasks and timers that wait
  tfrt_timer_t flush_timer;
  bool is_flush_timer_waiting;
  int64_t flush_timer_ns;  // for which time, if so
  tfrt_condition_t drained;
  tfrt_session_counters_t counters;
  int64_t refusal_told_ns;     // when the handler heard of one last; 0: never
  uint64_t untold_refusals;    // since then
  tfrt_send_batch_t batch;     // scratch of the encoder
  tfrt_string_builder_t body;  // scratch of the encoder
};

static inline int64_t tfrt_session_now_ns(const tfrt_session_manager_t* manager) {
  return tfrt_clock_now_ns(manager->timers->clock);
}

// Copies |text|, as far as it fits, with a NUL behind it.
static inline void tfrt_session_copy_text(char* out_text, size_t size, tfrt_string_view_t text) {
  size_t length = text.size < size ? text.size : size - 1;
  if (length > 0) memcpy(out_text, text.data, length);
  out_text[length] = '\0';
}

// --- session_manager.c -------------------------------------------------------

// Finds the peer |incarnation|; finds or makes it (NULL: no room or memory).
tfrt_session_peer_t* tfrt_session_peer_find(tfrt_session_manager_t* manager, uint64_t incarnation);
tfrt_session_peer_t* tfrt_session_peer_make(tfrt_session_manager_t* manager, uint64_t incarnation);

// Tells the handler that somebody was refused because of |status| (+0), if it hasn't just heard of
// another one.
void tfrt_session_manager_tell_refusal(tfrt_session_manager_t* manager, tfrt_status_t status);

// Wakes tfrt_session_manager_drain() if this manager has nothing left.
void tfrt_session_manager_note_less(tfrt_session_manager_t* manager);

// --- session.c ---------------------------------------------------------------

// Makes a session (+1 for the caller, and the manager's) with |peer|, which has no living
// one, or with nobody known (NULL). NULL: no memory.
tfrt_session_t* tfrt_session_make(tfrt_session_manager_t* manager, tfrt_session_peer_t* peer,
                                  tfrt_string_view_t address, uint32_t number);

// Gives |session|, whose peer is not known, the |peer|, which has no living session.
void tfrt_session_bind(tfrt_session_t* session, tfrt_session_peer_t* peer);

// The funeral, once: |status| (taken) is the reason.
void tfrt_session_take_death(tfrt_session_t* session, tfrt_session_death_t death,
                             tfrt_status_t status);

// The same, with a Goodbye to the peer, if there is a connection.
void tfrt_session_take_death_with_goodbye(tfrt_session_t* session, tfrt_session_death_t death,
                                          tfrt_status_t status, tfrt_wire_goodbye_reason_t reason,
                                          tfrt_string_view_t message);

// An error about the peer, with its incarnation as origin and key. UNAVAILABLE: it is not
// there, or lost. ABORTED: the two can't talk, as versions don't meet or one side broke the
// protocol. UNAUTHENTICATED, ...: what it said when it did not let us in.
tfrt_status_t tfrt_session_error(const tfrt_session_t* session, tfrt_status_code_t code,
                                 const char* format, ...) TFRT_MUST_USE TFRT_PRINTF(3, 4);

// The connection of |session| is gone: BROKEN, and a new attempt at once.
void tfrt_session_on_broken(tfrt_session_t* session);

// --- session_frames.c ----------------------------------------------------------

// A batch came on |link|, which is the session's connection.
void tfrt_session_on_batch(tfrt_session_t* session, tfrt_session_link_t* link,
                           const tfrt_wire_batch_t* batch);

// No session is left: stops the timer.
void tfrt_session_manager_stop_flushing(tfrt_session_manager_t* manager);

// --- session_link.c ----------------------------------------------------------

// Makes a link (+1: the transport's). One that is ACCEPTED ends if no Hello comes in time. NULL: no
// memory.
tfrt_session_link_t* tfrt_session_link_make(tfrt_session_manager_t* manager,
                                            tfrt_session_link_state_t state);
tfrt_session_link_t* tfrt_session_link_retain(tfrt_session_link_t* link);
void tfrt_session_link_release(tfrt_session_link_t* link);

// Has |link| look, once the lock is open, whether there is something to write or to do.
void tfrt_session_link_request_work(tfrt_session_link_t* link);

// |link| belongs to no session any more, and ends: at once, or in order, but then no later than
// after |linger_ns|, whatever the peer does.
void tfrt_session_link_drop(tfrt_session_link_t* link, bool in_order);

// Ends |link| at once, also if it is on its way to end in order. The caller holds a reference, or
// knows that on_closed has not come.
void tfrt_session_link_break(tfrt_session_link_t* link);

// |link| writes what the session's queue still has, or its greeting, and then ends.
void tfrt_session_link_finish(tfrt_session_link_t* link);

// The dial of |link| is over, with |connection| (+1, taken), or NULL.
void tfrt_session_link_take_connection(tfrt_session_link_t* link,
                                       tfrt_transport_connection_t* connection);

// --- session_handshake.c -----------------------------------------------------

// Encodes the greeting of |link| into its buffer.
tfrt_status_t tfrt_session_encode_greeting(tfrt_session_link_t* link) TFRT_MUST_USE;

// The first batch on |link|: a Hello if that is ACCEPTED, the answer to ours if it is DIALLING.
void tfrt_session_on_greeting(tfrt_session_link_t* link, const tfrt_wire_batch_t* batch);

// --- session_liveness.c ------------------------------------------------------

// Sees to it that the timer runs when the next thing is due: never for a session that is DEAD.
void tfrt_session_schedule(tfrt_session_t* session);

// The bytes that a batch's header and a frame's own fields may take besides the body.
#define TFRT_SESSION_BATCH_OVERHEAD 4096u

// The bytes that frames may take in one batch by the limits in force.
static inline size_t tfrt_session_batch_room(const tfrt_session_t* session) {
  const uint32_t most = session->terms.limits.batch_bytes;
  return most > TFRT_SESSION_BATCH_OVERHEAD ? most - TFRT_SESSION_BATCH_OVERHEAD : 0;
}

// The peer has said something just now.
void tfrt_session_note_heard(tfrt_session_t* session);

// Raises the credit that the next batch tells the peer to what was granted. But a peer that
// acknowledges too little hears of no more than it has: this side keeps the Result of each of its
// calls until it is acknowledged.
void tfrt_session_tell_credit(tfrt_session_t* session);

// Fills in the heartbeat that is due.
void tfrt_session_fill_heartbeat(tfrt_session_t* session, tfrt_wire_heartbeat_t* out_heartbeat);

// The peer's |heartbeat| came.
void tfrt_session_on_heartbeat(tfrt_session_t* session, const tfrt_wire_heartbeat_t* heartbeat);

// Dials as soon as the lock is open, if the peer can be dialled.
void tfrt_session_request_dial(tfrt_session_t* session);

// An attempt to dial is over without an answer: |end| and |status| say how.
void tfrt_session_on_dial_failed(tfrt_session_t* session, tfrt_transport_end_t end,
                                 tfrt_status_t status);

#endif  // TFRT_DISTRIBUTED_SESSION_SESSION_INTERNAL_H_
