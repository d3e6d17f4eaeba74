// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/clock.h"

#include <stddef.h>
#include <time.h>

static int64_t read_clock(clockid_t id) {
  // Can't fail: both clocks that are read here exist on every Linux.
  struct timespec time = {0};
  clock_gettime(id, &time);
  return (int64_t)time.tv_sec * TFRT_NANOSECONDS_PER_SECOND + time.tv_nsec;
}

static int64_t system_now_ns(void* self) {
  (void)self;
  return read_clock(CLOCK_MONOTONIC);
}

tfrt_clock_t tfrt_clock_system(void) {
  static const tfrt_clock_vtable_t vtable = {.now_ns = system_now_ns};
  return (tfrt_clock_t){&vtable, NULL};
}

int64_t tfrt_deadline_after(int64_t now_ns, int64_t budget_ns) {
  int64_t deadline = 0;
  if (budget_ns <= 0) return now_ns;
  if (__builtin_add_overflow(now_ns, budget_ns, &deadline)) return TFRT_TIME_INFINITE;
  return deadline;
}

int64_t tfrt_wall_time_ns(void) { return read_clock(CLOCK_REALTIME); }
