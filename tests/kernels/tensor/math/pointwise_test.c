// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/pointwise.h"

#include <math.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

static float apply(tfrt_pointwise_t operation, float a, float b) {
  switch (operation) {
    case TFRT_POINTWISE_ADD:
      return a + b;
    case TFRT_POINTWISE_SUBTRACT:
      return b - a;
    case TFRT_POINTWISE_EQUAL:
      return a == b ? 1 : 0;
    default:
      return a > 0 ? b : 0;
  }
}

// The element of |x|, stretched to |shape|, at place |place| of that.
static float stretched(const tfrt_dense_host_tensor_t* x, const tfrt_shape_t* shape,
                       int64_t place) {
  int64_t at = 0;
  for (uint32_t i = 0; i < shape->rank; ++i) {
    int64_t index = place / tfrt_shape_stride(shape, i) % shape->dims[i];
    uint32_t missing = shape->rank - x->shape.rank;
    if (i < missing || x->shape.dims[i - missing] == 1) continue;
    at += index * tfrt_shape_stride(&x->shape, i - missing);
  }
  return testing_f32(x, at);
}

START_TEST(random_shapes_equal_the_definition) {
  uint64_t seed = 11;
  for (int round = 0; round < 400; ++round) {
    int64_t dims_a[4], dims_b[4];
    size_t rank = (size_t)testing_random_number(&seed, 0, 4);
    size_t rank_b = (size_t)testing_random_number(&seed, 0, (int64_t)rank);
    for (size_t i = 0; i < rank; ++i) {
      int64_t length = testing_random_number(&seed, 1, 4);
      dims_a[i] = testing_random_number(&seed, 0, 3) == 0 ? 1 : length;
      if (i >= rank - rank_b) {
        dims_b[i - (rank - rank_b)] = testing_random_number(&seed, 0, 3) == 0 ? 1 : length;
      }
    }
    tfrt_dense_host_tensor_t a = testing_random(&seed, dims_a, rank);
    tfrt_dense_host_tensor_t b = testing_random(&seed, dims_b, rank_b);
    tfrt_shape_t shape;
    testing_ok(tfrt_shape_broadcast(&a.shape, &b.shape, &shape));
    tfrt_dense_host_tensor_t target = testing_zeros(TFRT_DTYPE_F32, shape.dims, shape.rank);
    tfrt_pointwise_t operation = (tfrt_pointwise_t)(round % 4);
    testing_ok(tfrt_tensor_combine(operation, "it", &a, &b, &target));
    for (int64_t i = 0; i < tfrt_dense_host_tensor_element_count(&target); ++i) {
      ck_assert_float_eq(testing_f32(&target, i),
                         apply(operation, stretched(&a, &shape, i), stretched(&b, &shape, i)));
    }
    testing_ok(tfrt_tensor_stretch_into(&b, &target));
    for (int64_t i = 0; i < tfrt_dense_host_tensor_element_count(&target); ++i) {
      ck_assert_float_eq(testing_f32(&target, i), stretched(&b, &shape, i));
    }
    tfrt_dense_host_tensor_deinitialize(&a);
    tfrt_dense_host_tensor_deinitialize(&b);
    tfrt_dense_host_tensor_deinitialize(&target);
  }
}
END_TEST

START_TEST(integers_wrap_and_targets_may_be_operands) {
  const int32_t numbers[] = {INT32_MAX, INT32_MIN, -5};
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_I32, numbers, DIMS(3));
  tfrt_dense_host_tensor_t one = testing_tensor(TFRT_DTYPE_I32, &(int32_t){1}, DIMS(1));
  testing_ok(tfrt_tensor_combine(TFRT_POINTWISE_ADD, "add", &one, &x, &x));
  testing_prints(&x,
                 "DenseHostTensor dtype = i32, shape = [3], values = [-2147483648, -2147483647, "
                 "-4]");
  testing_ok(tfrt_tensor_combine(TFRT_POINTWISE_SUBTRACT, "subtract", &one, &x, &x));
  testing_prints(&x,
                 "DenseHostTensor dtype = i32, shape = [3], values = [2147483647, -2147483648, "
                 "-5]");
  testing_ok(tfrt_tensor_relu_into(&x, &x));
  testing_prints(&x, "DenseHostTensor dtype = i32, shape = [3], values = [2147483647, 0, 0]");
  testing_fails(tfrt_tensor_stretch_into(&x, &x), TFRT_STATUS_INVALID_ARGUMENT, "shares memory",
                NULL);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&one);
  const int64_t large[] = {INT64_MAX, -1};
  x = testing_tensor(TFRT_DTYPE_I64, large, DIMS(2));
  testing_ok(tfrt_tensor_combine(TFRT_POINTWISE_ADD, "add", &x, &x, &x));
  testing_prints(&x, "DenseHostTensor dtype = i64, shape = [2], values = [-2, -2]");
  tfrt_dense_host_tensor_deinitialize(&x);
}
END_TEST

START_TEST(a_nan_equals_nothing_and_stays) {
  const double numbers[] = {(double)NAN, -1, 2};
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_F64, numbers, DIMS(3));
  tfrt_dense_host_tensor_t y = testing_zeros(TFRT_DTYPE_F64, DIMS(3));
  testing_ok(tfrt_tensor_relu_into(&x, &y));
  const double* results = tfrt_dense_host_tensor_data(&y);
  ck_assert(isnan(results[0]));
  ck_assert_double_eq(results[1], 0);
  ck_assert_double_eq(results[2], 2);
  testing_ok(tfrt_tensor_combine(TFRT_POINTWISE_EQUAL, "equal", &x, &x, &y));
  ck_assert_double_eq(results[0], 0);
  ck_assert_double_eq(results[1], 1);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&y);
}
END_TEST

START_TEST(empty_tensors_and_what_does_not_fit) {
  tfrt_dense_host_tensor_t empty = testing_zeros(TFRT_DTYPE_F32, DIMS(0, 3));
  tfrt_dense_host_tensor_t row = testing_zeros(TFRT_DTYPE_F32, DIMS(3));
  tfrt_dense_host_tensor_t wide = testing_zeros(TFRT_DTYPE_F32, DIMS(2, 4));
  tfrt_dense_host_tensor_t whole = testing_zeros(TFRT_DTYPE_I32, DIMS(3));
  tfrt_dense_host_tensor_t bytes = testing_zeros(TFRT_DTYPE_UI8, DIMS(3));
  testing_ok(tfrt_tensor_combine(TFRT_POINTWISE_ADD, "add", &empty, &row, &empty));
  testing_fails(tfrt_tensor_combine(TFRT_POINTWISE_ADD, "add", &row, &wide, &wide),
                TFRT_STATUS_INVALID_ARGUMENT, "[3]", "[2, 4]", NULL);
  testing_fails(tfrt_tensor_combine(TFRT_POINTWISE_ADD, "add", &row, &row, &wide),
                TFRT_STATUS_INVALID_ARGUMENT, "[3]", "[2, 4]", NULL);
  testing_fails(tfrt_tensor_combine(TFRT_POINTWISE_ADD, "add", &row, &whole, &row),
                TFRT_STATUS_INVALID_ARGUMENT, "f32", "i32", NULL);
  testing_fails(tfrt_tensor_combine(TFRT_POINTWISE_ADD, "add", &bytes, &bytes, &bytes),
                TFRT_STATUS_INVALID_ARGUMENT, "ui8", NULL);
  testing_fails(tfrt_tensor_descend(&row, 1, &wide), TFRT_STATUS_INVALID_ARGUMENT, "[3]", "[2, 4]",
                NULL);
  testing_fails(tfrt_tensor_descend(&whole, 1, &row), TFRT_STATUS_INVALID_ARGUMENT, "i32", NULL);
  tfrt_dense_host_tensor_deinitialize(&empty);
  tfrt_dense_host_tensor_deinitialize(&row);
  tfrt_dense_host_tensor_deinitialize(&wide);
  tfrt_dense_host_tensor_deinitialize(&whole);
  tfrt_dense_host_tensor_deinitialize(&bytes);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("pointwise");
  tcase_add_test(cases, random_shapes_equal_the_definition);
  tcase_add_test(cases, integers_wrap_and_targets_may_be_operands);
  tcase_add_test(cases, a_nan_equals_nothing_and_stays);
  tcase_add_test(cases, empty_tensors_and_what_does_not_fit);
  Suite* suite = suite_create("pointwise");
  suite_add_tcase(suite, cases);
  return suite;
}
