// SPDX-License-Identifier: Apache-2.0
//
// A job on this host: its members, its programs, and the receiver of its printed lines. A client
// opens it on each member; the member of rank 0 is its root and calls the entry function.
//
//   client --JobOpen(view, key)--> member, member, root
//          --Program-->            each
//          --JobStart--> root ...calls... --JobEnd--> client
//          --JobClose-->           each
//
// Life:
//  1. Created by a JobOpen (a member), or by a client before it sends these.
//  2. Attached to each session on which a frame of it is sent or comes (job_attachment.h).
//     A detached one goes on without its client (detached_job.h).
//  3. Closed once: its calls are cancelled, its objects freed, its placeholders errors.
//  4. Freed when its last value and call are gone.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: see each function.
#ifndef TFRT_DISTRIBUTED_DOMAIN_JOB_H_
#define TFRT_DISTRIBUTED_DOMAIN_JOB_H_

#include <stdatomic.h>

#include "distributed/domain/domain.h"
#include "distributed/domain/node_part.h"
#include "distributed/wire/session.h"
#include "host_runtime/executor/hosts/mailbox.h"
#include "host_runtime/executor/hosts/turn_table.h"
#include "host_runtime/executor/request/call_router.h"
#include "host_runtime/executor/request/output.h"

// The lines and results that a detached job leaves at its root (detached_job.h).
typedef struct tfrt_detached_job_s tfrt_detached_job_t;

// The requests of a job that its root has cancelled: no kernel of them starts on this host any
// more, also where a call comes after that.
//
//   root      a start is cancelled ---CancelRequest 7--> every member           (job_start.h)
//   member    calls of request 7 are cancelled; a *tombstone* refuses those that come later, until
//             the request, or the job, is over
//
// The authority is the Cancel that follows each call on its own link; this is quicker, and
// overtakes calls on other links. So the tombstones have a bound: the oldest is dropped, and
// nothing is wrong. Without memory there is no tombstone.
typedef struct tfrt_cancelled_request_s {
  uint64_t request;
  tfrt_status_t reason;  // +1
} tfrt_cancelled_request_t;

typedef struct tfrt_cancelled_requests_s {
  tfrt_cancelled_request_t* entries;  // oldest first
  uint32_t count;
  uint32_t capacity;
} tfrt_cancelled_requests_t;

// A member, or the client (rank TFRT_WIRE_NO_RANK), of a job.
typedef struct tfrt_job_member_s {
  uint32_t rank;
  uint64_t incarnation;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];  // "" if it can't be dialled
  tfrt_status_t death;                        // +1; it is lost to this job, or NULL
  bool has_left;                              // it lives, and has left the job because of |death|
  struct tfrt_peer_s* peer;  // lives as long as it is in a job that is open; NULL: not reached yet
} tfrt_job_member_t;

// A program by the number that a peer, or this host, gave it in this job.
typedef struct tfrt_job_program_s {
  tfrt_list_link_t link;
  uint64_t namer;  // incarnation
  uint32_t handle;
  struct tfrt_cached_program_s* cached;  // +1
  tfrt_wire_object_id_t object;          // where its bytes are, if we have named it
} tfrt_job_program_t;

// Receives the lines that the job's kernels print: on the client, or for a detached job on the
// root. Called with no lock held, from any thread: lines that no chain orders may come at the same
// time.
typedef void (*tfrt_job_print_fn_t)(void* self, uint32_t rank, tfrt_string_view_t line);

// The state of a job.
//
//   OPEN --JobOpen, on a member--> OPENING --root reached--> OPEN
//    |                                |
//    `--------------------------------`--> CLOSED --nothing is active--> OVER
typedef enum tfrt_job_state_e {
  TFRT_JOB_OPEN = 0,
  TFRT_JOB_OPENING,  // on a member: its JobOpen is not answered yet
  TFRT_JOB_CLOSED,
  TFRT_JOB_OVER,
} tfrt_job_state_t;

// A job's number, and the key that proves that a process was let in by its client.
typedef struct tfrt_job_identity_s {
  uint8_t id[TFRT_WIRE_JOB_ID_SIZE];
  uint8_t key[TFRT_WIRE_KEY_SIZE];
} tfrt_job_identity_t;

typedef struct tfrt_job_view_s {
  uint32_t epoch;
  uint32_t member_count;
  tfrt_job_member_t* members;     // by rank
  tfrt_wire_features_t features;  // that all members have
} tfrt_job_view_t;

// The flag of W3C Trace Context that says: recorded.
#define TFRT_JOB_TRACE_SAMPLED 1u

typedef struct tfrt_job_tracing_s {
  tfrt_wire_trace_t context;     // all 0: the job is not traced
  _Atomic(tfrt_trace_t*) spans;  // +1; on a member, spans of what ran, or NULL; set at most once
} tfrt_job_tracing_t;

typedef struct tfrt_job_programs_s {
  tfrt_list_link_t list;
  uint32_t next;  // handle that our next Program frame gives; from 1
} tfrt_job_programs_t;

// At the root (job/job_start.h).
typedef struct tfrt_job_starts_s {
  tfrt_list_link_t list;  // that are not over
  uint64_t next_request;
} tfrt_job_starts_t;

// Calls of other hosts that don't run here (value/object_name.h).
typedef struct tfrt_job_failed_calls_s {
  tfrt_list_link_t list;
  uint32_t count;
  bool forgets;  // there were too many of them once
} tfrt_job_failed_calls_t;

typedef struct tfrt_job_recovery_s {
  tfrt_list_link_t calls;  // of this host, that may run again (recovery/retried_call.h)
  tfrt_list_link_t asked;  // other hosts ask for another owner (recovery/recovery.h)
} tfrt_job_recovery_t;

// State that kernels of several hosts share.
typedef struct tfrt_job_exchange_s {
  tfrt_mailbox_t mailbox;             // values that hosts send to this one
  tfrt_turn_table_t turns;            // joint operations
  tfrt_resource_context_t resources;  // kept for those, until the job goes
} tfrt_job_exchange_t;

// The receiver of printed lines.
typedef struct tfrt_job_printer_s {
  tfrt_job_print_fn_t print;
  void* self;                   // +1, see |release|
  void (*release)(void* self);  // with the lock held; NULL: nothing to do
} tfrt_job_printer_t;

// The pace of loops that make calls (value/job_budget.h).
//
//   FREE --many calls are made--> CROWDED --most of them are over--> FREE
//                                    `----none ends for long-----> HASTY --most are over--> FREE
typedef enum tfrt_job_pace_e {
  TFRT_JOB_PACE_FREE = 0,
  TFRT_JOB_PACE_CROWDED,  // loops wait
  TFRT_JOB_PACE_HASTY,    // they go on: the calls may wait for what a loop does next
} tfrt_job_pace_t;

// On a member; see value/job_budget.h.
typedef struct tfrt_job_usage_s {
  tfrt_job_limits_t limits;
  uint32_t calls;     // functions of programs that run for other hosts
  uint32_t incoming;  // all calls that run for other hosts, those among them
  uint32_t objects;   // values that others know (value/object_table.h)
  tfrt_list_link_t object_list;
  uint32_t wants;          // questions of others for values that are not answered
  uint32_t made;           // calls that other hosts run for this one
  uint64_t payload_bytes;  // that came from other hosts
  tfrt_job_pace_t pace;
  int64_t moved_ns;          // when one of |made| ended last, by the node's tick; while CROWDED
  tfrt_async_value_t* room;  // +1; an indirect that loops wait for while CROWDED; NULL: none does
} tfrt_job_usage_t;

typedef struct tfrt_job_detachment_s {
  bool is_detached;               // it outlives its client
  tfrt_detached_job_t* left;      // +0; at the root of such a job, what it leaves, or NULL
  tfrt_detached_job_t* followed;  // +1; what its client follows here (following.h), or NULL
} tfrt_job_detachment_t;

// The closing of a job (job/job_life.h).
typedef struct tfrt_job_closing_s {
  tfrt_status_t reason;  // +1; the answer to all questions that come after the close
  bool is_finished;      // closed in order, without another reason
  tfrt_task_t task;      // ends its open calls, a slice at a time
} tfrt_job_closing_t;

struct tfrt_job_s {
  tfrt_ref_count_t ref_count;
  tfrt_node_t* node;      // +0; every holder of a job keeps its node
  tfrt_list_link_t link;  // in the node's jobs
  tfrt_job_state_t state;
  tfrt_job_identity_t identity;
  char name[TFRT_WIRE_MAX_NAME_SIZE + 1];  // for people
  uint32_t handle;                         // ours, on every session
  uint32_t rank;                           // ours; TFRT_WIRE_NO_RANK for the client
  tfrt_job_member_t client;                // rank TFRT_WIRE_NO_RANK
  tfrt_job_view_t view;
  int64_t since_ns;     // when it was made, by the node's tick
  int64_t deadline_ns;  // TFRT_TIME_INFINITE: none
  bool asks_only;       // its client starts nothing
  uint32_t active;      // calls in either direction, and starts
  tfrt_job_tracing_t tracing;
  tfrt_job_programs_t programs;
  tfrt_job_starts_t starts;
  tfrt_list_link_t outgoing_calls;  // that are open, by age (outgoing_call.h)
  tfrt_list_link_t remote_values;   // all that there are (remote_value.h)
  tfrt_job_failed_calls_t failed;
  tfrt_job_recovery_t recovery;
  tfrt_cancelled_requests_t cancelled_requests;
  tfrt_call_router_t router;    // the way of its requests out of the host
  tfrt_output_t output;         // where its requests print to
  tfrt_job_printer_t printer;   // on the client; of a detached job on the root
  _Atomic bool has_prefetched;  // a call may find an argument there (router.c)
  tfrt_job_exchange_t exchange;
  tfrt_job_usage_t usage;
  tfrt_job_detachment_t detachment;
  tfrt_job_closing_t closing;
};

static inline bool tfrt_job_is_closed(const tfrt_job_t* job) {
  return job->state == TFRT_JOB_CLOSED || job->state == TFRT_JOB_OVER;
}

static inline bool tfrt_job_is_over(const tfrt_job_t* job) { return job->state == TFRT_JOB_OVER; }

// |job| is in |state| from now on. Builds with assertions refuse a transition that the picture
// doesn't have.
void tfrt_job_set_state(tfrt_job_t* job, tfrt_job_state_t state);

// Sets |*out_job| (+0; the node's list has the reference) to a new job as |open| says, on a
// node that has rank |rank| in it and whose client is |client|. INVALID_ARGUMENT for a view
// that can't be; ALREADY_EXISTS; RESOURCE_EXHAUSTED.
tfrt_status_t tfrt_job_create(tfrt_node_t* node, const tfrt_wire_job_open_t* open, uint32_t rank,
                              uint64_t client, tfrt_job_t** out_job) TFRT_MUST_USE;

// Counts references; the last release frees the job. Thread-safe, but for the last release,
// which needs the node's lock.
tfrt_job_t* tfrt_job_retain(tfrt_job_t* job);
void tfrt_job_release(tfrt_job_t* job);

// A call or start of |job| begins, or is over. The job ends with the last one after its
// close.
void tfrt_job_enter(tfrt_job_t* job);
void tfrt_job_leave(tfrt_job_t* job);

// The member with |incarnation| or |rank|, or NULL. The client is found by incarnation.
tfrt_job_member_t* tfrt_job_find_incarnation(tfrt_job_t* job, uint64_t incarnation);
tfrt_job_member_t* tfrt_job_find_rank(tfrt_job_t* job, uint32_t rank);

// The rank of |incarnation| in |job|; TFRT_WIRE_NO_RANK for the client or a stranger.
uint32_t tfrt_job_rank_of(const tfrt_job_t* job, uint64_t incarnation);

// True if |incarnation| lives, and has closed the job: it has lost the client, say. As the one
// above, but also of the client.
bool tfrt_job_has_left(const tfrt_job_t* job, uint64_t incarnation);

// Sets |*out_peer| (+0) to the live peer |incarnation|, with a session to it, which is dialled
// if there is none. An incarnation outside the view: NOT_FOUND; a dead one, or one that has
// left: the reason of its loss, which names it; a client that has left: CANCELLED.
tfrt_status_t tfrt_job_reach(tfrt_job_t* job, uint64_t incarnation, tfrt_peer_t** out_peer)
    TFRT_MUST_USE;

// The rank of the first host from |rank| on that lives and is in |job|, round to the own one.
uint32_t tfrt_job_find_living(tfrt_job_t* job, uint32_t rank);

// The number of jobs on |node| that run, or can: all but |without| (may be NULL) and those that
// only ask and follow no detached job.
size_t tfrt_job_count_running(const tfrt_node_t* node, const tfrt_job_t* without);

// The job with |id| on |node|, or NULL.
tfrt_job_t* tfrt_job_find(tfrt_node_t* node, tfrt_string_view_t id);

// The trace that records the spans of |job| (+0, as long as |job|), or NULL. Thread-safe.
static inline tfrt_trace_t* tfrt_job_trace(const tfrt_job_t* job) {
  // Pairs with the store in tfrt_job_set_trace().
  return atomic_load_explicit(&job->tracing.spans, memory_order_acquire);
}

// Has |trace| (+0) record the spans of calls that begin from now on. Once.
void tfrt_job_set_trace(tfrt_job_t* job, tfrt_trace_t* trace);

// The ends of a call between hosts in the traces of both: a moment within the kernel that calls,
// and one at the begin of what it runs. Both have the same name, CALLER.NUMBER.CALLEE, by which a
// viewer ties them together.
#define TFRT_TRACE_FLOW_OUT "flow.out"
#define TFRT_TRACE_FLOW_IN "flow.in"

// Adds one of them, |category|, to the trace of |job|, if it is traced, at the present time and on
// the calling thread. Thread-safe.
void tfrt_job_add_trace_flow(const tfrt_job_t* job, const char* category, uint64_t caller,
                             uint64_t number, uint64_t callee, uint64_t request);

// The program that |namer| calls |handle|, or NULL.
tfrt_job_program_t* tfrt_job_find_program(tfrt_job_t* job, uint64_t namer, uint32_t handle);

// --- Requests that are cancelled -------------------------------------------------

// Remembers that |request| is cancelled because of |reason| (+0). False if it was so already.
bool tfrt_cancelled_requests_add(tfrt_cancelled_requests_t* table, uint64_t request,
                                 tfrt_status_t reason, tfrt_allocator_t allocator);

// The reason (+0) for which |request| is cancelled, or OK.
tfrt_status_t tfrt_cancelled_requests_find(const tfrt_cancelled_requests_t* table,
                                           uint64_t request);

// Nothing of |request| is under way any more.
void tfrt_cancelled_requests_remove(tfrt_cancelled_requests_t* table, uint64_t request);

// --- Jobs that have ended --------------------------------------------------------

// A host that hasn't heard yet that a job has ended here and asks something of it gets the reason
// as the answer (fence.h).
//
//   a job ends: cancelled, past its deadline, its root lost    remembered, the oldest one forgotten
//   a job ends: finished                                       nothing to say
//
// A question about a forgotten job is answered without a reason, as for an unknown job. Such
// questions come within moments, while the news is on its way to all members.

// Has the node forget them when it goes.
extern const tfrt_node_part_t tfrt_job_part;

#endif  // TFRT_DISTRIBUTED_DOMAIN_JOB_H_
