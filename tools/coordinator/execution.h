// SPDX-License-Identifier: Apache-2.0
//
// One run of a function in this process, under an event loop that listens to signals and
// to the clock meanwhile.
//
//   start --> work queue ... --results--> loop ends
//               ^ cancel: SIGINT, SIGTERM, timeout
//
// Thread rule: main thread only. Failure rule: results are errors; only the loop's own
// set-up fails.
#ifndef TFRT_TOOLS_COORDINATOR_EXECUTION_H_
#define TFRT_TOOLS_COORDINATOR_EXECUTION_H_

#include "host_runtime/executor/function.h"
#include "host_runtime/host_context.h"

// Calls |function| on |host| for |request| with |arguments| (+0), waits until its results,
// set to |results| (+1), are resolved, and returns. SIGINT and SIGTERM cancel the request,
// and so do |timeout_ms| milliseconds, if that isn't 0. Main thread only.
tfrt_status_t tfrt_execution_run(tfrt_host_context_t* host, tfrt_request_context_t* request,
                                 const tfrt_function_t* function,
                                 tfrt_async_value_t* const* arguments, int64_t timeout_ms,
                                 tfrt_async_value_t** results) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_COORDINATOR_EXECUTION_H_
