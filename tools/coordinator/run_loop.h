// SPDX-License-Identifier: Apache-2.0
//
// What the coordinator's main thread waits in: an event loop that takes signals, the time
// limit, child processes, and news from other threads.
//
//   initialize -> { turn ... } -> deinitialize
//                    ^ wake (any thread), SIGINT, SIGTERM, the limit, the alarm, children
//
// Signals and the limit only leave a note, which the code around turn() reads: so every
// step of a run says itself what a cancel means for it.
//
// Life: as above; handles of others on |loop| are closed before deinitialize.
//
// Thread rule: main thread only, but for tfrt_run_loop_wake().
// Failure rule: only initialize fails: RESOURCE_EXHAUSTED.
#ifndef TFRT_TOOLS_COORDINATOR_RUN_LOOP_H_
#define TFRT_TOOLS_COORDINATOR_RUN_LOOP_H_

#include <uv.h>

#include "host_runtime/base/status.h"

typedef struct tfrt_run_loop_s {
  uv_loop_t loop;
  uv_async_t news;
  uv_signal_t interrupt;
  uv_signal_t terminate;
  uv_timer_t limit;
  uv_timer_t alarm;
  tfrt_status_t cancelled;  // +1; why the run shall end early, or NULL
  uint32_t cancel_count;    // signals, and 1 for the limit
  bool alarm_is_over;
} tfrt_run_loop_t;

// Makes |loop| ready. SIGINT and SIGTERM are caught from now on. The limit comes after
// |limit_ms| milliseconds; 0: never. Main thread only.
tfrt_status_t tfrt_run_loop_initialize(tfrt_run_loop_t* loop, int64_t limit_ms) TFRT_MUST_USE;

// Closes |loop|. Main thread only.
void tfrt_run_loop_deinitialize(tfrt_run_loop_t* loop);

// Waits until anything happens, and takes note of it. Main thread only.
void tfrt_run_loop_turn(tfrt_run_loop_t* loop);

// Lets a turn end, this one or the next. Thread-safe.
void tfrt_run_loop_wake(tfrt_run_loop_t* loop);

// Sets |alarm_is_over| after |delay_ms| milliseconds; starting it again moves it. Main thread
// only.
void tfrt_run_loop_start_alarm(tfrt_run_loop_t* loop, uint64_t delay_ms);

#endif  // TFRT_TOOLS_COORDINATOR_RUN_LOOP_H_
