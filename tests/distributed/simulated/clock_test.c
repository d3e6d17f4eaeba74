// SPDX-License-Identifier: Apache-2.0
//
// Clocks of simulated processes that don't agree.
#include "tests/distributed/simulated/network.h"
#include "tests/support/test_main.h"

#define SECOND TFRT_NANOSECONDS_PER_SECOND
#define COUNT 4

static tfrt_simulated_network_t* network;
static tfrt_simulated_endpoint_t* endpoints[COUNT];

static void begin(int64_t offset_ns, int32_t drift_ppm) {
  tfrt_simulated_options_t options;
  tfrt_simulated_options_initialize(&options);
  options.clock_offset_ns = offset_ns;
  options.clock_drift_ppm = drift_ppm;
  network = tfrt_simulated_network_allocate(&options, tfrt_allocator_system());
  for (int i = 0; i < COUNT; ++i) {
    endpoints[i] = tfrt_simulated_network_add_endpoint(network, "n");
  }
}

static int64_t network_now_ns(void) {
  return tfrt_clock_now_ns(tfrt_simulated_network_clock(network));
}

static int64_t own_now_ns(int index) {
  return tfrt_clock_now_ns(tfrt_simulated_endpoint_timers(endpoints[index])->clock);
}

// A timer that notes when it ran, by both clocks.
typedef struct noted_s {
  tfrt_timer_t timer;
  int index;
  int64_t own_ns;
  int64_t network_ns;
} noted_t;

static void run_noted(tfrt_timer_t* timer) {
  noted_t* noted = TFRT_CONTAINER_OF(timer, noted_t, timer);
  noted->own_ns = own_now_ns(noted->index);
  noted->network_ns = network_now_ns();
}

START_TEST(clocks_agree_unless_they_are_told_not_to) {
  begin(0, 0);
  tfrt_simulated_network_run_until(network, NULL, NULL, 12345678901);
  for (int i = 0; i < COUNT; ++i) ck_assert_int_eq(own_now_ns(i), network_now_ns());
  ck_assert_int_eq(network_now_ns(), SECOND + 12345678901);
  tfrt_simulated_network_free(network);
}
END_TEST

START_TEST(each_clock_has_an_offset_and_a_rate) {
  begin(-3600 * SECOND, 100);
  for (int i = 0; i < COUNT; ++i) {
    ck_assert_int_eq(own_now_ns(i), SECOND + i * (-3600 * SECOND + 100000));
  }
  tfrt_simulated_network_run_until(network, NULL, NULL, 9 * SECOND);
  for (int i = 0; i < COUNT; ++i) {
    ck_assert_int_eq(own_now_ns(i), 10 * SECOND + i * (-3600 * SECOND + 1000000));
  }
  tfrt_simulated_network_free(network);
}
END_TEST

// Runs a timer on each process, due |delay_ns| from now by its own clock.
static void run_timers(int64_t delay_ns) {
  noted_t noted[COUNT] = {0};
  int64_t due_ns[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    noted[i].index = i;
    due_ns[i] = own_now_ns(i) + delay_ns;
    tfrt_timer_start(tfrt_simulated_endpoint_timers(endpoints[i]), &noted[i].timer, due_ns[i],
                     run_noted);
  }
  while (tfrt_simulated_network_step(network)) {
  }
  for (int i = 0; i < COUNT; ++i) {
    ck_assert_int_ge(noted[i].own_ns, due_ns[i]);
    // The first moment of the network's that is not too early.
    ck_assert_int_le(noted[i].own_ns, due_ns[i] + 1);
    // A clock that is faster gets there earlier.
    if (i > 0) ck_assert_int_le(noted[i].network_ns, noted[i - 1].network_ns);
  }
}

START_TEST(a_timer_runs_when_its_own_clock_says_so) {
  static const int64_t delays_ns[] = {0, 1, 999999, SECOND + 7, 100000 * SECOND + 1};
  static const int64_t offsets_ns[] = {0, 1, -5, 3600 * SECOND, -3600 * SECOND - 3};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(delays_ns); ++i) {
    for (size_t j = 0; j < TFRT_ARRAY_SIZE(offsets_ns); ++j) {
      begin(offsets_ns[j], 33333);
      run_timers(delays_ns[i]);
      tfrt_simulated_network_free(network);
    }
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("simulated clocks");
  TCase* tests = tcase_create("clocks");
  tcase_add_test(tests, clocks_agree_unless_they_are_told_not_to);
  tcase_add_test(tests, each_clock_has_an_offset_and_a_rate);
  tcase_add_test(tests, a_timer_runs_when_its_own_clock_says_so);
  suite_add_tcase(suite, tests);
  return suite;
}
