// SPDX-License-Identifier: Apache-2.0
//
// The inside of an outgoing call, for its seven sources, and for service/, which lists open calls.
//
//   outgoing_call.c       start, end, funeral
//   outgoing_arguments.c  arguments: inline or lent
//   outgoing_result.c     results from the callee
//   outgoing_push.c       hosts to push results to
//   outgoing_unawaited.c  calls whose end nobody waits for
//   outgoing_cancel.c     cancel, deadline, end of the job
//   outgoing_withdrawal.c tells others that it won't come
//
// Thread rule: everything here needs the node's lock, but what says otherwise.
// Failure rule: see each function.
#ifndef TFRT_DISTRIBUTED_CALL_OUTGOING_CALL_IMPL_H_
#define TFRT_DISTRIBUTED_CALL_OUTGOING_CALL_IMPL_H_

#include "distributed/call/outgoing_call.h"
#include "distributed/call/unawaited.h"
#include "distributed/domain/call_site.h"
#include "distributed/value/object_table.h"

// The state of an outgoing call. NAMED and SENT of outgoing_call.h are both OPEN here: the session
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
  bool is_message;  // of TFRT_WIRE_BUILTIN_SEND
  uint32_t argument_count;
  tfrt_async_value_t** arguments;  // +1 each; the arrays lie behind the record
  tfrt_object_t** exports;         // of arguments, by their place; one loan each, or NULL
  uint32_t result_count;
  tfrt_remote_value_t** results;  // +1 each; NULL once told
  tfrt_status_t cancelled;        // +1; why, or NULL
  int64_t since_ns;               // when it was made, by the node's tick
};

// --- outgoing_call.c -----------------------------------------------------------

// |call| is in |state| from now on. Builds with assertions refuse a transition that the picture
// doesn't have.
void tfrt_outgoing_call_set_state(tfrt_outgoing_call_t* call, tfrt_outgoing_call_state_t state);

// The open call |number| to |peer| (+0), or NULL.
tfrt_outgoing_call_t* tfrt_outgoing_call_find(tfrt_peer_t* peer, uint64_t number);

// Drops one reference.
void tfrt_outgoing_call_release(tfrt_outgoing_call_t* call);

// ENDED: loans end, the scope is left. Results that are not known by now must have been
// failed.
void tfrt_outgoing_call_end(tfrt_outgoing_call_t* call);

// Makes errors, |status| (+0), of the results that are not known yet.
void tfrt_outgoing_call_fail_results(tfrt_outgoing_call_t* call, tfrt_status_t status);

// --- outgoing_arguments.c ------------------------------------------------------

// The arguments of one Invoke, while they are packed.
typedef struct tfrt_outgoing_arguments_s {
  const tfrt_outgoing_call_request_t* request;
  tfrt_arena_t* arena;  // the node's
  tfrt_wire_item_t* items;
  size_t inline_room;
  bool chains_are_here;  // so that a mutable value is what the program means
} tfrt_outgoing_arguments_t;

// Fills |arguments->items| with the arguments of |call|; those that are lent are so from now on.
// RESOURCE_EXHAUSTED.
tfrt_status_t tfrt_outgoing_arguments_pack(tfrt_outgoing_call_t* call,
                                           tfrt_outgoing_arguments_t* arguments) TFRT_MUST_USE;

// Returns true if the entry |index| of |types| (NULL: unknown) is the chain; if what has that type
// may be written after it is available. Thread-safe.
bool tfrt_outgoing_arguments_is_chain(const char* const* types, uint32_t index);
bool tfrt_outgoing_arguments_is_mutable(const char* const* types, uint32_t index);

// --- outgoing_push.c -------------------------------------------------------------

// Sets |out_invoke->push_to|, in |arena|, to the hosts whose calls, in the function that makes
// |call|, take its results as arguments. The callee sends them results of small types before they
// ask (push_inbox.h). |call->results| notes these hosts.
void tfrt_outgoing_push_choose(tfrt_outgoing_call_t* call,
                               const tfrt_outgoing_call_request_t* request, tfrt_arena_t* arena,
                               tfrt_wire_invoke_t* out_invoke);

// True if |value|, which is about to be lent to |callee|, is pushed to it, and its owner has not
// told us yet what it is. Each call that gets a push is noted once; this takes one note away.
bool tfrt_outgoing_push_take(tfrt_remote_value_t* value, uint64_t callee);

// --- outgoing_unawaited.c --------------------------------------------------------

// The unawaited calls (unawaited.h) that |call| belongs to if its callee may tell its results late;
// else NULL.
tfrt_unawaited_t* tfrt_outgoing_unawaited_find(const tfrt_outgoing_call_t* call,
                                               const tfrt_outgoing_call_request_t* request,
                                               const tfrt_outgoing_arguments_t* arguments);

// |call|, which was sent, joins |unawaited|, and leaves its execution's scope.
void tfrt_outgoing_unawaited_join(tfrt_outgoing_call_t* call, tfrt_unawaited_t* unawaited);

// --- outgoing_cancel.c ---------------------------------------------------------

// Stops the call because of |reason| (+0): its unknown results are errors at once; the record
// stays until the callee is done.
void tfrt_outgoing_call_cancel(tfrt_outgoing_call_t* call, tfrt_status_t reason);

// Puts a Void with |reason| (+0) in the place of the Invoke, if that was not written yet; false if
// it was.
bool tfrt_outgoing_call_void(tfrt_outgoing_call_t* call, tfrt_status_t reason);

// The call for |request| is refused here, so that it has no number. If the call is a message, a
// Void tells the waiting receiver that the message is |reason| (+0), unless memory is out. A
// receiver that can't be reached is lost as well.
void tfrt_outgoing_call_tell_unsent(tfrt_node_t* node, const tfrt_outgoing_call_request_t* request,
                                    tfrt_status_t reason);

// The same as a cancel for the subscription to the request's cancel, and for the timer of the
// call's own deadline; each drops the reference that it has. They take the lock.
void tfrt_outgoing_call_run_cancel(tfrt_cancellation_subscription_t* subscription,
                                   tfrt_status_t reason);
void tfrt_outgoing_call_run_timer(tfrt_timer_t* timer);

// --- outgoing_withdrawal.c -----------------------------------------------------

// When the lock is opened, tells the hosts that would have met the callee's kernels
// (kernel/withdrawal.h) that it doesn't run, or no further, because of |reason| (+0). They hear
// nothing when memory is out.
void tfrt_outgoing_call_withdraw(tfrt_outgoing_call_t* call, tfrt_status_t reason);

// The same for a call that was not run, as |result| says.
void tfrt_outgoing_call_withdraw_unrun(tfrt_outgoing_call_t* call,
                                       const tfrt_wire_result_t* result);

// |job| is over for |peer|, its client, because of |reason| (+0): cancels and ends its calls to
// |peer|.
void tfrt_outgoing_call_cancel_all(tfrt_peer_t* peer, const tfrt_job_t* job, tfrt_status_t reason);

#endif  // TFRT_DISTRIBUTED_CALL_OUTGOING_CALL_IMPL_H_
