// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/clock.h"

#include "tests/fakes/fake_clock.h"
#include "tests/support/test_main.h"

START_TEST(the_system_clock_never_goes_back) {
  int64_t last = tfrt_clock_now_ns(tfrt_clock_system());
  for (int i = 0; i < 1000; ++i) {
    int64_t now = tfrt_clock_now_ns(tfrt_clock_system());
    ck_assert_int_ge(now, last);
    last = now;
  }
}
END_TEST

START_TEST(a_deadline_saturates) {
  ck_assert_int_eq(tfrt_deadline_after(100, 20), 120);
  ck_assert_int_eq(tfrt_deadline_after(100, -20), 100);
  ck_assert_int_eq(tfrt_deadline_after(100, TFRT_TIME_INFINITE), TFRT_TIME_INFINITE);
}
END_TEST

START_TEST(the_wall_clock_knows_this_century) {
  // 2020-01-01 in nanoseconds since 1970.
  ck_assert_int_gt(tfrt_wall_time_ns(), INT64_C(1577836800) * TFRT_NANOSECONDS_PER_SECOND);
}
END_TEST

START_TEST(a_fake_clock_moves_only_by_hand_and_forward) {
  tfrt_fake_clock_t fake;
  tfrt_fake_clock_initialize(&fake, 5);
  tfrt_clock_t clock = tfrt_fake_clock_interface(&fake);
  ck_assert_int_eq(tfrt_clock_now_ns(clock), 5);
  tfrt_fake_clock_advance(&fake, 10);
  ck_assert_int_eq(tfrt_clock_now_ns(clock), 15);
  tfrt_fake_clock_advance_to(&fake, 12);
  ck_assert_int_eq(tfrt_clock_now_ns(clock), 15);
  tfrt_fake_clock_advance_to(&fake, 30);
  ck_assert_int_eq(tfrt_clock_now_ns(clock), 30);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("clock");
  tcase_add_test(tests, the_system_clock_never_goes_back);
  tcase_add_test(tests, a_deadline_saturates);
  tcase_add_test(tests, the_wall_clock_knows_this_century);
  tcase_add_test(tests, a_fake_clock_moves_only_by_hand_and_forward);
  Suite* suite = suite_create("clock");
  suite_add_tcase(suite, tests);
  return suite;
}
