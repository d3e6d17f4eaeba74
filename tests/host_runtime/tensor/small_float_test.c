// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/small_float.h"

#include <math.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

START_TEST(all_bits_survive_being_widened_and_narrowed) {
  for (uint32_t bits = 0; bits <= UINT16_MAX; ++bits) {
    double half = tfrt_f16_to_double((uint16_t)bits);
    double brain = tfrt_bf16_to_double((uint16_t)bits);
    if (isnan(half)) {
      ck_assert(isnan(tfrt_f16_to_double(tfrt_f16_from_double(half))));
    } else {
      ck_assert_uint_eq(tfrt_f16_from_double(half), bits);
    }
    if (isnan(brain)) {
      ck_assert(isnan(tfrt_bf16_to_double(tfrt_bf16_from_double(brain))));
    } else {
      ck_assert_uint_eq(tfrt_bf16_from_double(brain), bits);
    }
  }
}
END_TEST

START_TEST(known_numbers_have_their_bits) {
  ck_assert_uint_eq(tfrt_f16_from_double(1), 0x3C00);
  ck_assert_uint_eq(tfrt_f16_from_double(-2), 0xC000);
  ck_assert_uint_eq(tfrt_f16_from_double(65504), 0x7BFF);
  ck_assert_uint_eq(tfrt_f16_from_double(0x1p-24), 0x0001);
  ck_assert_uint_eq(tfrt_bf16_from_double(1), 0x3F80);
  ck_assert_uint_eq(tfrt_bf16_from_double(0x1p-133), 0x0001);
  ck_assert_uint_eq(tfrt_bf16_from_double(-0.0), 0x8000);
}
END_TEST

START_TEST(numbers_between_go_to_the_nearest_and_ties_to_even) {
  // Half a unit above 1 and above the number behind it.
  ck_assert_uint_eq(tfrt_f16_from_double(1 + 0x1p-11), 0x3C00);
  ck_assert_uint_eq(tfrt_f16_from_double(1 + 0x1p-10 + 0x1p-11), 0x3C02);
  ck_assert_uint_eq(tfrt_f16_from_double(1 + 0x1p-11 + 0x1p-30), 0x3C01);
  // A carry runs into the exponent, and at the end to infinity.
  ck_assert_uint_eq(tfrt_f16_from_double(2 - 0x1p-12), 0x4000);
  ck_assert_uint_eq(tfrt_f16_from_double(65519), 0x7BFF);
  ck_assert_uint_eq(tfrt_f16_from_double(65520), 0x7C00);
  ck_assert_uint_eq(tfrt_f16_from_double(-1e300), 0xFC00);
  ck_assert_uint_eq(tfrt_bf16_from_double(1e300), 0x7F80);
  ck_assert_uint_eq(tfrt_bf16_from_double((double)INFINITY), 0x7F80);
  ck_assert_uint_eq(tfrt_f16_from_double(0x1p-25), 0x0000);
  ck_assert_uint_eq(tfrt_f16_from_double(0x1.8p-25), 0x0001);
  ck_assert_uint_eq(tfrt_f16_from_double(0x1p-1074), 0x0000);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("small_float");
  tcase_add_test(cases, all_bits_survive_being_widened_and_narrowed);
  tcase_add_test(cases, known_numbers_have_their_bits);
  tcase_add_test(cases, numbers_between_go_to_the_nearest_and_ties_to_even);
  Suite* suite = suite_create("small_float");
  suite_add_tcase(suite, cases);
  return suite;
}
