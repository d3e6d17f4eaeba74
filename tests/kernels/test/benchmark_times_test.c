// SPDX-License-Identifier: Apache-2.0
#include "kernels/test/benchmark_times.h"

#include <time.h>

#include "tests/support/test_main.h"

#define BURN_NS 3000000

static int64_t processor_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// A clock that takes long to read, and shows nothing of that.
static int64_t burn(void* self) {
  int64_t end = processor_ns() + BURN_NS;
  while (processor_ns() < end) continue;
  return ++*(int64_t*)self;
}

START_TEST(the_wall_clock_is_read_closest_to_the_run) {
  static const tfrt_clock_vtable_t vtable = {burn};
  int64_t ticks = 0;
  tfrt_test_benchmark_times_t times;
  ck_assert(
      tfrt_test_benchmark_times_initialize(&times, (tfrt_clock_t){&vtable, &ticks}, 10, 4, 0));
  tfrt_test_benchmark_times_start(&times);
  ck_assert(tfrt_test_benchmark_times_end(&times));
  // One reading apart, with both within the processor's time.
  ck_assert_int_eq(times.wall_ns[0], 1);
  ck_assert_int_ge(times.cpu_ns[0], 2 * BURN_NS);
  tfrt_test_benchmark_times_deinitialize(&times);
}
END_TEST

START_TEST(runs_to_warm_up_are_not_counted) {
  tfrt_test_benchmark_times_t times;
  ck_assert(tfrt_test_benchmark_times_initialize(&times, tfrt_clock_system(), 1000, 2, 3));
  for (int i = 0; i < 4; ++i) {
    tfrt_test_benchmark_times_start(&times);
    ck_assert(tfrt_test_benchmark_times_end(&times));
  }
  ck_assert_int_eq(times.count, 1);
  tfrt_test_benchmark_times_start(&times);
  ck_assert(!tfrt_test_benchmark_times_end(&times));
  tfrt_test_benchmark_times_deinitialize(&times);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("benchmark_times");
  tcase_add_test(cases, the_wall_clock_is_read_closest_to_the_run);
  tcase_add_test(cases, runs_to_warm_up_are_not_counted);
  Suite* suite = suite_create("benchmark_times");
  suite_add_tcase(suite, cases);
  return suite;
}
