// SPDX-License-Identifier: Apache-2.0
//
// A job on this host: who its members are, its programs, and where its lines are printed. A
// client opens it on each member; the member of rank 0 is its root and calls the entry
// function.
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

#include "distributed/domain/cancelled_requests.h"
#include "distributed/domain/domain.h"
#include "host_runtime/executor/hosts/mailbox.h"
#include "host_runtime/executor/hosts/turn_table.h"
#include "host_runtime/executor/request/call_router.h"
#include "host_runtime/executor/request/output.h"

// What a detached job leaves at its root (detached_job.h).
typedef struct tfrt_detached_job_s tfrt_detached_job_t;

// A member, or the client (rank TFRT_WIRE_NO_RANK), of a job.
typedef struct tfrt_job_member_s {
  uint32_t rank;
  uint64_t incarnation;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];  // "" if it can't be dialled
  tfrt_status_t death;                        // +1; it is lost to this job, or NULL
  bool has_ended;            // |death| is why it has ended the job, other than by a loss
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

// Where the lines go that the job's kernels print; on the client only, of a detached job on the
// root. Called with no lock held, from any thread: lines that no chain orders may come at the same
// time.
typedef void (*tfrt_job_print_fn_t)(void* self, uint32_t rank, tfrt_string_view_t line);

struct tfrt_job_s {
  tfrt_ref_count_t ref_count;
  tfrt_node_t* node;      // +0; whoever holds a job keeps its node
  tfrt_list_link_t link;  // in the node's jobs
  uint8_t id[TFRT_WIRE_JOB_ID_SIZE];
  uint8_t key[TFRT_WIRE_KEY_SIZE];
  uint32_t handle;  // ours, on every session
  uint32_t rank;    // ours; TFRT_WIRE_NO_RANK for the client
  uint32_t epoch;
  char name[TFRT_WIRE_MAX_NAME_SIZE + 1];  // for people
  int64_t since_ns;                        // when it was made, by the node's tick
  int64_t deadline_ns;                     // TFRT_TIME_INFINITE: none
  tfrt_job_member_t client;                // rank TFRT_WIRE_NO_RANK
  uint32_t member_count;
  tfrt_job_member_t* members;       // by rank
  tfrt_wire_trace_t trace_context;  // of what belongs to the job; all 0: it is not traced
  _Atomic(tfrt_trace_t*) trace;     // +1; on a member, what ran when, or NULL; set at most once
  tfrt_list_link_t programs;
  uint32_t next_program;            // handle that our next Program frame gives; from 1
  tfrt_list_link_t starts;          // what the client asked for, at the root (server.h)
  tfrt_list_link_t outgoing_calls;  // that are open, by age (outgoing_call.h)
  tfrt_list_link_t remote_values;   // all that there are (remote_value.h)
  tfrt_list_link_t failed_calls;    // of others, that don't run here (failed_call.h)
  tfrt_list_link_t retried_calls;   // of this host, that may run again (retried_call.h)
  tfrt_cancelled_requests_t cancelled_requests;
  tfrt_list_link_t lost_requests;     // of others, who ask for another owner (recovery.h)
  uint64_t next_request;              // at the root
  tfrt_call_router_t router;          // what requests of this job leave the host by
  tfrt_output_t output;               // what they print to
  tfrt_mailbox_t mailbox;             // where values wait that hosts send to this one
  tfrt_turn_table_t turns;            // what this host does together with others
  tfrt_resource_context_t resources;  // what it keeps for that, until the job goes
  _Atomic bool has_prefetched;        // a call may find an argument there (prefetched.h)
  tfrt_job_print_fn_t print;          // where the lines go
  void* print_self;                   // +1, see |print_release|
  void (*print_release)(void* self);  // with the lock held; NULL: nothing to do
  tfrt_job_limits_t limits;           // on a member; see job_budget.h
  uint32_t call_count;                // functions of programs that run for other hosts
  uint32_t failed_call_count;
  bool forgets_failed_calls;      // there were too many of them once
  uint32_t active;                // calls in either direction, and starts
  bool asks_only;                 // its client starts nothing
  bool is_detached;               // it outlives its client
  tfrt_detached_job_t* detached;  // +0; at the root of such a job, what it leaves, or NULL
  tfrt_detached_job_t* followed;  // +1; what its client follows here (following.h), or NULL
  bool is_opening;                // on a member: its JobOpen is not answered yet
  bool closed;
  bool is_finished;  // closed, without a reason but that
  tfrt_status_t
      closed_by;        // +1; why it is closed: what is still asked of it has this for an answer
  tfrt_task_t closing;  // what is open of it when it is closed ends by that (job_closing.h)
  bool ended;           // closed, and nothing is active any more
};

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

// True if |incarnation|, a member, is lost to |job| (job/fence.h).
bool tfrt_job_is_fenced(tfrt_job_t* job, uint64_t incarnation);

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

// At the root: sends |body| to every other member that is there, which may hear of it later if it
// |can_wait|. They all have a session with the root.
void tfrt_job_tell_members(tfrt_job_t* job, const tfrt_wire_body_t* body, bool can_wait);

// The number of jobs on |node| that run, or can: all but |without| (may be NULL) and those that
// only ask and follow no detached job.
size_t tfrt_job_count_running(const tfrt_node_t* node, const tfrt_job_t* without);

// The job with |id| on |node|, or NULL.
tfrt_job_t* tfrt_job_find(tfrt_node_t* node, tfrt_string_view_t id);

// What takes what runs when of |job| (+0, as long as |job|), or NULL. Thread-safe.
static inline tfrt_trace_t* tfrt_job_trace(const tfrt_job_t* job) {
  // Pairs with the store in tfrt_job_set_trace().
  return atomic_load_explicit(&job->trace, memory_order_acquire);
}

// Has |trace| (+0) take that, of calls that begin from now on. Once.
void tfrt_job_set_trace(tfrt_job_t* job, tfrt_trace_t* trace);

// The program that |namer| calls |handle|, or NULL.
tfrt_job_program_t* tfrt_job_find_program(tfrt_job_t* job, uint64_t namer, uint32_t handle);

#endif  // TFRT_DISTRIBUTED_DOMAIN_JOB_H_
