// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/numeric_reduction.h"

#include <math.h>

#include "tests/support/test_main.h"

static const tfrt_dtype_t dtypes[] = {
    TFRT_DTYPE_UI8, TFRT_DTYPE_UI16, TFRT_DTYPE_UI32, TFRT_DTYPE_UI64, TFRT_DTYPE_I8,
    TFRT_DTYPE_I16, TFRT_DTYPE_I32,  TFRT_DTYPE_I64,  TFRT_DTYPE_F32,  TFRT_DTYPE_F64,
};

// Elements of any of the dtypes.
typedef union elements_u {
  uint8_t ui8[4];
  uint16_t ui16[4];
  uint32_t ui32[4];
  uint64_t ui64[4];
  float f32[4];
  double f64[4];
} elements_t;

// The numbers 2, 3, 5 in |dtype|, each plus |offset|.
static elements_t numbers(tfrt_dtype_t dtype, unsigned offset) {
  static const unsigned primes[3] = {2, 3, 5};
  elements_t elements = {0};
  for (size_t i = 0; i < 3; ++i) {
    unsigned number = primes[i] + offset;
    if (dtype == TFRT_DTYPE_F32) elements.f32[i] = (float)number;
    if (dtype == TFRT_DTYPE_F64) elements.f64[i] = number;
    if (dtype == TFRT_DTYPE_F32 || dtype == TFRT_DTYPE_F64) continue;
    if (tfrt_dtype_size(dtype) == 1) elements.ui8[i] = (uint8_t)number;
    if (tfrt_dtype_size(dtype) == 2) elements.ui16[i] = (uint16_t)number;
    if (tfrt_dtype_size(dtype) == 4) elements.ui32[i] = number;
    if (tfrt_dtype_size(dtype) == 8) elements.ui64[i] = number;
  }
  return elements;
}

static double number_at(const elements_t* elements, tfrt_dtype_t dtype, size_t i) {
  if (dtype == TFRT_DTYPE_F32) return (double)elements->f32[i];
  if (dtype == TFRT_DTYPE_F64) return elements->f64[i];
  if (tfrt_dtype_size(dtype) == 1) return elements->ui8[i];
  if (tfrt_dtype_size(dtype) == 2) return elements->ui16[i];
  if (tfrt_dtype_size(dtype) == 4) return elements->ui32[i];
  return (double)elements->ui64[i];
}

static void expect(tfrt_reduction_t reduction, tfrt_dtype_t dtype, double a, double b, double c) {
  elements_t x = numbers(dtype, 0);
  elements_t y = numbers(dtype, 1);
  tfrt_reduction_apply(reduction, dtype, &x, &x, &y, 3);
  ck_assert_double_eq(number_at(&x, dtype, 0), a);
  ck_assert_double_eq(number_at(&x, dtype, 1), b);
  ck_assert_double_eq(number_at(&x, dtype, 2), c);
  ck_assert_double_eq(number_at(&x, dtype, 3), 0);
}

START_TEST(every_dtype_has_every_reduction) {
  tfrt_dtype_t dtype = dtypes[_i];
  for (int reduction = 0; reduction < TFRT_REDUCTION_COUNT; ++reduction) {
    ck_assert(tfrt_reduction_can((tfrt_reduction_t)reduction, dtype));
  }
  expect(TFRT_REDUCTION_SUM, dtype, 5, 7, 11);
  expect(TFRT_REDUCTION_PRODUCT, dtype, 6, 12, 30);
  expect(TFRT_REDUCTION_MINIMUM, dtype, 2, 3, 5);
  expect(TFRT_REDUCTION_MAXIMUM, dtype, 3, 4, 6);
}
END_TEST

START_TEST(integers_wrap_around_and_have_signs) {
  int32_t x[2] = {INT32_MAX, -4};
  const int32_t y[2] = {1, 3};
  tfrt_reduction_apply(TFRT_REDUCTION_SUM, TFRT_DTYPE_I32, x, x, y, 2);
  ck_assert_int_eq(x[0], INT32_MIN);
  ck_assert_int_eq(x[1], -1);
  int8_t small[1] = {-100};
  const int8_t other[1] = {-100};
  tfrt_reduction_apply(TFRT_REDUCTION_SUM, TFRT_DTYPE_I8, small, small, other, 1);
  ck_assert_int_eq(small[0], 56);
  int16_t product[1] = {-32768};
  const int16_t factor[1] = {-32768};
  tfrt_reduction_apply(TFRT_REDUCTION_PRODUCT, TFRT_DTYPE_I16, product, product, factor, 1);
  ck_assert_int_eq(product[0], 0);
  int64_t low[1] = {-5};
  const int64_t high[1] = {4};
  tfrt_reduction_apply(TFRT_REDUCTION_MINIMUM, TFRT_DTYPE_I64, low, low, high, 1);
  ck_assert_int_eq(low[0], -5);
}
END_TEST

START_TEST(a_nan_wins_on_either_side) {
  for (int reduction = TFRT_REDUCTION_SUM; reduction <= TFRT_REDUCTION_MAXIMUM; ++reduction) {
    float x[2] = {NAN, 1};
    const float y[2] = {1, NAN};
    tfrt_reduction_apply((tfrt_reduction_t)reduction, TFRT_DTYPE_F32, x, x, y, 2);
    ck_assert(isnan(x[0]));
    ck_assert(isnan(x[1]));
  }
}
END_TEST

// The bits of 1.5, 2 and -0.25, and of what is computed of them.
START_TEST(floats_of_16_bits_are_rounded_to_the_nearest) {
  static const tfrt_dtype_t small[2] = {TFRT_DTYPE_F16, TFRT_DTYPE_BF16};
  static const uint16_t x[2][2] = {{0x3e00, 0x7c00}, {0x3fc0, 0x7f80}};  // 1.5, infinity
  static const uint16_t y[2][2] = {{0xb400, 0x4000}, {0xbe80, 0x4000}};  // -0.25, 2
  static const uint16_t sums[2] = {0x3d00, 0x3fa0};                      // 1.25
  static const uint16_t products[2] = {0xb600, 0xbec0};                  // -0.375
  static const uint16_t halves[2] = {0x3900, 0x3f20};                    // 0.625
  for (size_t i = 0; i < 2; ++i) {
    uint16_t result[2];
    tfrt_reduction_apply(TFRT_REDUCTION_SUM, small[i], result, x[i], y[i], 2);
    ck_assert_uint_eq(result[0], sums[i]);
    ck_assert_uint_eq(result[1], x[i][1]);
    tfrt_reduction_finish(TFRT_REDUCTION_MEAN, small[i], result, 1, 2);
    ck_assert_uint_eq(result[0], halves[i]);
    tfrt_reduction_apply(TFRT_REDUCTION_PRODUCT, small[i], result, x[i], y[i], 1);
    ck_assert_uint_eq(result[0], products[i]);
    tfrt_reduction_apply(TFRT_REDUCTION_MINIMUM, small[i], result, x[i], y[i], 2);
    ck_assert_uint_eq(result[0], y[i][0]);
    ck_assert_uint_eq(result[1], y[i][1]);
    tfrt_reduction_apply(TFRT_REDUCTION_MAXIMUM, small[i], result, x[i], y[i], 2);
    ck_assert_uint_eq(result[0], x[i][0]);
    ck_assert_uint_eq(result[1], x[i][1]);
  }
}
END_TEST

START_TEST(complex_numbers_are_added_and_multiplied) {
  double z[2] = {1, 2};
  const double w[2] = {3, -1};
  tfrt_reduction_apply(TFRT_REDUCTION_PRODUCT, TFRT_DTYPE_COMPLEX128, z, z, w, 1);
  ck_assert_double_eq(z[0], 5);
  ck_assert_double_eq(z[1], 5);
  float a[2] = {1, 2};
  const float b[2] = {3, -1};
  tfrt_reduction_apply(TFRT_REDUCTION_MEAN, TFRT_DTYPE_COMPLEX64, a, a, b, 1);
  tfrt_reduction_finish(TFRT_REDUCTION_MEAN, TFRT_DTYPE_COMPLEX64, a, 1, 2);
  ck_assert_double_eq((double)a[0], 2);
  ck_assert_double_eq((double)a[1], 0.5);
  ck_assert(!tfrt_reduction_can(TFRT_REDUCTION_MAXIMUM, TFRT_DTYPE_COMPLEX64));
  ck_assert(!tfrt_reduction_can(TFRT_REDUCTION_MINIMUM, TFRT_DTYPE_COMPLEX128));
}
END_TEST

START_TEST(the_least_of_truths_is_and_the_greatest_is_or) {
  static const uint8_t x[4] = {0, 0, 1, 1};
  static const uint8_t y[4] = {0, 1, 0, 1};
  uint8_t result[4];
  tfrt_reduction_apply(TFRT_REDUCTION_MINIMUM, TFRT_DTYPE_I1, result, x, y, 4);
  for (size_t i = 0; i < 4; ++i) ck_assert_uint_eq(result[i], x[i] && y[i]);
  tfrt_reduction_apply(TFRT_REDUCTION_MAXIMUM, TFRT_DTYPE_I1, result, x, y, 4);
  for (size_t i = 0; i < 4; ++i) ck_assert_uint_eq(result[i], x[i] || y[i]);
  ck_assert(!tfrt_reduction_can(TFRT_REDUCTION_MEAN, TFRT_DTYPE_I1));
}
END_TEST

START_TEST(a_mean_of_integers_is_rounded_towards_zero) {
  int32_t sums[4] = {7, -7, 9, -8};
  tfrt_reduction_finish(TFRT_REDUCTION_MEAN, TFRT_DTYPE_I32, sums, 4, 3);
  ck_assert_int_eq(sums[0], 2);
  ck_assert_int_eq(sums[1], -2);
  ck_assert_int_eq(sums[2], 3);
  ck_assert_int_eq(sums[3], -2);
  uint64_t large[1] = {UINT64_MAX};
  tfrt_reduction_finish(TFRT_REDUCTION_MEAN, TFRT_DTYPE_UI64, large, 1, 2);
  ck_assert_uint_eq(large[0], UINT64_MAX / 2);
  tfrt_reduction_finish(TFRT_REDUCTION_SUM, TFRT_DTYPE_UI64, large, 1, 2);
  ck_assert_uint_eq(large[0], UINT64_MAX / 2);
}
END_TEST

START_TEST(reductions_are_found_by_name) {
  for (int i = 0; i < TFRT_REDUCTION_COUNT; ++i) {
    tfrt_reduction_t found = TFRT_REDUCTION_COUNT;
    const char* name = tfrt_reduction_name((tfrt_reduction_t)i);
    ck_assert(tfrt_reduction_find(tfrt_string_view_of(name), &found));
    ck_assert_int_eq(found, i);
  }
  tfrt_reduction_t found = TFRT_REDUCTION_SUM;
  ck_assert(!tfrt_reduction_find(tfrt_string_view_of("average"), &found));
  ck_assert_str_eq(tfrt_reduction_name(TFRT_REDUCTION_COUNT), "unknown");
}
END_TEST

START_TEST(what_is_no_number_has_no_reductions) {
  ck_assert(!tfrt_reduction_can(TFRT_REDUCTION_SUM, TFRT_DTYPE_I1));
  ck_assert(!tfrt_reduction_can(TFRT_REDUCTION_SUM, TFRT_DTYPE_STRING));
  ck_assert(!tfrt_reduction_can(TFRT_REDUCTION_SUM, TFRT_DTYPE_INVALID));
  ck_assert(!tfrt_reduction_can(TFRT_REDUCTION_SUM, TFRT_DTYPE_COUNT));
  ck_assert_int_eq(tfrt_reduction_dtype_of(TFRT_TYPE_F32), TFRT_DTYPE_F32);
  ck_assert_int_eq(tfrt_reduction_dtype_of(TFRT_TYPE_I1), TFRT_DTYPE_INVALID);
  ck_assert_int_eq(tfrt_reduction_dtype_of(TFRT_TYPE_STRING), TFRT_DTYPE_INVALID);
  ck_assert_int_eq(tfrt_reduction_dtype_of(UINT16_MAX), TFRT_DTYPE_INVALID);
}
END_TEST

START_TEST(no_elements_are_left_alone) {
  tfrt_reduction_apply(TFRT_REDUCTION_SUM, TFRT_DTYPE_F32, NULL, NULL, NULL, 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* reductions = tcase_create("reductions");
  tcase_add_loop_test(reductions, every_dtype_has_every_reduction, 0, TFRT_ARRAY_SIZE(dtypes));
  tcase_add_test(reductions, integers_wrap_around_and_have_signs);
  tcase_add_test(reductions, a_nan_wins_on_either_side);
  tcase_add_test(reductions, floats_of_16_bits_are_rounded_to_the_nearest);
  tcase_add_test(reductions, complex_numbers_are_added_and_multiplied);
  tcase_add_test(reductions, the_least_of_truths_is_and_the_greatest_is_or);
  tcase_add_test(reductions, a_mean_of_integers_is_rounded_towards_zero);
  tcase_add_test(reductions, reductions_are_found_by_name);
  tcase_add_test(reductions, what_is_no_number_has_no_reductions);
  tcase_add_test(reductions, no_elements_are_left_alone);
  Suite* suite = suite_create("numeric reduction");
  suite_add_tcase(suite, reductions);
  return suite;
}
