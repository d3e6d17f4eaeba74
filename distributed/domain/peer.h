// SPDX-License-Identifier: Apache-2.0
//
// Another process, as this one sees it: its session, the calls and wants in both
// directions, and what happens to all of them when it dies. Guarded by the node's lock.
//
//                 our calls ----> outgoing calls                  numbered by the session
//   node -- peer <---- its calls  incoming calls, watermark       numbered by it
//                 our wants ----> wants (remote values)
//                 <---- its wants incoming wants, open or held
//
// Life:
//  1. Made when a session to an incarnation is first wanted or accepted.
//  2. Live while its session is; frames are sent with tfrt_peer_send().
//  3. Buried once, when its session is dead: each call, want, hold and placeholder that needs the
//     peer becomes an error with the same root key; calls that it made are cancelled.
//  4. Stays as a record of the dead while a job, call or value needs it, so that a reference to it
//     is answered at once. A new session with the same incarnation (after a partition) makes
//     it live again, for new jobs only: what the old one had is gone.
//
// One side may give the other up, and the other not notice: then that one's session is over, though
// the peer lives. A job that has begun after that session, and has sent and got nothing on it, has
// lost nothing: it takes the next session.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: see each function.
#ifndef TFRT_DISTRIBUTED_DOMAIN_PEER_H_
#define TFRT_DISTRIBUTED_DOMAIN_PEER_H_

#include "distributed/domain/node_part.h"
#include "distributed/session/session.h"
#include "distributed/transport/transport.h"
#include "distributed/tuning/tuning.h"
#include "distributed/wire/batch.h"
#include "host_runtime/async/task.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/list.h"

typedef struct tfrt_node_s tfrt_node_t;
typedef struct tfrt_job_s tfrt_job_t;

// The names that one job is about to give back to one peer; zeroed: none. Results of calls have
// numbers in a row, so one range, or a few, name many values.
//
//   (A, 7, 0) (A, 8, 0) (A, 9, 0) (A, 12, 0)  -->  (A, 7..9, 0) (A, 12, 0)
typedef struct tfrt_release_ranges_s {
  tfrt_wire_object_range_t ranges[16];
  uint32_t range_count;
  uint32_t name_count;  // in all of them
} tfrt_release_ranges_t;

// The state of a job with a peer: the handle of each direction.
typedef struct tfrt_peer_job_s {
  tfrt_list_link_t link;   // in the peer's list
  tfrt_job_t* job;         // +1; NULL: as those of |gone_handles|, which had no memory
  uint32_t their_handle;   // 0: not bound
  bool attached;           // our handle is bound there
  bool detached_there;     // it has nothing more to say about the job
  uint64_t told_programs;  // bit n: our Program frame with handle n + 1 was sent
  tfrt_release_ranges_t released;
} tfrt_peer_job_t;

// How the last session with a peer ended.
typedef struct tfrt_peer_death_s {
  tfrt_status_t reason;  // +1; NULL: there was none, or there is a session
  tfrt_session_death_t kind;
} tfrt_peer_death_t;

typedef struct tfrt_peer_s {
  tfrt_hash_node_t by_incarnation;  // in the node's table
  tfrt_node_t* node;
  uint64_t incarnation;
  tfrt_session_t* session;  // +1; NULL: none yet, or dead
  uint32_t newest_job;      // handle of the last job before |session| began
  tfrt_peer_death_t death;
  char name[TFRT_WIRE_MAX_NAME_SIZE + 1];     // for messages; "" if it isn't known
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];  // for messages; "" if it isn't known
  uint64_t watermark;                         // the highest number of its calls that was processed
  uint64_t last_want_seen;                    // the highest number of its wants
  tfrt_hash_table_t outgoing_calls;           // by call number
  tfrt_hash_table_t incoming_calls;           // by call number
  tfrt_hash_table_t failed_calls;             // of its calls, those that don't run (object_name.h)
  tfrt_hash_table_t wants;                    // by want number: our remote values
  tfrt_hash_table_t incoming_wants;           // by want number: its wants
  uint32_t transfers;                         // of these, payloads that go by a bulk channel
  tfrt_list_link_t located;                   // remote values whose payload it has
  tfrt_list_link_t named;                     // remote values whose name it has, and no payload
  tfrt_list_link_t retaining;                 // remote values that it was asked to hold for us
  tfrt_list_link_t incoming_retains;          // what it asked us to hold, not answered yet
  tfrt_list_link_t outgoing_pushes;           // what it is to be sent unasked, once that is known
  uint32_t outgoing_push_count;
  struct tfrt_push_inbox_s* pushes;  // what it sends us unasked (delivery/push_inbox.h)
  tfrt_list_link_t held_requests;    // wants of others for what it has not promised yet
  tfrt_list_link_t jobs;             // what both know
  tfrt_hash_table_t gone_handles;    // of its own, those of jobs that are over here
  bool is_stuck;                     // a thread of it is in one kernel for long
  tfrt_status_t broken;              // +1; why this host can't go on with it, to be acted upon
  tfrt_task_t breaker;
} tfrt_peer_t;

// The options of a frame that is sent.
typedef struct tfrt_peer_frame_s {
  tfrt_job_t* job;      // NULL: a frame of the session
  uint64_t request;     // 0: none
  int64_t deadline_ns;  // of the node's clock; 0 or TFRT_TIME_INFINITE: none
  uint64_t after_call;  // as in session.h
  uint64_t after_want;
  bool can_wait;
  bool can_wait_long;
} tfrt_peer_frame_t;

// The live or dead peer with |incarnation|, or NULL.
tfrt_peer_t* tfrt_peer_find(tfrt_node_t* node, uint64_t incarnation);

// The peer with |incarnation|, made if it is not known; NULL when memory is out.
tfrt_peer_t* tfrt_peer_find_or_create(tfrt_node_t* node, uint64_t incarnation);

// The state of |job| with |peer|, or NULL if there is none. The second function makes it then; NULL
// when memory is out.
tfrt_peer_job_t* tfrt_peer_find_job(tfrt_peer_t* peer, const tfrt_job_t* job);
tfrt_peer_job_t* tfrt_peer_find_or_create_job(tfrt_peer_t* peer, tfrt_job_t* job);

// Sends |body| as |frame| says; attaches the job to the session first where that is needed.
// An error says that nothing was sent: FAILED_PRECONDITION for a dead peer, INVALID_ARGUMENT
// for a body beyond its limits, RESOURCE_EXHAUSTED.
tfrt_status_t tfrt_peer_try_send(tfrt_peer_t* peer, const tfrt_peer_frame_t* frame,
                                 const tfrt_wire_body_t* body) TFRT_MUST_USE;

// The same for a frame that must not get lost. A frame to a dead peer is dropped: the funeral has
// already ended what it was for. Any other failure ends the session when the lock is opened.
void tfrt_peer_send(tfrt_peer_t* peer, const tfrt_peer_frame_t* frame,
                    const tfrt_wire_body_t* body);

// Ends the session when the lock is opened, because of |reason| (consumed): this host can't do
// its part.
void tfrt_peer_break_take(tfrt_peer_t* peer, tfrt_status_t reason);

// The bytes of a value that may go to |peer| unasked: as many as this node sends, and at most what
// both agreed on.
size_t tfrt_peer_inline_limit(const tfrt_peer_t* peer);

// An error (+1) that says which host has lost which, what was going on ("while it ran @f"), and
// why:
//
//   host 0 lost host 2 (worker-2, 10.0.0.3:7000) while it ran @f: no sign of life
//   host 0 lost host 2 (worker-2, 10.0.0.3:7000) while it ran @f: host 2 lost the client ...
//
// The second one is about a peer that lives, and has left |job| because of a loss of its own. The
// root key is the peer's incarnation. If the peer has ended |job| for another reason than a loss,
// the error is that reason. |job| (may be NULL) knows ranks and addresses; |site|, the place of
// either, may be NULL.
tfrt_status_t tfrt_peer_lost_error(const tfrt_peer_t* peer, const tfrt_job_t* job,
                                   const tfrt_status_origin_t* site, const char* format, ...)
    TFRT_MUST_USE TFRT_PRINTF(4, 5);

// |session| is |peer|'s from now on.
void tfrt_peer_adopt_session(tfrt_peer_t* peer, tfrt_session_t* session);

// True if |end|, the loss of a peer, concerns |job|.
bool tfrt_peer_loss_concerns(const tfrt_owner_end_t* end, const tfrt_job_t* job);

// Has the node have a table of peers, which are buried with their sessions.
extern const tfrt_node_part_t tfrt_peer_part;

#endif  // TFRT_DISTRIBUTED_DOMAIN_PEER_H_
