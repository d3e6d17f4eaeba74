// SPDX-License-Identifier: Apache-2.0
//
// The clock of a request: cancels it with DEADLINE_EXCEEDED when its deadline comes. Kernels
// that have not started by then don't; what runs already runs to its end.
//
//   request (options.deadline_ns) <--cancel-- timer --- timer queue --- clock
//
// Life:
//  1. Started for a request that has a deadline, by the code that runs it.
//  2. The timer fires at the deadline, at most once.
//  3. Stopped when the request has ended; a timer that fires at that moment ends by itself.
//
// Thread rule: thread-safe, but stopped once.
// Failure rule: starting fails only with RESOURCE_EXHAUSTED.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_REQUEST_DEADLINE_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_REQUEST_DEADLINE_H_

#include "host_runtime/async/timer_queue.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/executor/request/request_context.h"

TFRT_API_BEGIN

typedef struct tfrt_request_deadline_s tfrt_request_deadline_t;

// Sets |*out_deadline| to one that watches over |request| (retained), with a timer of |timers|,
// whose clock is that of the request's deadline; to NULL if the request has none. |timers|
// outlives it. Thread-safe.
tfrt_status_t tfrt_request_deadline_start(tfrt_request_context_t* request,
                                          tfrt_timer_queue_t* timers,
                                          tfrt_request_deadline_t** out_deadline) TFRT_MUST_USE;

// Stops and frees |deadline|; NULL is allowed. Doesn't wait. Thread-safe.
void tfrt_request_deadline_stop(tfrt_request_deadline_t* deadline);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_REQUEST_REQUEST_DEADLINE_H_
