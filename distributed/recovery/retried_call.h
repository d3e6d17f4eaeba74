// SPDX-License-Identifier: Apache-2.0
//
// A call that runs again elsewhere when a host is lost: it has `retries`, and is pure, or surely
// has not run. Each run is an outgoing call of its own, with a number of its own; the results stay
// the same remote values, which get another name.
//
//   run on host 2 --result lost--> run on host 3 --result lost--> ... no retries left: error
//        |                              |
//        '------- all results here, or not used any more, or the frame that made it over: closed
//
// The next run is on the next living host by rank, round to the own host, where the call is a plain
// one. It takes the same arguments, which are kept for it. An argument that was lost with the host
// may be the result of such a call itself: then that call runs again at the same time.
//
// Life:
//  1. Started once; each result that it names is *adopted*.
//  2. A result is *forgotten* when it is resolved here, or nobody uses it. The last one closes the
//     call.
//  3. A result is *lost* when the host dies that has it. If the frame that made the call still
//     runs, the call runs again, once the lock is open; the scope of that frame is entered
//     meanwhile, so it stays so. The callee of a pure call may report the loss of another host, as
//     an error from calls further down: that is a loss, too. The run also makes results that are
//     not lost yet. Those are kept until they are resolved: lost later, they need no run of their
//     own.
//  4. Closed with that frame, too: a user that gets its results afterwards has to call again.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: without memory the call is started once, and not again.
#ifndef TFRT_DISTRIBUTED_RECOVERY_RETRIED_CALL_H_
#define TFRT_DISTRIBUTED_RECOVERY_RETRIED_CALL_H_

#include "distributed/call/outgoing_call.h"

// Starts |call|, whose options say how often it may run again. |request| describes it, and is
// complete but for the members that this sets; |prepared| (consumed) is its first run.
void tfrt_retried_call_start(const tfrt_routed_call_t* call,
                             const tfrt_outgoing_call_request_t* request,
                             tfrt_outgoing_call_t* prepared);

// |value| is result |index| of a run of |call|.
void tfrt_retried_call_adopt(tfrt_retried_call_t* call, uint32_t index, tfrt_remote_value_t* value);

// Result |index| (+1) of |call|, for whose run it gets another name, if it is lost; else NULL.
tfrt_remote_value_t* tfrt_retried_call_take_lost(tfrt_retried_call_t* call, uint32_t index);

// |value|, which has a call that may run again, doesn't need that any more.
void tfrt_retried_call_forget(tfrt_remote_value_t* value);

// True if |status| (+0), which came for |value|, a result of such a call, is the loss of another
// host than the result's, and the call may run again for that, or has.
bool tfrt_retried_call_may_mend(const tfrt_remote_value_t* value, tfrt_status_t status);

// |value| is lost because of |status| (+0). False if its call must not run again.
bool tfrt_retried_call_lose(tfrt_remote_value_t* value, tfrt_status_t status);

// The frame of |scope| is over: nothing that it called runs again.
void tfrt_retried_call_close_scope(tfrt_job_t* job, const tfrt_call_scope_t* scope);

// Has calls end with their owners.
void tfrt_retried_call_register(tfrt_owner_rules_t* rules);

#endif  // TFRT_DISTRIBUTED_RECOVERY_RETRIED_CALL_H_
