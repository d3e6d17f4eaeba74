// SPDX-License-Identifier: Apache-2.0
//
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
//  1. Created over a transport, the node's lock, a timer queue and a handler (session.h).
//  2. Listens, if others may dial; dials, finds.
//  3. Closed: no new sessions; those that live say Goodbye(shutdown) and are DEAD.
//  4. Drained: waits until every goodbye is written or its time is over.
//  5. Released, when the transport has been closed and drained.
//
// A peer's record is kept after its session's death, because neither session nor call
// numbers return. There are at most |max_peers|; beyond, the oldest dead one is forgotten,
// and new peers start at call numbers above all forgotten ones.
//
// Thread rule: "(the node's lock is held)" or "(the node's lock is not held)" at each.
// Failure rule: as in session.h. Nothing waits without a deadline in the timer queue.
#ifndef TFRT_DISTRIBUTED_SESSION_SESSION_MANAGER_H_
#define TFRT_DISTRIBUTED_SESSION_SESSION_MANAGER_H_

#include "distributed/session/session.h"
#include "distributed/threads/node_lock.h"
#include "distributed/transport/transport.h"
#include "host_runtime/async/timer_queue.h"
#include "host_runtime/base/allocator.h"

typedef struct tfrt_session_manager_s tfrt_session_manager_t;

// All texts are copied by create.
typedef struct tfrt_session_options_s {
  uint64_t incarnation;            // of this process; random, never 0
  tfrt_string_view_t name;         // for people: host name and port
  uint32_t rank_hint;              // by which others should know us, for messages only
  tfrt_string_view_t cluster_key;  // who dials must have the same; empty: none is asked for
  tfrt_wire_features_t features;
  uint32_t version_min;
  uint32_t version_max;
  // Sizes and times, in force between two processes as the smaller of both. The period of
  // heartbeats and the silence after which a peer is dead are in here.
  tfrt_wire_limits_t limits;
  int64_t suspect_ns;         // silence after which a peer is suspected
  int64_t dial_timeout_ns;    // for one attempt; and for a dialler to say Hello
  int64_t redial_delay_ns;    // between attempts; the first one after a reset is made at once
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

// Returns true if no connection, timer or task of the manager is left: drain waits for this, and a
// test steps its network until then. Thread-compatible (the node's lock is held).
bool tfrt_session_manager_is_drained(const tfrt_session_manager_t* manager);

// Waits, after close, until nothing is left, for at most |linger_ns| and a second; then
// breaks what is left. For a transport and timers that have threads of their own.
// Thread-safe (the node's lock is not held; from no callback).
void tfrt_session_manager_drain(tfrt_session_manager_t* manager);

// Counters over all sessions since the manager was created, for tests and for people.
typedef struct tfrt_session_counters_s {
  uint64_t frames_sent;      // sequenced frames, each counted once
  uint64_t frames_replayed;  // written again on a later connection
  uint64_t frames_received;  // handed to the handler
  uint64_t duplicates;       // dropped by their number
  uint64_t gaps;             // connections closed for a missing number
  uint64_t resumes;          // BROKEN -> OPEN
  uint64_t dials;            // attempts
  uint64_t deaths;
} tfrt_session_counters_t;

// Sets |*out_counters|. Thread-compatible (the node's lock is held).
void tfrt_session_manager_counters(const tfrt_session_manager_t* manager,
                                   tfrt_session_counters_t* out_counters);

#endif  // TFRT_DISTRIBUTED_SESSION_SESSION_MANAGER_H_
