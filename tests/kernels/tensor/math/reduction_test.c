// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/reduction.h"

#include <float.h>
#include <math.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

START_TEST(sums_go_along_any_axis) {
  const int32_t numbers[] = {1, 2, 3, 4, 5, 6};
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_I32, numbers, DIMS(2, 3));
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_sum(&x, 0, tfrt_allocator_system(), &result));
  testing_prints(&result, "DenseHostTensor dtype = i32, shape = [3], values = [5, 7, 9]");
  tfrt_dense_host_tensor_deinitialize(&result);
  testing_ok(tfrt_tensor_sum(&x, 1, tfrt_allocator_system(), &result));
  testing_prints(&result, "DenseHostTensor dtype = i32, shape = [2], values = [6, 15]");
  tfrt_dense_host_tensor_deinitialize(&result);
  testing_fails(tfrt_tensor_sum(&x, 2, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "[2, 3]", "no axis 2", NULL);
  testing_fails(tfrt_tensor_sum(&x, -1, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "no axis -1", NULL);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_t empty = testing_zeros(TFRT_DTYPE_F64, DIMS(0, 2));
  testing_ok(tfrt_tensor_sum(&empty, 0, tfrt_allocator_system(), &result));
  testing_prints(&result,
                 "DenseHostTensor dtype = f64, shape = [2], values = [0.000000e+00, "
                 "0.000000e+00]");
  tfrt_dense_host_tensor_deinitialize(&result);
  tfrt_dense_host_tensor_deinitialize(&empty);
}
END_TEST

START_TEST(means_are_sums_divided) {
  const int32_t numbers[] = {1, 2, 3, -4, -5, -7};
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_I32, numbers, DIMS(2, 3));
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_mean(&x, 1, tfrt_allocator_system(), &result));
  testing_prints(&result, "DenseHostTensor dtype = i32, shape = [2], values = [2, -5]");
  tfrt_dense_host_tensor_deinitialize(&result);
  testing_ok(tfrt_tensor_mean(&x, 0, tfrt_allocator_system(), &result));
  testing_prints(&result, "DenseHostTensor dtype = i32, shape = [3], values = [-1, -1, -2]");
  tfrt_dense_host_tensor_deinitialize(&result);
  testing_fails(tfrt_tensor_mean(&x, 2, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "reduce_mean", "[2, 3]", NULL);
  tfrt_dense_host_tensor_deinitialize(&x);
  const float floats[] = {1, 3};
  x = testing_tensor(TFRT_DTYPE_F32, floats, DIMS(2));
  testing_ok(tfrt_tensor_mean(&x, 0, tfrt_allocator_system(), &result));
  testing_prints(&result, "DenseHostTensor dtype = f32, shape = [], values = [2.000000e+00]");
  tfrt_dense_host_tensor_deinitialize(&result);
  tfrt_dense_host_tensor_deinitialize(&x);
  x = testing_zeros(TFRT_DTYPE_I64, DIMS(0, 2));
  testing_fails(tfrt_tensor_mean(&x, 0, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "[0, 2]", NULL);
  testing_ok(tfrt_tensor_mean(&x, 1, tfrt_allocator_system(), &result));
  testing_prints(&result, "DenseHostTensor dtype = i64, shape = [0], values = []");
  tfrt_dense_host_tensor_deinitialize(&result);
  tfrt_dense_host_tensor_deinitialize(&x);
}
END_TEST

START_TEST(many_floats_are_summed_up_precisely) {
  tfrt_dense_host_tensor_t x = testing_zeros(TFRT_DTYPE_F32, DIMS(20000000));
  float* elements = tfrt_dense_host_tensor_data(&x);
  for (int i = 0; i < 20000000; ++i) elements[i] = 1;
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_sum(&x, 0, tfrt_allocator_system(), &result));
  ck_assert_float_eq(testing_f32(&result, 0), 2e7f);
  tfrt_dense_host_tensor_deinitialize(&result);
  tfrt_dense_host_tensor_deinitialize(&x);
}
END_TEST

// Expects |text| of the argmax of |dims| along |axis|.
static void finds(tfrt_dtype_t dtype, const void* elements, const int64_t* dims, size_t rank,
                  int32_t axis, const char* text) {
  tfrt_dense_host_tensor_t x = testing_tensor(dtype, elements, dims, rank);
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_argmax(&x, axis, tfrt_allocator_system(), &result));
  testing_prints(&result, text);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&result);
}

START_TEST(argmax_finds_the_first_largest_element) {
  const float floats[] = {1, 3, 3, -1, -INFINITY, -1};
  finds(TFRT_DTYPE_F32, floats, DIMS(2, 3), 1,
        "DenseHostTensor dtype = i64, shape = [2], values = [1, 0]");
  finds(TFRT_DTYPE_F32, floats, DIMS(2, 3), 0,
        "DenseHostTensor dtype = i64, shape = [3], values = [0, 0, 0]");
  const float nans[] = {1, NAN, 9, NAN};
  finds(TFRT_DTYPE_F32, nans, DIMS(1, 4), 1,
        "DenseHostTensor dtype = i64, shape = [1], values = [1]");
  const int64_t integers[] = {INT64_MIN, INT64_MAX, INT64_MAX - 1};
  finds(TFRT_DTYPE_I64, integers, DIMS(3), 0,
        "DenseHostTensor dtype = i64, shape = [], values = [1]");
  finds(TFRT_DTYPE_UI8, (const uint8_t[]){127, 128}, DIMS(2), 0,
        "DenseHostTensor dtype = i64, shape = [], values = [1]");
  finds(TFRT_DTYPE_F32, NULL, DIMS(0, 3), 1,
        "DenseHostTensor dtype = i64, shape = [0], values = []");
  tfrt_dense_host_tensor_t none = testing_zeros(TFRT_DTYPE_F32, DIMS(3, 0));
  tfrt_dense_host_tensor_t result;
  testing_fails(tfrt_tensor_argmax(&none, 1, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "[3, 0]", NULL);
  tfrt_dense_host_tensor_deinitialize(&none);
}
END_TEST

START_TEST(equal_elements_are_counted) {
  const int64_t numbers[] = {1, 2, 3, 4};
  const int64_t others[] = {1, 0, 3, 0};
  tfrt_dense_host_tensor_t a = testing_tensor(TFRT_DTYPE_I64, numbers, DIMS(4));
  tfrt_dense_host_tensor_t b = testing_tensor(TFRT_DTYPE_I64, others, DIMS(4));
  tfrt_dense_host_tensor_t c = testing_zeros(TFRT_DTYPE_I64, DIMS(2, 2));
  tfrt_dense_host_tensor_t d = testing_zeros(TFRT_DTYPE_F32, DIMS(4));
  int64_t count;
  testing_ok(tfrt_tensor_count_equal(&a, &b, &count));
  ck_assert_int_eq(count, 2);
  testing_ok(tfrt_tensor_count_equal(&d, &d, &count));
  ck_assert_int_eq(count, 4);
  testing_fails(tfrt_tensor_count_equal(&a, &c, &count), TFRT_STATUS_INVALID_ARGUMENT, "[4]",
                "[2, 2]", NULL);
  testing_fails(tfrt_tensor_count_equal(&a, &d, &count), TFRT_STATUS_INVALID_ARGUMENT, "i64 [4]",
                "f32 [4]", NULL);
  tfrt_dense_host_tensor_deinitialize(&a);
  tfrt_dense_host_tensor_deinitialize(&b);
  tfrt_dense_host_tensor_deinitialize(&c);
  tfrt_dense_host_tensor_deinitialize(&d);
}
END_TEST

START_TEST(close_means_a_few_units_in_the_last_place) {
  const float one[] = {1.0f};
  const float near[] = {1.0f + FLT_EPSILON};
  const float far[] = {1.0f + 100 * FLT_EPSILON};
  tfrt_dense_host_tensor_t a = testing_tensor(TFRT_DTYPE_F32, one, DIMS(1));
  tfrt_dense_host_tensor_t b = testing_tensor(TFRT_DTYPE_F32, near, DIMS(1));
  tfrt_dense_host_tensor_t c = testing_tensor(TFRT_DTYPE_F32, far, DIMS(1));
  tfrt_dense_host_tensor_t d = testing_tensor(TFRT_DTYPE_F32, (const float[]){NAN}, DIMS(1));
  tfrt_dense_host_tensor_t e = testing_tensor(TFRT_DTYPE_F32, (const float[]){INFINITY}, DIMS(1));
  ck_assert(tfrt_tensor_all_close(&a, &b, 2));
  ck_assert(!tfrt_tensor_all_close(&a, &c, 2));
  ck_assert(tfrt_tensor_all_close(&a, &c, 1000));
  ck_assert(!tfrt_tensor_all_close(&d, &d, 2));
  ck_assert(tfrt_tensor_all_close(&e, &e, 2));
  ck_assert(!tfrt_tensor_all_close(&a, &e, 2));
  tfrt_dense_host_tensor_deinitialize(&a);
  tfrt_dense_host_tensor_deinitialize(&b);
  tfrt_dense_host_tensor_deinitialize(&c);
  tfrt_dense_host_tensor_deinitialize(&d);
  tfrt_dense_host_tensor_deinitialize(&e);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("reduction");
  tcase_add_test(cases, sums_go_along_any_axis);
  tcase_add_test(cases, means_are_sums_divided);
  tcase_add_test(cases, many_floats_are_summed_up_precisely);
  tcase_add_test(cases, argmax_finds_the_first_largest_element);
  tcase_add_test(cases, equal_elements_are_counted);
  tcase_add_test(cases, close_means_a_few_units_in_the_last_place);
  Suite* suite = suite_create("reduction");
  suite_add_tcase(suite, cases);
  return suite;
}
