// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/run_loop.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "host_runtime/base/macros.h"
#include "tools/coordinator/exit_code.h"
#include "tools/process/descriptors.h"
#include "tools/process/standard_streams.h"

// The first reason stays.
static void run_loop_cancel(tfrt_run_loop_t* loop, tfrt_status_code_t code, const char* message) {
  ++loop->cancel_count;
  if (!loop->cancelled) loop->cancelled = tfrt_status_create(code, "%s", message);
}

static void run_loop_on_signal(void* self, int number) {
  char reason[64];
  snprintf(reason, sizeof(reason), "Cancelled by SIG%s", sigabbrev_np(number));
  run_loop_cancel(self, TFRT_STATUS_CANCELLED, reason);
}

static void run_loop_on_limit(uv_timer_t* handle) {
  run_loop_cancel(handle->data, TFRT_STATUS_DEADLINE_EXCEEDED,
                  "the time that --timeout gives is over");
  // A turn runs the timers that are due before it waits: without this it would wait although
  // something has happened, and for ever when no other timer is left.
  uv_stop(handle->loop);
}

static void run_loop_on_alarm(uv_timer_t* handle) {
  tfrt_run_loop_t* loop = handle->data;
  loop->alarm_is_over = true;
  uv_stop(handle->loop);  // as above
}

static void run_loop_on_news(uv_async_t* handle) {
  tfrt_run_loop_t* loop = handle->data;
  // Pairs with the store in tfrt_run_loop_post_give_up().
  if (atomic_exchange_explicit(&loop->is_given_up, false, memory_order_acquire)) {
    tfrt_run_loop_give_up(loop);
  }
}

// libuv's initialisers fail only when the system is out of something.
static int run_loop_open(tfrt_run_loop_t* loop, int64_t limit_ms) {
  int result = uv_loop_init(&loop->loop);
  if (result == 0) result = uv_async_init(&loop->loop, &loop->news, run_loop_on_news);
  if (result == 0) result = uv_timer_init(&loop->loop, &loop->limit);
  if (result == 0) result = uv_timer_init(&loop->loop, &loop->alarm);
  if (result != 0) return result;
  loop->news.data = loop;
  loop->limit.data = loop;
  loop->alarm.data = loop;
  result = tfrt_stop_signals_initialize(&loop->signals, &loop->loop, run_loop_on_signal, loop);
  if (result == 0 && limit_ms > 0) {
    result = uv_timer_start(&loop->limit, run_loop_on_limit, (uint64_t)limit_ms, 0);
  }
  return result;
}

tfrt_status_t tfrt_run_loop_initialize(tfrt_run_loop_t* loop, int64_t limit_ms) {
  *loop = (tfrt_run_loop_t){0};
  TFRT_RETURN_IF_ERROR(tfrt_descriptors_check());
  int result = run_loop_open(loop, limit_ms);
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
  char reason[128];
  const char* cause = tfrt_standard_streams_cause();
  snprintf(reason, sizeof(reason), "can't write to the standard output%s%s", cause[0] ? ": " : "",
           cause);
  run_loop_cancel(loop, TFRT_STATUS_DATA_LOSS, reason);
}

void tfrt_run_loop_end_early(tfrt_run_loop_t* loop, tfrt_status_t reason) {
  if (!loop->cancelled) loop->cancelled = tfrt_status_retain(reason);
}

void tfrt_run_loop_post_give_up(tfrt_run_loop_t* loop) {
  // Pairs with the exchange in run_loop_on_news().
  atomic_store_explicit(&loop->is_given_up, true, memory_order_release);
  tfrt_run_loop_wake(loop);
}

void tfrt_run_loop_forget_cancel(tfrt_run_loop_t* loop) {
  tfrt_status_release(loop->cancelled);
  loop->cancelled = NULL;
  loop->cancel_count = 0;
  atomic_store_explicit(&loop->is_given_up, false, memory_order_relaxed);
}

void tfrt_run_loop_wake(tfrt_run_loop_t* loop) { uv_async_send(&loop->news); }

void tfrt_run_loop_start_alarm(tfrt_run_loop_t* loop, uint64_t delay_ms) {
  loop->alarm_is_over = false;
  uv_update_time(&loop->loop);
  uv_timer_start(&loop->alarm, run_loop_on_alarm, delay_ms, 0);
}

// --- Ends of the process -------------------------------------------------------

static volatile sig_atomic_t tfrt_run_loop_code_of_alarm;

// Whether a signal that ends a blocking stretch is reported on the standard output, too.
static volatile sig_atomic_t tfrt_run_loop_speaks_json;

// For a signal handler: drops the text if the descriptor can't take it at once.
static void run_loop_say(int descriptor, const char* text) {
  struct pollfd out = {.fd = descriptor, .events = POLLOUT};
  if (poll(&out, 1, 0) == 1 && write(descriptor, text, strlen(text)) < 0) {
    // Then nobody hears it.
  }
}

static void run_loop_end_by_force(int number) {
  run_loop_say(STDERR_FILENO,
               "tfrt: ended at once; nobody read its output, or something still ran\n");
  _exit(number == SIGALRM ? tfrt_run_loop_code_of_alarm : TFRT_EXIT_CANCELLED);
}

// A handler may not format: so the texts are whole, as tfrt_run_report_failure() would print them.
#define TFRT_RUN_LOOP_LATE "the time that --timeout gives is over, before the program ran"
#define TFRT_RUN_LOOP_STOPPED "Cancelled before the program ran"
#define TFRT_RUN_LOOP_LINE(code, message) "tfrt: " code ": " message "\n"
#define TFRT_RUN_LOOP_JSON(code, message) \
  "{\"error\":{\"code\":\"" code "\",\"message\":\"" message "\"}}\n"

// Takes what comes in a stretch that blocks.
static void run_loop_end_blocked(int number) {
  bool is_late = number == SIGALRM;
  run_loop_say(STDERR_FILENO, is_late ? TFRT_RUN_LOOP_LINE("DEADLINE_EXCEEDED", TFRT_RUN_LOOP_LATE)
                                      : TFRT_RUN_LOOP_LINE("CANCELLED", TFRT_RUN_LOOP_STOPPED));
  if (tfrt_run_loop_speaks_json) {
    run_loop_say(STDOUT_FILENO, is_late
                                    ? TFRT_RUN_LOOP_JSON("DEADLINE_EXCEEDED", TFRT_RUN_LOOP_LATE)
                                    : TFRT_RUN_LOOP_JSON("CANCELLED", TFRT_RUN_LOOP_STOPPED));
  }
  _exit(is_late ? TFRT_EXIT_DEADLINE : TFRT_EXIT_CANCELLED);
}

// 0: no alarm.
static void run_loop_set_process_alarm(uint64_t delay_ms) {
  struct itimerval timer = {.it_value = {.tv_sec = (time_t)(delay_ms / 1000),
                                         .tv_usec = (suseconds_t)(delay_ms % 1000 * 1000)}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

// The milliseconds until the limit, at least 1; 0: there is none.
static uint64_t run_loop_left_ms(tfrt_run_loop_t* loop) {
  if (!uv_is_active((uv_handle_t*)&loop->limit)) return 0;
  uv_update_time(&loop->loop);
  return uv_timer_get_due_in(&loop->limit) + 1;
}

void tfrt_run_loop_begin_blocking(tfrt_run_loop_t* loop, bool is_json) {
  tfrt_run_loop_speaks_json = is_json;
  signal(SIGALRM, run_loop_end_blocked);
  tfrt_stop_signals_lend(run_loop_end_blocked);
  run_loop_set_process_alarm(run_loop_left_ms(loop));
}

void tfrt_run_loop_end_blocking(tfrt_run_loop_t* loop) {
  (void)loop;
  run_loop_set_process_alarm(0);
  tfrt_stop_signals_take_back();
}

void tfrt_run_loop_bound_end(tfrt_run_loop_t* loop, unsigned seconds) {
  signal(SIGALRM, run_loop_end_by_force);
  tfrt_stop_signals_release(&loop->signals, run_loop_end_by_force);
  uint64_t left_ms = 0;
  tfrt_run_loop_code_of_alarm = TFRT_EXIT_DEADLINE;
  if (loop->cancelled) {
    left_ms = (uint64_t)seconds * 1000;
    tfrt_run_loop_code_of_alarm = tfrt_exit_code_of_result(loop->cancelled);
  } else {
    left_ms = run_loop_left_ms(loop);
  }
  run_loop_set_process_alarm(left_ms);
}
