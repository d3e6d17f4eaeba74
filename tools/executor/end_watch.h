// SPDX-License-Identifier: Apache-2.0
//
// Ends a process whose function never ends. A deadline cancels a request: nothing of it starts any
// more. But a running kernel is not stopped, and its value may never come; then the waiters of that
// value would wait forever. The watch waits for a bounded time only:
//
//   start ... deadline ... deadline + TFRT_END_WATCH_GRACE_MS: one line to stderr, exit
//     |          '- the request is cancelled                    (what the run printed is kept)
//     '------- stop: the function has ended, nothing happens
//
// Life of a watch: initialised; started before a call, given its results while there are any to
// look at, and stopped when all of the call is over; then it may be started again.
//
// Thread rule: thread-compatible; the timer queue has a thread of its own, on which the end comes.
// Failure rule: nothing here fails.
#ifndef TFRT_TOOLS_EXECUTOR_END_WATCH_H_
#define TFRT_TOOLS_EXECUTOR_END_WATCH_H_

#include "host_runtime/async/async_value.h"
#include "host_runtime/async/timer_queue.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/executor/program/program.h"

// Running kernels have this long to end after the deadline: as long as `tfrt run` gives them.
#define TFRT_END_WATCH_GRACE_MS 5000

typedef struct tfrt_end_watch_s {
  tfrt_timer_t timer;
  tfrt_timer_queue_t* timers;
  const char* tool;  // that the line begins with
  const tfrt_function_t* function;
  int exit_code;
  tfrt_mutex_t mutex;  // guards |results|; stays locked by the thread that ends the process
  tfrt_async_value_t* const* results;  // +0; NULL: there are none to look at
} tfrt_end_watch_t;

// Makes |watch| one that watches nothing; it lives as long as the process. Thread-compatible.
void tfrt_end_watch_initialize(tfrt_end_watch_t* watch);

// Watches a call of |function| (+0), whose deadline is |deadline_ns|, until tfrt_end_watch_stop().
// |timers| (+0) has a thread. |tool| and |exit_code| are the program's. Thread-compatible.
void tfrt_end_watch_start(tfrt_end_watch_t* watch, tfrt_timer_queue_t* timers,
                          const tfrt_function_t* function, int64_t deadline_ns, const char* tool,
                          int exit_code);

// The call has returned the function's |results| (+0, alive until this is called again), in any
// state; NULL: there are none any more. Doesn't return if the process is about to end.
// Thread-compatible.
void tfrt_end_watch_set_results(tfrt_end_watch_t* watch, tfrt_async_value_t* const* results);

// Ends the watch; does nothing if it was never started. If the time is up just now, this doesn't
// return. Thread-compatible.
void tfrt_end_watch_stop(tfrt_end_watch_t* watch);

#endif  // TFRT_TOOLS_EXECUTOR_END_WATCH_H_
