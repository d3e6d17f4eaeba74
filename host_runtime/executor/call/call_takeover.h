// SPDX-License-Identifier: Apache-2.0
//
// From a call that follows a schedule (scheduled_call.h) to one by ready lists (call_frame.h), when
// a value of it is late. Private to the executor.
//
// Thread rule: the thread of the call. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_CALL_CALL_TAKEOVER_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_CALL_CALL_TAKEOVER_H_

#include "host_runtime/executor/call/ready_list.h"
#include "host_runtime/executor/call/scheduled_call.h"

// Brings |ready|, the list of a new frame, to where |call| has stopped: the lists do what the
// schedule was made from, and the registers take over what the slots hold and is still to be used.
// The kernel of |call->step| is the one that is taken from the list last; it has run, and its
// results are the caller's to publish.
void tfrt_call_takeover(tfrt_ready_list_t* ready, const tfrt_scheduled_call_t* call);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_CALL_CALL_TAKEOVER_H_
