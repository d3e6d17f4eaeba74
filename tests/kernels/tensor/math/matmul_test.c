// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/matmul.h"

#include "tests/host_runtime/tensor/tensor_testing.h"

static void compare(const tfrt_dense_host_tensor_t* a, const tfrt_dense_host_tensor_t* b,
                    const tfrt_dense_host_tensor_t* bias, bool relu) {
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_matmul(a, b, bias, relu, tfrt_allocator_system(), &result));
  int64_t inner = b->shape.dims[0], columns = b->shape.dims[1];
  ck_assert_int_eq(result.shape.dims[0], a->shape.dims[0]);
  ck_assert_int_eq(result.shape.dims[1], columns);
  for (int64_t i = 0; i < tfrt_dense_host_tensor_element_count(&result); ++i) {
    double sum = bias ? (double)testing_f32(bias, i % columns) : 0;
    for (int64_t k = 0; k < inner; ++k) {
      sum += (double)testing_f32(a, i / columns * inner + k) *
             (double)testing_f32(b, k * columns + i % columns);
    }
    if (relu && sum < 0) sum = 0;
    ck_assert_double_eq_tol((double)testing_f32(&result, i), sum, 1e-4);
  }
  tfrt_dense_host_tensor_deinitialize(&result);
}

static void compare_shapes(uint64_t* seed, int64_t m, int64_t k, int64_t n, bool has_bias,
                           bool relu) {
  tfrt_dense_host_tensor_t a = testing_random(seed, DIMS(m, k));
  tfrt_dense_host_tensor_t b = testing_random(seed, DIMS(k, n));
  tfrt_dense_host_tensor_t bias = testing_random(seed, DIMS(n));
  compare(&a, &b, has_bias ? &bias : NULL, relu);
  tfrt_dense_host_tensor_deinitialize(&a);
  tfrt_dense_host_tensor_deinitialize(&b);
  tfrt_dense_host_tensor_deinitialize(&bias);
}

START_TEST(random_shapes_equal_the_definition) {
  uint64_t seed = 31;
  for (int round = 0; round < 60; ++round) {
    int64_t m = testing_random_number(&seed, 1, 20);
    int64_t k = testing_random_number(&seed, 1, 40);
    int64_t n = testing_random_number(&seed, 1, 20);
    compare_shapes(&seed, m, k, n, round % 3, round % 2);
  }
}
END_TEST

START_TEST(without_elements_there_is_a_result) {
  uint64_t seed = 32;
  compare_shapes(&seed, 0, 3, 4, true, false);
  compare_shapes(&seed, 3, 4, 0, true, false);
  compare_shapes(&seed, 3, 0, 4, true, true);
  compare_shapes(&seed, 3, 0, 4, false, false);
}
END_TEST

static void refused(const int64_t* a_dims, size_t a_rank, const int64_t* b_dims, size_t b_rank,
                    int64_t bias_length, const char* first, const char* second) {
  tfrt_dense_host_tensor_t a = testing_zeros(TFRT_DTYPE_F32, a_dims, a_rank);
  tfrt_dense_host_tensor_t b = testing_zeros(TFRT_DTYPE_F32, b_dims, b_rank);
  tfrt_dense_host_tensor_t bias = testing_zeros(TFRT_DTYPE_F32, DIMS(bias_length));
  tfrt_dense_host_tensor_t result;
  testing_fails(tfrt_tensor_matmul(&a, &b, &bias, false, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, first, second, NULL);
  ck_assert_ptr_null(result.buffer);
  tfrt_dense_host_tensor_deinitialize(&a);
  tfrt_dense_host_tensor_deinitialize(&b);
  tfrt_dense_host_tensor_deinitialize(&bias);
}

START_TEST(what_does_not_fit_is_an_error_with_both_shapes) {
  refused(DIMS(2, 3), DIMS(4, 5), 5, "[2, 3]", "[4, 5]");
  refused(DIMS(2, 3), DIMS(3, 5), 4, "[4]", "[3, 5]");
  refused(DIMS(3), DIMS(3, 5), 5, "2 axes", "[3]");
  refused(DIMS(2, 3), DIMS(1, 3, 5), 5, "2 axes", "[1, 3, 5]");
}
END_TEST

// The lengths are those of a product that this thread has just computed, the rest is not.
START_TEST(what_differs_only_in_kind_is_an_error_behind_a_good_product) {
  tfrt_dense_host_tensor_t a = testing_zeros(TFRT_DTYPE_F32, DIMS(2, 3));
  tfrt_dense_host_tensor_t whole = testing_zeros(TFRT_DTYPE_I32, DIMS(2, 3));
  tfrt_dense_host_tensor_t b = testing_zeros(TFRT_DTYPE_F32, DIMS(3, 5));
  tfrt_dense_host_tensor_t bias = testing_zeros(TFRT_DTYPE_F32, DIMS(5));
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_matmul(&a, &b, &bias, false, tfrt_allocator_system(), &result));
  tfrt_dense_host_tensor_deinitialize(&result);
  refused(DIMS(2, 3), DIMS(3, 5), 4, "[4]", "[3, 5]");
  refused(DIMS(2, 3, 1), DIMS(3, 5), 5, "2 axes", "[2, 3, 1]");
  refused(DIMS(2, 3), DIMS(3, 5, 1), 5, "2 axes", "[3, 5, 1]");
  testing_fails(tfrt_tensor_matmul(&whole, &b, &bias, false, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "must be f32", "i32", NULL);
  tfrt_dense_host_tensor_deinitialize(&a);
  tfrt_dense_host_tensor_deinitialize(&whole);
  tfrt_dense_host_tensor_deinitialize(&b);
  tfrt_dense_host_tensor_deinitialize(&bias);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("matmul");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, random_shapes_equal_the_definition);
  tcase_add_test(cases, without_elements_there_is_a_result);
  tcase_add_test(cases, what_does_not_fit_is_an_error_with_both_shapes);
  tcase_add_test(cases, what_differs_only_in_kind_is_an_error_behind_a_good_product);
  Suite* suite = suite_create("matmul");
  suite_add_tcase(suite, cases);
  return suite;
}
