// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/gemm.h"

#include <math.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

START_TEST(random_matrices_equal_the_definition) {
  uint64_t seed = 31;
  for (int round = 0; round < 40; ++round) {
    int64_t m = testing_random_number(&seed, 1, 20), n = testing_random_number(&seed, 1, 20);
    int64_t k = testing_random_number(&seed, 1, 20);
    tfrt_dense_host_tensor_t a = testing_random(&seed, DIMS(m, k));
    tfrt_dense_host_tensor_t b = testing_random(&seed, DIMS(k, n));
    tfrt_dense_host_tensor_t c = testing_random(&seed, DIMS(m, n));
    tfrt_dense_host_tensor_t before =
        testing_tensor(TFRT_DTYPE_F32, tfrt_dense_host_tensor_data(&c), c.shape.dims, c.shape.rank);
    float alpha = (float)testing_random_number(&seed, -2, 2);
    float beta = (float)testing_random_number(&seed, -1, 1);
    testing_ok(tfrt_tensor_gemm(&alpha, &a, &b, &beta, &c));
    for (int64_t i = 0; i < m * n; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < k; ++j) {
        sum += (double)testing_f32(&a, i / n * k + j) * (double)testing_f32(&b, j * n + i % n);
      }
      double expected = (double)alpha * sum + (double)beta * (double)testing_f32(&before, i);
      ck_assert_double_lt(fabs(expected - (double)testing_f32(&c, i)), 1e-5);
    }
    tfrt_dense_host_tensor_deinitialize(&a);
    tfrt_dense_host_tensor_deinitialize(&b);
    tfrt_dense_host_tensor_deinitialize(&c);
    tfrt_dense_host_tensor_deinitialize(&before);
  }
}
END_TEST

START_TEST(integers_are_multiplied_too_and_wrap) {
  const int32_t in_a[] = {1, 2, 3, 4, 5, 6};
  const int32_t in_c[] = {1, 1, 1, INT32_MAX};
  tfrt_dense_host_tensor_t a = testing_tensor(TFRT_DTYPE_I32, in_a, DIMS(2, 3));
  tfrt_dense_host_tensor_t b = testing_tensor(TFRT_DTYPE_I32, in_a, DIMS(3, 2));
  tfrt_dense_host_tensor_t c = testing_tensor(TFRT_DTYPE_I32, in_c, DIMS(2, 2));
  testing_ok(tfrt_tensor_gemm(&(int32_t){1}, &a, &b, &(int32_t){1}, &c));
  testing_prints(&c,
                 "DenseHostTensor dtype = i32, shape = [2, 2], values = [23, 29, 50, "
                 "-2147483585]");
  testing_ok(tfrt_tensor_gemm(&(int32_t){-1}, &a, &b, &(int32_t){0}, &c));
  testing_prints(&c, "DenseHostTensor dtype = i32, shape = [2, 2], values = [-22, -28, -49, -64]");
  tfrt_dense_host_tensor_deinitialize(&a);
  tfrt_dense_host_tensor_deinitialize(&b);
  tfrt_dense_host_tensor_deinitialize(&c);
}
END_TEST

START_TEST(a_beta_of_zero_forgets_and_a_depth_of_zero_adds_nothing) {
  tfrt_dense_host_tensor_t a = testing_zeros(TFRT_DTYPE_F32, DIMS(1, 1));
  tfrt_dense_host_tensor_t c = testing_tensor(TFRT_DTYPE_F32, &(float){NAN}, DIMS(1, 1));
  testing_ok(tfrt_tensor_gemm(&(float){1}, &a, &a, &(float){0}, &c));
  ck_assert_float_eq(testing_f32(&c, 0), 0);
  tfrt_dense_host_tensor_t tall = testing_zeros(TFRT_DTYPE_F32, DIMS(1, 0));
  tfrt_dense_host_tensor_t flat = testing_zeros(TFRT_DTYPE_F32, DIMS(0, 1));
  *(float*)tfrt_dense_host_tensor_data(&c) = 3;
  testing_ok(tfrt_tensor_gemm(&(float){1}, &tall, &flat, &(float){2}, &c));
  ck_assert_float_eq(testing_f32(&c, 0), 6);
  tfrt_dense_host_tensor_t none = testing_zeros(TFRT_DTYPE_F32, DIMS(0, 0));
  testing_ok(tfrt_tensor_gemm(&(float){1}, &flat, &tall, &(float){0}, &none));
  tfrt_dense_host_tensor_deinitialize(&a);
  tfrt_dense_host_tensor_deinitialize(&c);
  tfrt_dense_host_tensor_deinitialize(&tall);
  tfrt_dense_host_tensor_deinitialize(&flat);
  tfrt_dense_host_tensor_deinitialize(&none);
}
END_TEST

START_TEST(what_does_not_fit_is_named) {
  const float one = 1;
  tfrt_dense_host_tensor_t a = testing_zeros(TFRT_DTYPE_F32, DIMS(2, 3));
  tfrt_dense_host_tensor_t b = testing_zeros(TFRT_DTYPE_F32, DIMS(3, 4));
  tfrt_dense_host_tensor_t c = testing_zeros(TFRT_DTYPE_F32, DIMS(2, 4));
  tfrt_dense_host_tensor_t line = testing_zeros(TFRT_DTYPE_F32, DIMS(8));
  tfrt_dense_host_tensor_t bytes = testing_zeros(TFRT_DTYPE_UI8, DIMS(2, 2));
  tfrt_dense_host_tensor_t square = testing_zeros(TFRT_DTYPE_F32, DIMS(2, 2));
  testing_fails(tfrt_tensor_gemm(&one, &a, &a, &one, &c), TFRT_STATUS_INVALID_ARGUMENT,
                "[2, 3] and [2, 3]", NULL);
  testing_fails(tfrt_tensor_gemm(&one, &a, &b, &one, &b), TFRT_STATUS_INVALID_ARGUMENT, "[2, 3]",
                "[3, 4]", NULL);
  testing_fails(tfrt_tensor_gemm(&one, &a, &b, &one, &a), TFRT_STATUS_INVALID_ARGUMENT, "[3, 4]",
                "[2, 3]", NULL);
  testing_fails(tfrt_tensor_gemm(&one, &a, &b, &one, &line), TFRT_STATUS_INVALID_ARGUMENT, "[8]",
                NULL);
  testing_fails(tfrt_tensor_gemm(&one, &bytes, &square, &one, &c), TFRT_STATUS_INVALID_ARGUMENT,
                "ui8", "f32", NULL);
  testing_fails(tfrt_tensor_gemm(&one, &bytes, &bytes, &one, &bytes), TFRT_STATUS_INVALID_ARGUMENT,
                NULL);
  testing_fails(tfrt_tensor_gemm(&one, &square, &square, &one, &square),
                TFRT_STATUS_INVALID_ARGUMENT, "shares memory", NULL);
  tfrt_dense_host_tensor_deinitialize(&a);
  tfrt_dense_host_tensor_deinitialize(&b);
  tfrt_dense_host_tensor_deinitialize(&c);
  tfrt_dense_host_tensor_deinitialize(&line);
  tfrt_dense_host_tensor_deinitialize(&bytes);
  tfrt_dense_host_tensor_deinitialize(&square);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("gemm");
  tcase_add_test(cases, random_matrices_equal_the_definition);
  tcase_add_test(cases, integers_are_multiplied_too_and_wrap);
  tcase_add_test(cases, a_beta_of_zero_forgets_and_a_depth_of_zero_adds_nothing);
  tcase_add_test(cases, what_does_not_fit_is_named);
  Suite* suite = suite_create("gemm");
  suite_add_tcase(suite, cases);
  return suite;
}
