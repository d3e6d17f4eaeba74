// SPDX-License-Identifier: Apache-2.0
#include "tools/executor/end_watch.h"

#include <stdio.h>
#include <stdlib.h>

#include "host_runtime/base/clock.h"
#include "host_runtime/executor/call/running_kernel.h"

// More threads in a kernel are not looked at.
#define TFRT_END_WATCH_MAX_THREADS 64

// Prints a kernel of the function that is still running, if there is one, as the end of the line.
static bool end_watch_tell_running(const tfrt_end_watch_t* watch) {
  tfrt_running_kernel_thread_t threads[TFRT_END_WATCH_MAX_THREADS];
  size_t count = tfrt_running_kernel_list(threads, TFRT_END_WATCH_MAX_THREADS);
  for (size_t i = 0; i < count; ++i) {
    const tfrt_kernel_site_t* site =
        tfrt_program_find_site(watch->function->program, threads[i].site);
    if (!site) continue;
    tfrt_status_origin_t origin;
    tfrt_kernel_site_origin(site, &origin);
    fprintf(stderr, "kernel '%s' is still running", origin.kernel);
    if (origin.line > 0) fprintf(stderr, " (%s:%u:%u)", origin.file, origin.line, origin.column);
    return true;
  }
  return false;
}

static bool end_watch_tell_result(const tfrt_end_watch_t* watch) {
  for (uint32_t i = 0; watch->results && i < watch->function->result_count; ++i) {
    if (tfrt_async_value_is_available(watch->results[i])) continue;
    fprintf(stderr, "its result %u is not there: a kernel never resolved its result", i);
    return true;
  }
  return false;
}

static void end_watch_on_time(tfrt_timer_t* timer) {
  tfrt_end_watch_t* watch = TFRT_CONTAINER_OF(timer, tfrt_end_watch_t, timer);
  // Kept until the end, so that the results are not released meanwhile.
  tfrt_mutex_lock(&watch->mutex);
  fflush(stdout);
  fprintf(stderr, "%s: DEADLINE_EXCEEDED: function '%s' has not ended %d s after its deadline: ",
          watch->tool, watch->function->name, TFRT_END_WATCH_GRACE_MS / 1000);
  if (!end_watch_tell_running(watch) && !end_watch_tell_result(watch)) {
    fputs("a kernel whose result it doesn't return never resolved it", stderr);
  }
  fputc('\n', stderr);
  fflush(NULL);
  // Nothing is torn down: the main thread is in the middle of it.
  _Exit(watch->exit_code);
}

void tfrt_end_watch_initialize(tfrt_end_watch_t* watch) {
  *watch = (tfrt_end_watch_t){.timers = NULL};
  tfrt_mutex_initialize(&watch->mutex);
}

void tfrt_end_watch_start(tfrt_end_watch_t* watch, tfrt_timer_queue_t* timers,
                          const tfrt_function_t* function, int64_t deadline_ns, const char* tool,
                          int exit_code) {
  watch->timers = timers;
  watch->tool = tool;
  watch->function = function;
  watch->exit_code = exit_code;
  int64_t end_ns = tfrt_deadline_after(
      deadline_ns, (int64_t)TFRT_END_WATCH_GRACE_MS * TFRT_NANOSECONDS_PER_MILLISECOND);
  tfrt_timer_start(timers, &watch->timer, end_ns, end_watch_on_time);
}

void tfrt_end_watch_set_results(tfrt_end_watch_t* watch, tfrt_async_value_t* const* results) {
  tfrt_mutex_lock(&watch->mutex);
  watch->results = results;
  tfrt_mutex_unlock(&watch->mutex);
}

void tfrt_end_watch_stop(tfrt_end_watch_t* watch) {
  if (!watch->timers) return;
  if (!tfrt_timer_cancel(watch->timers, &watch->timer)) {
    // It is ending the process, and reads |watch|: its thread never comes back.
    tfrt_timer_queue_deinitialize(watch->timers);
  }
  watch->timers = NULL;
}
