// SPDX-License-Identifier: Apache-2.0
//
// The event loop in which the coordinator's main thread waits. It takes signals, the time limit,
// ends of child processes, and wake-ups from other threads.
//
//   initialize -> { turn ... } -> deinitialize
//                    ^ wake (any thread), SIGINT, SIGTERM, the limit, the alarm, children
//       while the main thread can't turn it: begin_blocking -> end_blocking
//       when there is nothing left to cancel: bound_end
//
// Signals and the limit only set fields, which the code around turn() reads. So each step of a run
// decides what a cancel means for it.
//
// Life: as above; handles of others on |loop| are closed before deinitialize.
//
// Thread rule: main thread only, but for tfrt_run_loop_wake() and tfrt_run_loop_post_give_up().
// Failure rule: only initialize fails: RESOURCE_EXHAUSTED.
#ifndef TFRT_TOOLS_COORDINATOR_RUN_LOOP_H_
#define TFRT_TOOLS_COORDINATOR_RUN_LOOP_H_

#include <stdatomic.h>
#include <uv.h>

#include "host_runtime/base/status.h"
#include "tools/process/stop_signals.h"

// After a cancel, what runs has this long to end; then it is left alone.
#define TFRT_RUN_LOOP_GRACE_MS 5000

// After a cancelled run, the report has this long, and all that comes behind it that long again.
#define TFRT_RUN_LOOP_REPORT_SECONDS 3
#define TFRT_RUN_LOOP_END_SECONDS 10

typedef struct tfrt_run_loop_s {
  uv_loop_t loop;
  uv_async_t news;
  tfrt_stop_signals_t signals;
  uv_timer_t limit;
  uv_timer_t alarm;
  tfrt_status_t cancelled;  // +1; why the run shall end early, or NULL
  uint32_t cancel_count;    // signals, and 1 for the limit
  bool alarm_is_over;
  atomic_bool is_given_up;  // by any thread; the next turn cancels the run
} tfrt_run_loop_t;

// Makes |loop| ready. SIGINT and SIGTERM are events of it from now on. The limit comes after
// |limit_ms| milliseconds; 0: never. Main thread only, before there are others.
tfrt_status_t tfrt_run_loop_initialize(tfrt_run_loop_t* loop, int64_t limit_ms) TFRT_MUST_USE;

// Closes |loop|. Main thread only.
void tfrt_run_loop_deinitialize(tfrt_run_loop_t* loop);

// Waits until anything happens, and takes note of it. Main thread only.
void tfrt_run_loop_turn(tfrt_run_loop_t* loop);

// Begins a stretch, up to tfrt_run_loop_end_blocking(), that may block, for example in reading a
// pipe, and that needs no orderly end. In it SIGINT and SIGTERM end the process at once, with exit
// code TFRT_EXIT_CANCELLED; so do those that came since the last turn. The limit ends it with
// TFRT_EXIT_DEADLINE. The reason goes to the standard error and, with |is_json|, as an object to
// the standard output. Main thread only, before bound_end.
void tfrt_run_loop_begin_blocking(tfrt_run_loop_t* loop, bool is_json);

// Signals and the limit are events of |loop| again. Main thread only, after begin_blocking.
void tfrt_run_loop_end_blocking(tfrt_run_loop_t* loop);

// The run is over; what is left to do (printing, shutting down) may take long, since somebody
// else may not read or not answer. From now on SIGINT and SIGTERM end the process at once, with
// exit code TFRT_EXIT_CANCELLED; so does the limit, with TFRT_EXIT_DEADLINE; and if the run was
// cancelled, the end of |seconds| with the code of that. May be called again, for more time. Main
// thread only.
void tfrt_run_loop_bound_end(tfrt_run_loop_t* loop, unsigned seconds);

// Cancels the run because its output goes nowhere; if it is cancelled already, does nothing. Main
// thread only.
void tfrt_run_loop_give_up(tfrt_run_loop_t* loop);

// Cancels the run because of |reason| (+0); if it is cancelled already, does nothing. Main thread
// only.
void tfrt_run_loop_end_early(tfrt_run_loop_t* loop, tfrt_status_t reason);

// Lets the turn that runs, or the next, give up. Thread-safe.
void tfrt_run_loop_post_give_up(tfrt_run_loop_t* loop);

// Goes on as if nobody had cancelled so far. Main thread only.
void tfrt_run_loop_forget_cancel(tfrt_run_loop_t* loop);

// Lets a turn end, this one or the next. Thread-safe.
void tfrt_run_loop_wake(tfrt_run_loop_t* loop);

// Sets |alarm_is_over| after |delay_ms| milliseconds; starting it again moves it. Main thread
// only.
void tfrt_run_loop_start_alarm(tfrt_run_loop_t* loop, uint64_t delay_ms);

#endif  // TFRT_TOOLS_COORDINATOR_RUN_LOOP_H_
