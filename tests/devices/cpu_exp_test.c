// SPDX-License-Identifier: Apache-2.0
#include "devices/cpu/cpu_exp.h"

#include "tests/support/test_main.h"

// The number of floats from |a| to |b|, both positive.
static int64_t distance(float a, float b) {
  int32_t a_bits;
  int32_t b_bits;
  memcpy(&a_bits, &a, sizeof(a));
  memcpy(&b_bits, &b, sizeof(b));
  return a_bits < b_bits ? (int64_t)b_bits - a_bits : (int64_t)a_bits - b_bits;
}

START_TEST(it_is_off_by_at_most_one_place) {
  int32_t wrong = 0;
  int32_t count = 0;
  // Subnormal results, too, and what is beyond the greatest.
  for (float x = -110; x < 95; x += 0.0013f, ++count) {
    float expected = (float)exp((double)x);
    float actual = tfrt_cpu_exp(x);
    ck_assert_msg(distance(actual, expected) <= 1, "%a: %a instead of %a", (double)x,
                  (double)actual, (double)expected);
    wrong += actual != expected;
  }
  ck_assert_int_lt(wrong, count / 1000);
}
END_TEST

START_TEST(what_is_exact_is_exact) {
  ck_assert(tfrt_cpu_exp(0) == 1);
  ck_assert(tfrt_cpu_exp(-0.0f) == 1);
  ck_assert(tfrt_cpu_exp(INFINITY) == INFINITY);
  ck_assert(tfrt_cpu_exp(-INFINITY) == 0);
  ck_assert(isnan(tfrt_cpu_exp(NAN)));
  ck_assert(tfrt_cpu_exp(88.8f) == INFINITY);
  ck_assert(tfrt_cpu_exp(88.7f) < INFINITY);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("cpu_exp");
  tcase_add_test(cases, it_is_off_by_at_most_one_place);
  tcase_add_test(cases, what_is_exact_is_exact);
  Suite* suite = suite_create("cpu_exp");
  suite_add_tcase(suite, cases);
  return suite;
}
