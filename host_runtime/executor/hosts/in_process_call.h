// SPDX-License-Identifier: Apache-2.0
//
// A call from one host of this process to another (in_process_hosts.h). It runs in a request of its
// own, below that of the caller, as on a cluster: a cancel of the caller's request ends it and what
// it calls in its turn; a cancel within the call ends nothing outside.
//
//   request of the caller --cancel--> request of the call --cancel--> requests of its calls ...
//
// Life:
//  1. Executed: the function runs on the calling thread, as any call does.
//  2. Over when everything that it started is; the scope around it is left then.
//
// Calls may nest to any depth: neither their cancel nor their end goes down the stack of a thread.
//
// Thread rule: thread-safe.
// Failure rule: without memory the results are errors.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_IN_PROCESS_CALL_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_IN_PROCESS_CALL_H_

#include "host_runtime/executor/request/call_router.h"
#include "host_runtime/executor/request/output.h"

// Runs |call| on the host of |router| and |output|, which outlive everything that it starts.
// Thread-safe.
void tfrt_in_process_call_execute(const tfrt_routed_call_t* call, tfrt_call_router_t* router,
                                  tfrt_output_t* output, tfrt_allocator_t allocator);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_HOSTS_IN_PROCESS_CALL_H_
