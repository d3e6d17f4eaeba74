// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/run_loop.h"

#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "host_runtime/base/macros.h"
#include "tools/coordinator/exit_code.h"

// The first reason stays.
static void tfrt_run_loop_cancel(tfrt_run_loop_t* loop, tfrt_status_code_t code,
                                 const char* message) {
  ++loop->cancel_count;
  if (!loop->cancelled) loop->cancelled = tfrt_status_create(code, "%s", message);
}

static void tfrt_run_loop_on_signal(void* self, int number) {
  (void)number;
  tfrt_run_loop_cancel(self, TFRT_STATUS_CANCELLED, "Cancelled");
}

static void tfrt_run_loop_on_limit(uv_timer_t* handle) {
  tfrt_run_loop_cancel(handle->data, TFRT_STATUS_DEADLINE_EXCEEDED,
                       "the time that --timeout gives is over");
  // A turn runs the timers that are due before it waits: without this it would wait although
  // something has happened, and for ever when no other timer is left.
  uv_stop(handle->loop);
}

static void tfrt_run_loop_on_alarm(uv_timer_t* handle) {
  tfrt_run_loop_t* loop = handle->data;
  loop->alarm_is_over = true;
  uv_stop(handle->loop);  // as above
}

static void tfrt_run_loop_on_news(uv_async_t* handle) { (void)handle; }

// libuv's initialisers fail only when the system is out of something.
static int tfrt_run_loop_open(tfrt_run_loop_t* loop, int64_t limit_ms) {
  int result = uv_loop_init(&loop->loop);
  if (result == 0) result = uv_async_init(&loop->loop, &loop->news, tfrt_run_loop_on_news);
  if (result == 0) result = uv_timer_init(&loop->loop, &loop->limit);
  if (result == 0) result = uv_timer_init(&loop->loop, &loop->alarm);
  if (result != 0) return result;
  loop->limit.data = loop;
  loop->alarm.data = loop;
  result = tfrt_stop_signals_initialize(&loop->signals, &loop->loop, tfrt_run_loop_on_signal, loop);
  if (result == 0 && limit_ms > 0) {
    result = uv_timer_start(&loop->limit, tfrt_run_loop_on_limit, (uint64_t)limit_ms, 0);
  }
  return result;
}

tfrt_status_t tfrt_run_loop_initialize(tfrt_run_loop_t* loop, int64_t limit_ms) {
  *loop = (tfrt_run_loop_t){0};
  int result = tfrt_run_loop_open(loop, limit_ms);
  if (result == 0) return NULL;
  // The process ends right after this, and what was opened with it.
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no event loop: %s",
                            uv_strerror(result));
}

void tfrt_run_loop_deinitialize(tfrt_run_loop_t* loop) {
  uv_handle_t* const handles[] = {(uv_handle_t*)&loop->news, (uv_handle_t*)&loop->limit,
                                  (uv_handle_t*)&loop->alarm};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(handles); ++i) uv_close(handles[i], NULL);
  tfrt_stop_signals_close(&loop->signals);
  uv_run(&loop->loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop->loop);
  tfrt_status_release(loop->cancelled);
}

void tfrt_run_loop_turn(tfrt_run_loop_t* loop) { uv_run(&loop->loop, UV_RUN_ONCE); }

void tfrt_run_loop_give_up(tfrt_run_loop_t* loop) {
  if (loop->cancelled) return;
  tfrt_run_loop_cancel(loop, TFRT_STATUS_DATA_LOSS, "can't write to the standard output");
}

void tfrt_run_loop_forget_cancel(tfrt_run_loop_t* loop) {
  tfrt_status_release(loop->cancelled);
  loop->cancelled = NULL;
  loop->cancel_count = 0;
}

void tfrt_run_loop_wake(tfrt_run_loop_t* loop) { uv_async_send(&loop->news); }

void tfrt_run_loop_start_alarm(tfrt_run_loop_t* loop, uint64_t delay_ms) {
  loop->alarm_is_over = false;
  uv_update_time(&loop->loop);
  uv_timer_start(&loop->alarm, tfrt_run_loop_on_alarm, delay_ms, 0);
}

// --- The bounded end -----------------------------------------------------------

static volatile sig_atomic_t tfrt_run_loop_code_of_alarm;

static void tfrt_run_loop_end_by_force(int number) {
  static const char said[] =
      "tfrt: ended at once; nobody read its output, or something still ran\n";
  struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
  if (poll(&out, 1, 0) == 1 && write(STDERR_FILENO, said, sizeof(said) - 1) < 0) {
    // Then nobody hears it.
  }
  _exit(number == SIGALRM ? tfrt_run_loop_code_of_alarm : TFRT_EXIT_CANCELLED);
}

void tfrt_run_loop_bound_end(tfrt_run_loop_t* loop, unsigned seconds) {
  signal(SIGALRM, tfrt_run_loop_end_by_force);
  tfrt_stop_signals_release(&loop->signals, tfrt_run_loop_end_by_force);
  uint64_t left_ms = 0;
  tfrt_run_loop_code_of_alarm = TFRT_EXIT_DEADLINE;
  if (loop->cancelled) {
    left_ms = (uint64_t)seconds * 1000;
    tfrt_run_loop_code_of_alarm = tfrt_exit_code_of_result(loop->cancelled);
  } else if (uv_is_active((uv_handle_t*)&loop->limit)) {
    left_ms = uv_timer_get_due_in(&loop->limit) + 1;
  }
  struct itimerval timer = {.it_value = {.tv_sec = (time_t)(left_ms / 1000),
                                         .tv_usec = (suseconds_t)(left_ms % 1000 * 1000)}};
  setitimer(ITIMER_REAL, &timer, NULL);
}
