// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/softmax.h"

#include <math.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

START_TEST(rows_are_probabilities) {
  const float scores[] = {1, 2, 3, 1000, 1000, -1000};
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_F32, scores, DIMS(2, 1, 3));
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_softmax(&x, tfrt_allocator_system(), &result));
  ck_assert(tfrt_shape_equal(&x.shape, &result.shape));
  double sum = exp(1) + exp(2) + exp(3);
  const double expected[] = {exp(1) / sum, exp(2) / sum, exp(3) / sum, 0.5, 0.5, 0};
  for (int64_t i = 0; i < 6; ++i) {
    ck_assert_double_eq_tol((double)testing_f32(&result, i), expected[i], 1e-6);
  }
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&result);
}
END_TEST

START_TEST(a_scalar_is_refused_and_nothing_is_fine) {
  tfrt_dense_host_tensor_t scalar = testing_zeros(TFRT_DTYPE_F32, NULL, 0);
  tfrt_dense_host_tensor_t none = testing_zeros(TFRT_DTYPE_F32, DIMS(3, 0));
  tfrt_dense_host_tensor_t integers = testing_zeros(TFRT_DTYPE_I32, DIMS(3));
  tfrt_dense_host_tensor_t result;
  testing_fails(tfrt_tensor_softmax(&scalar, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "[]", NULL);
  testing_fails(tfrt_tensor_softmax(&integers, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "i32", NULL);
  testing_ok(tfrt_tensor_softmax(&none, tfrt_allocator_system(), &result));
  ck_assert_str_eq(tfrt_shape_text(&result.shape).text, "[3, 0]");
  tfrt_dense_host_tensor_deinitialize(&scalar);
  tfrt_dense_host_tensor_deinitialize(&none);
  tfrt_dense_host_tensor_deinitialize(&integers);
  tfrt_dense_host_tensor_deinitialize(&result);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("softmax");
  tcase_add_test(cases, rows_are_probabilities);
  tcase_add_test(cases, a_scalar_is_refused_and_nothing_is_fine);
  Suite* suite = suite_create("softmax");
  suite_add_tcase(suite, cases);
  return suite;
}
