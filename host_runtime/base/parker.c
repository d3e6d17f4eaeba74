// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/parker.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host_runtime/base/clock.h"
#include "host_runtime/base/sync.h"

// Longer than two threads on one processor need to take turns, and longer than a thread looks for
// work (on a virtual machine 15 to 40 us, with both switches). Shorter than the time slice that the
// system gives a working thread.
#define LONG_NS 60000

// About what is saved if a thread need not sleep and be woken.
#define SAVED_NS 4000

// By how much longer this thread has lingered than it should have, less what it has saved since by
// not lingering.
static _Thread_local int64_t debt_ns;

enum { EMPTY = 0, NOTIFIED = 1, PARKED = 2 };

// |timeout|: relative; NULL: none.
static void sleep_on(tfrt_parker_t* parker, const struct timespec* timeout) {
  // Returns at once if the state is not PARKED any more; also for a signal, or for nothing.
  syscall(SYS_futex, &parker->state, FUTEX_WAIT_PRIVATE, PARKED, timeout, NULL, 0);
}

void tfrt_parker_wait(tfrt_parker_t* parker) {
  uint32_t state = EMPTY;
  // Acquire, here and below: what the waking thread did; partner of the exchange in wake.
  if (atomic_compare_exchange_strong_explicit(&parker->state, &state, PARKED, memory_order_acquire,
                                              memory_order_acquire)) {
    while (atomic_load_explicit(&parker->state, memory_order_acquire) == PARKED) {
      sleep_on(parker, NULL);
    }
  }
  // Relaxed: NOTIFIED stays until the owner, this thread, takes it.
  atomic_store_explicit(&parker->state, EMPTY, memory_order_relaxed);
}

bool tfrt_parker_wait_for(tfrt_parker_t* parker, int64_t timeout_ns) {
  const int64_t end = tfrt_clock_now_ns(tfrt_clock_system()) + timeout_ns;
  uint32_t state = EMPTY;
  // Acquire, here and below: as in wait.
  if (atomic_compare_exchange_strong_explicit(&parker->state, &state, PARKED, memory_order_acquire,
                                              memory_order_acquire)) {
    int64_t left = timeout_ns;
    while (left > 0 && atomic_load_explicit(&parker->state, memory_order_acquire) == PARKED) {
      const struct timespec time = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
      sleep_on(parker, &time);
      left = end - tfrt_clock_now_ns(tfrt_clock_system());
    }
    state = PARKED;
    if (atomic_compare_exchange_strong_explicit(&parker->state, &state, EMPTY, memory_order_acquire,
                                                memory_order_acquire)) {
      return false;
    }
  }
  // Relaxed: as in wait.
  atomic_store_explicit(&parker->state, EMPTY, memory_order_relaxed);
  return true;
}

void tfrt_parker_wake(tfrt_parker_t* parker) {
  // Release: partner of the acquires in wait.
  if (atomic_exchange_explicit(&parker->state, NOTIFIED, memory_order_release) == PARKED) {
    syscall(SYS_futex, &parker->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
}

bool tfrt_parker_linger(void) {
  if (debt_ns > 0) {
    debt_ns -= SAVED_NS;
    return false;
  }
  const int64_t begin = tfrt_clock_now_ns(tfrt_clock_system());
  tfrt_thread_yield();
  const int64_t elapsed = tfrt_clock_now_ns(tfrt_clock_system()) - begin;
  if (elapsed < LONG_NS) return true;
  debt_ns = elapsed;
  return false;
}
