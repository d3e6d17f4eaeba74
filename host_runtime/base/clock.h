// SPDX-License-Identifier: Apache-2.0
//
// The time, behind an interface, so that code that waits, times out or measures can be tested with
// a clock that a test moves by hand.
//
// Times are signed 64-bit counts of nanoseconds. A clock is monotonic: it never goes
// back and its zero has no meaning, so that times of two clocks, or of two hosts, are
// never compared; only a *budget*, a difference, may travel.
//
// Life:
//  1. Taken from tfrt_clock_system(), or made by a test, and passed by value.
//  2. Stored by each object that needs the time. |self| outlives all of them.
//
// Thread rule: every clock is thread-safe.
// Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_BASE_CLOCK_H_
#define TFRT_HOST_RUNTIME_BASE_CLOCK_H_

#include <stdint.h>

#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

// "Never", as a deadline.
#define TFRT_TIME_INFINITE INT64_MAX

#define TFRT_NANOSECONDS_PER_MICROSECOND INT64_C(1000)
#define TFRT_NANOSECONDS_PER_MILLISECOND INT64_C(1000000)
#define TFRT_NANOSECONDS_PER_SECOND INT64_C(1000000000)

typedef struct tfrt_clock_vtable_s {
  // The time in nanoseconds; never less than a time that any thread has read before.
  int64_t (*now_ns)(void* self);
} tfrt_clock_vtable_t;

typedef struct tfrt_clock_s {
  const tfrt_clock_vtable_t* vtable;
  void* self;  // the clock's own state; outlives its users
} tfrt_clock_t;

// The monotonic clock of the system, the one that conditions wait by. Thread-safe.
tfrt_clock_t tfrt_clock_system(void);

// The time of |clock|, in nanoseconds. Thread-safe.
static inline int64_t tfrt_clock_now_ns(tfrt_clock_t clock) {
  return clock.vtable->now_ns(clock.self);
}

// The time |budget_ns| after |now_ns|, or TFRT_TIME_INFINITE if that is out of range; a
// negative budget counts as 0. Thread-safe.
int64_t tfrt_deadline_after(int64_t now_ns, int64_t budget_ns);

// Nanoseconds since 1970 by the wall clock, which may jump: only to be shown to people
// (logs, traces). Thread-safe.
int64_t tfrt_wall_time_ns(void);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_CLOCK_H_
