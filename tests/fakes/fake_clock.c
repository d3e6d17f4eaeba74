// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_clock.h"

// All operations are sequentially consistent: a test's threads should see one order,
// and nobody measures this.

static int64_t fake_now_ns(void* self) { return atomic_load(&((tfrt_fake_clock_t*)self)->now_ns); }

void tfrt_fake_clock_initialize(tfrt_fake_clock_t* clock, int64_t now_ns) {
  atomic_init(&clock->now_ns, now_ns);
}

tfrt_clock_t tfrt_fake_clock_interface(tfrt_fake_clock_t* clock) {
  static const tfrt_clock_vtable_t vtable = {.now_ns = fake_now_ns};
  return (tfrt_clock_t){&vtable, clock};
}

void tfrt_fake_clock_advance(tfrt_fake_clock_t* clock, int64_t duration_ns) {
  atomic_fetch_add(&clock->now_ns, duration_ns);
}

void tfrt_fake_clock_advance_to(tfrt_fake_clock_t* clock, int64_t now_ns) {
  int64_t seen = atomic_load(&clock->now_ns);
  while (seen < now_ns && !atomic_compare_exchange_weak(&clock->now_ns, &seen, now_ns)) {
  }
}
