// SPDX-License-Identifier: Apache-2.0
//
// Runs functions of a program one after the other on this host, and prints of each what TFRT's
// bef_executor prints: that it runs, and what it returns.
//
//   function --request, its deadline--> call --> all of it is over --> one line of results
//
// Thread rule: thread-compatible; runs on the thread that calls.
// Failure rule: status, for what is wrong with the host or with how a kernel counts. An error of
// the function is its result, and printed.
#ifndef TFRT_TOOLS_EXECUTOR_FUNCTION_RUNNER_H_
#define TFRT_TOOLS_EXECUTOR_FUNCTION_RUNNER_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/metrics.h"
#include "host_runtime/executor/kernel/function.h"
#include "host_runtime/host_context.h"
#include "tools/executor/end_watch.h"
#include "tools/executor/scope_printer.h"

typedef struct tfrt_function_runner_s {
  tfrt_host_context_t* host;
  tfrt_scope_printer_t* scopes;  // told of what runs
  tfrt_trace_t* profile;         // gets each kernel; NULL: none
  tfrt_timer_queue_t* timers;    // with a thread, if there is a deadline
  int64_t deadline_ms;           // for each function; 0: none
  int64_t most_open_calls;       // in a function; 0: no limit
  bool print_error_code;         // with an error that is a result
  tfrt_histogram_t* seconds;     // gets the time of each run, in seconds
  const char* tool;              // whose name and
  int exit_code;                 // code the end has, if a function goes on after its deadline
  tfrt_end_watch_t end_watch;    // of the function that runs; the runner's own
} tfrt_function_runner_t;

// Calls |function|, which has no arguments, prints its results, and returns when all of it is over.
// Fails if it leaves more or fewer AsyncValues than there were.
tfrt_status_t tfrt_function_runner_run(tfrt_function_runner_t* runner,
                                       const tfrt_function_t* function);

#endif  // TFRT_TOOLS_EXECUTOR_FUNCTION_RUNNER_H_
