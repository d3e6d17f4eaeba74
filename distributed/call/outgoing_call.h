// SPDX-License-Identifier: Apache-2.0
//
// A call that this host makes and another runs.
//
//   NAMED --written--> SENT --Result*--> (results resolve one by one) --done--> ENDED
//     |cancel, deadline   |session dead: unresolved results are errors --> ENDED
//     +--> VOID ----------+-----------------------------------------------------^
//
// Life:
//  1. Started: takes the next call number of the peer and appends the Invoke, at once,
//     whatever the state of its arguments. Its results are remote values, held.
//  2. The record keeps one reference to each argument, and the loan of each export, until
//     the call has ENDED: never until Cancel, never until the results are there.
//  3. Each Result resolves slots. A cancel of the request it belongs to makes the unresolved
//     ones errors at once and sends Cancel; the record stays.
//  4. ENDED by `done`, or by the callee's death: loans end, the scope is left, the record is
//     freed.
//
// Thread rule: tfrt_outgoing_call_start() takes the node's lock, and tfrt_outgoing_call_prepare()
// wants it open; the rest needs it.
// Failure rule: a call that can't be made has errors as its results.
#ifndef TFRT_DISTRIBUTED_CALL_OUTGOING_CALL_H_
#define TFRT_DISTRIBUTED_CALL_OUTGOING_CALL_H_

#include "distributed/call/execution.h"
#include "distributed/domain/call_site.h"
#include "distributed/domain/job.h"
#include "distributed/domain/node_part.h"
#include "distributed/value/object_table.h"
#include "distributed/value/remote_value.h"
#include "host_runtime/executor/request/call_router.h"

typedef struct tfrt_outgoing_call_s tfrt_outgoing_call_t;

// A call of TFRT_WIRE_BUILTIN_SEND is a message: a receiver waits under its key.
typedef enum tfrt_outgoing_message_e {
  TFRT_OUTGOING_NO_MESSAGE = 0,
  TFRT_OUTGOING_MESSAGE,
  TFRT_OUTGOING_MUTABLE_MESSAGE,  // the caller may write to what is lent, whatever type
} tfrt_outgoing_message_t;

// A call to make: the callee, the function, its arguments and its options.
typedef struct tfrt_outgoing_call_request_s {
  tfrt_job_t* job;
  uint64_t callee;                   // incarnation
  tfrt_cached_program_t* program;    // NULL: |function| is a tfrt_wire_builtin_t
  uint32_t function;                 // index in the program
  tfrt_string_view_t image;          // of TFRT_WIRE_BUILTIN_RUN, until the call is sent
  tfrt_request_context_t* request;   // cancels the call; NULL: nobody does
  tfrt_call_scope_t* scope;          // left when the call has ended; NULL: nobody asks
  const char* name;                  // of the function; lives as long as the job
  const tfrt_kernel_site_t* caller;  // that makes the call, as long as the job; NULL: not known
  const tfrt_status_origin_t* site;  // else where it stands; as |name|; NULL: unknown
  int64_t deadline_ns;               // TFRT_TIME_INFINITE: none
  bool pure;
  bool results_can_wait;  // nobody waits for them
  tfrt_outgoing_message_t message;
  const char* device;                    // that the callee is placed on; as |name|; NULL: none
  const char* results_device;            // where results go that are fetched; NULL: the host
  tfrt_retried_call_t* retried;          // whose run it is; NULL: it runs once
  tfrt_async_value_t* const* arguments;  // +0, in any state
  uint32_t argument_count;
  size_t inline_limit;           // bytes of an argument that travel unasked; 0: the node's
  tfrt_async_value_t** results;  // set, +1
  uint32_t result_count;
  const char* const* argument_types;  // as MLIR prints them; NULL: unknown
  const char* const* result_types;
  bool gives_results;  // of |caller|, one by one, in this run alone
} tfrt_outgoing_call_request_t;

// True if |request| has a deadline of its own, earlier than that of the request around it.
static inline bool tfrt_outgoing_call_request_has_own_deadline(
    const tfrt_outgoing_call_request_t* request) {
  return request->request && request->deadline_ns < request->request->options.deadline_ns;
}

// The state of an outgoing call. NAMED and SENT above are both OPEN here: the session
// knows whether the Invoke was written.
//
//   PREPARED --named--> OPEN --cancelled after it was sent--> CANCELLED --done, callee lost-->
//   ENDED
//    |                   `--done, callee lost, void---------------------------------------------^
//    `--refused, not made-----------------------------------------------------------------------'
typedef enum tfrt_outgoing_call_state_e {
  TFRT_OUTGOING_CALL_PREPARED = 0,
  TFRT_OUTGOING_CALL_OPEN,       // is in the peer's table, and in the job's list
  TFRT_OUTGOING_CALL_CANCELLED,  // as well; its results are errors
  TFRT_OUTGOING_CALL_ENDED,
} tfrt_outgoing_call_state_t;

struct tfrt_outgoing_call_s {
  tfrt_outgoing_call_state_t state;  // changed by tfrt_outgoing_call_set_state()
  tfrt_ref_count_t ref_count;        // one while it is open, one each for subscription and timer
  tfrt_node_t* node;                 // +1
  tfrt_job_t* job;                   // +1
  tfrt_peer_t* peer;
  tfrt_hash_node_t by_number;
  tfrt_list_link_t in_job;  // from the start to the end, in that order
  uint64_t number;
  const char* name;  // of the function
  tfrt_call_site_t site;
  tfrt_request_context_t* request;  // +1; NULL: nobody cancels
  tfrt_cancellation_subscription_t subscription;
  tfrt_call_scope_t* scope;         // entered; NULL: nobody asks
  tfrt_list_link_t unawaited_link;  // if its Results wait, until they are hurried
  tfrt_timer_t timer;
  bool timer_started;
  bool feeds_others;  // alone: its results are pushed to all of their users
  bool is_message;    // of TFRT_WIRE_BUILTIN_SEND
  bool take_inline;   // a result that comes inline leaves no hold at the callee
  uint32_t argument_count;
  tfrt_async_value_t** arguments;  // +1 each; the arrays lie behind the record
  tfrt_object_t** exports;         // of arguments, by their place; one loan each, or NULL
  uint32_t result_count;
  tfrt_remote_value_t** results;  // +1 each; NULL once told
  tfrt_status_t cancelled;        // +1; why, or NULL
  int64_t since_ns;               // when it was made, by the node's tick
};

// |call| is in |state| from now on. Builds with assertions refuse a transition that the picture
// doesn't have.
void tfrt_outgoing_call_set_state(tfrt_outgoing_call_t* call, tfrt_outgoing_call_state_t state);

// Starts a call; see above. Thread-safe (the lock is not held).
void tfrt_outgoing_call_start(tfrt_node_t* node, const tfrt_outgoing_call_request_t* request);

// The same in two steps, for a caller that looks up the target of |request| in the tables. The
// first step takes no lock, and reads neither what the target has to do with nor names and places.
// If memory is out, it makes the results errors and returns NULL. Else one of the other two steps
// must follow, with the lock held: |call| is started, or not made. |refusal| (consumed), if it
// isn't NULL, is why a call to another host can't be made.
tfrt_outgoing_call_t* tfrt_outgoing_call_prepare(tfrt_node_t* node,
                                                 const tfrt_outgoing_call_request_t* request)
    TFRT_MUST_USE;
void tfrt_outgoing_call_start_prepared(tfrt_outgoing_call_t* call,
                                       const tfrt_outgoing_call_request_t* request,
                                       tfrt_status_t refusal);
void tfrt_outgoing_call_discard(tfrt_outgoing_call_t* call, tfrt_job_t* job);

// |job| is over here because of |reason| (+0): cancels and ends the oldest of its open calls, to
// any host, until these and their results are |count|. True if no call is left.
bool tfrt_outgoing_call_cancel_oldest(tfrt_job_t* job, uint32_t count, tfrt_status_t reason)
    TFRT_MUST_USE;

// --- outgoing_invoke.c -------------------------------------------------------
//
// The Invoke, the message that makes a call: its arguments, as bytes or lent; the hosts that the
// callee pushes results to; and whether its Results may wait.

// Returns true if the entry |index| of |types| (NULL: unknown) is the chain; if what has that type
// may be written after it is available. Thread-safe.
bool tfrt_outgoing_arguments_is_chain(const char* const* types, uint32_t index);
bool tfrt_outgoing_arguments_is_mutable(const char* const* types, uint32_t index);

// Sends the Invoke of |call|, which has a number and results, to the callee, which knows the
// program as |program|. Arguments that are lent are so from now on. Memory comes from |arena|.
tfrt_status_t tfrt_outgoing_invoke_send(tfrt_outgoing_call_t* call,
                                        const tfrt_outgoing_call_request_t* request,
                                        uint32_t program, tfrt_arena_t* arena) TFRT_MUST_USE;

// Nothing else is under way: hurries the calls that are left. True if there is none, and the caller
// does what |over| would.
bool tfrt_outgoing_unawaited_end(tfrt_unawaited_t* unawaited) TFRT_MUST_USE;

// --- The node ----------------------------------------------------------------

// Has calls end with their owners.
extern const tfrt_node_part_t tfrt_outgoing_call_part;

#endif  // TFRT_DISTRIBUTED_CALL_OUTGOING_CALL_H_
