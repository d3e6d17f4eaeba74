// SPDX-License-Identifier: Apache-2.0
//
// Ends the waits for a call that runs here and is cancelled: its kernels notify the hosts that they
// would have met (kernel/withdrawal.h).
//
//   request --cancelled--> all who have subscribed to that, then the kernels --> the call is over
//      |
//      '--call over--> nothing happens any more
//
// Life:
//  1. Begun with the request that the call runs in, before anybody can cancel that. Where neither
//     kernels nor arguments have anything to tell, nothing is kept.
//  2. Ended when all of the call is over. Else it is the last act of the request's cancel; it keeps
//     the call's scope from being left by then, as all that the call runs may end with the cancel.
//
// Thread rule: see each function.
// Failure rule: RESOURCE_EXHAUSTED.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_WITHDRAWAL_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_WITHDRAWAL_H_

#include "host_runtime/executor/kernel/function.h"
#include "host_runtime/executor/request/request_context.h"

// Makes a later cancel of |context|'s request end with the withdrawals of the kernels and of the
// available arguments. The caller is about to call |function| in that request with |arguments| (+0,
// in any state), and nobody else has the request yet. The scope of |context| is the one that is
// left when all of the call is over. Its storage lives as long as the request may be cancelled.
// Thread-compatible.
tfrt_status_t tfrt_withdrawal_begin(const tfrt_execution_context_t* context,
                                    const tfrt_function_t* function,
                                    tfrt_async_value_t* const* arguments) TFRT_MUST_USE;

// Ends that: all of the call is over, or others tell it in its place. Thread-safe.
void tfrt_withdrawal_end(tfrt_request_context_t* request);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_WITHDRAWAL_H_
