// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/clock_comparison.h"

#include <check.h>

#include "tests/support/test_main.h"

START_TEST(a_time_between_question_and_answer_is_of_the_same_clock) {
  tfrt_clock_comparison_t comparison = {0};
  tfrt_clock_comparison_note(&comparison, 1000, 1200, 1190);
  ck_assert_int_eq(comparison.offset_ns, 0);
  ck_assert_int_eq(comparison.error_ns, 100);
}
END_TEST

START_TEST(another_clock_showed_the_middle) {
  tfrt_clock_comparison_t comparison = {0};
  tfrt_clock_comparison_note(&comparison, 1000, 1200, 50);
  ck_assert_int_eq(comparison.offset_ns, 1050);
  tfrt_clock_comparison_t late = {0};
  tfrt_clock_comparison_note(&late, 1000, 1200, 1201);
  ck_assert_int_eq(late.offset_ns, -101);
}
END_TEST

START_TEST(the_quickest_answer_counts) {
  tfrt_clock_comparison_t comparison = {0};
  tfrt_clock_comparison_note(&comparison, 1000, 1200, 50);
  tfrt_clock_comparison_note(&comparison, 2000, 2020, 955);
  tfrt_clock_comparison_note(&comparison, 3000, 3900, 2500);
  ck_assert_int_eq(comparison.offset_ns, 1055);
  ck_assert_int_eq(comparison.error_ns, 10);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* clocks = tcase_create("clocks");
  tcase_add_test(clocks, a_time_between_question_and_answer_is_of_the_same_clock);
  tcase_add_test(clocks, another_clock_showed_the_middle);
  tcase_add_test(clocks, the_quickest_answer_counts);
  Suite* suite = suite_create("clock comparison");
  suite_add_tcase(suite, clocks);
  return suite;
}
