// SPDX-License-Identifier: Apache-2.0
//
// A run without a cluster: the function runs in this process, on a work queue of its own.
//
//   main thread: loop <--- results ---+
//        | cancel                     |
//        v                            |
//     request -------> function on the work queue
//
// Thread rule: main thread only.
// Failure rule: results are errors; only the set-up of the host fails.
#ifndef TFRT_TOOLS_COORDINATOR_IN_PROCESS_RUN_H_
#define TFRT_TOOLS_COORDINATOR_IN_PROCESS_RUN_H_

#include "host_runtime/host_context.h"
#include "tools/coordinator/run_loop.h"
#include "tools/coordinator/run_plan.h"

// Sets |*out_host| to a host with a pool of threads as |options| say, which knows all
// kernels. Main thread only.
tfrt_status_t tfrt_in_process_run_make_host(const tfrt_run_options_t* options,
                                            tfrt_host_context_t** out_host) TFRT_MUST_USE;

// Checks that |host| has the devices that calls of |plan| are placed on, on any of |host_count|
// hosts; the first error says which one it lacks. May block. Main thread only.
tfrt_status_t tfrt_in_process_run_check_devices(tfrt_host_context_t* host,
                                                const tfrt_run_plan_t* plan, uint32_t host_count)
    TFRT_MUST_USE;

// Calls |plan|'s function on |host|, and sets its results. Returns when these are resolved and all
// work is over. With |host_count| > 0 this process is that many hosts (in_process_hosts.h), and the
// function runs on the first; 0: one host that takes all calls. Adds the spans of the run to
// |trace|, unless that is NULL. A cancel of |loop| cancels the request. A kernel may ignore that:
// after a second cancel, or when the grace is over, |*out_is_abandoned| is set. Results that are
// still unknown are then the reason of the cancel. The caller ends the process without freeing
// anything, since threads still use it. Main thread only, once.
tfrt_status_t tfrt_in_process_run(tfrt_host_context_t* host, tfrt_run_plan_t* plan,
                                  uint32_t host_count, tfrt_trace_t* trace, tfrt_run_loop_t* loop,
                                  bool* out_is_abandoned) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_COORDINATOR_IN_PROCESS_RUN_H_
