// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/slicing.h"

#include "tests/host_runtime/tensor/tensor_testing.h"

static const int32_t numbers[] = {0, 1, 2, 3, 4, 5};

START_TEST(reshaping_shares_the_elements) {
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_I32, numbers, DIMS(6));
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_reshape(&x, DIMS(2, -1), &result));
  testing_prints(&result,
                 "DenseHostTensor dtype = i32, shape = [2, 3], values = [0, 1, 2, 3, 4, 5]");
  ck_assert_ptr_eq(result.buffer, x.buffer);
  tfrt_dense_host_tensor_deinitialize(&result);
  const int64_t bad[][2] = {{4, -1}, {-1, -1}, {-2, -3}, {2, 2}, {0, -1}, {INT64_MAX, 2}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(bad); ++i) {
    testing_fails(tfrt_tensor_reshape(&x, bad[i], 2, &result), TFRT_STATUS_INVALID_ARGUMENT, "[6]",
                  NULL);
  }
  testing_fails(tfrt_tensor_reshape(&x, bad[0], 100, &result), TFRT_STATUS_INVALID_ARGUMENT,
                "100 axes", NULL);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_t empty = testing_zeros(TFRT_DTYPE_I32, DIMS(0, 4));
  testing_ok(tfrt_tensor_reshape(&empty, DIMS(-1, 2), &result));
  ck_assert_str_eq(tfrt_shape_text(&result.shape).text, "[0, 2]");
  tfrt_dense_host_tensor_deinitialize(&result);
  tfrt_dense_host_tensor_deinitialize(&empty);
}
END_TEST

START_TEST(a_slice_of_a_slice_is_at_its_place) {
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_I32, numbers, DIMS(3, 2));
  tfrt_dense_host_tensor_t two, one, none;
  testing_ok(tfrt_tensor_slice(&x, 1, 2, &two));
  testing_prints(&two, "DenseHostTensor dtype = i32, shape = [2, 2], values = [2, 3, 4, 5]");
  testing_ok(tfrt_tensor_slice(&two, 1, 1, &one));
  testing_prints(&one, "DenseHostTensor dtype = i32, shape = [1, 2], values = [4, 5]");
  testing_ok(tfrt_tensor_slice(&x, 3, 0, &none));
  testing_prints(&none, "DenseHostTensor dtype = i32, shape = [0, 2], values = []");
  ck_assert_ptr_eq(one.buffer, x.buffer);
  tfrt_dense_host_tensor_deinitialize(&two);
  tfrt_dense_host_tensor_deinitialize(&one);
  tfrt_dense_host_tensor_deinitialize(&none);
  const int64_t bad[][2] = {{-1, 1}, {0, -1}, {0, 4}, {4, 0}, {2, INT64_MAX}, {INT64_MAX, 1}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(bad); ++i) {
    testing_fails(tfrt_tensor_slice(&x, bad[i][0], bad[i][1], &one), TFRT_STATUS_OUT_OF_RANGE,
                  "[3, 2]", NULL);
  }
  tfrt_dense_host_tensor_deinitialize(&x);
}
END_TEST

START_TEST(batches_cover_everything_once) {
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_I32, numbers, DIMS(5));
  tfrt_dense_host_tensor_t batch;
  testing_ok(tfrt_tensor_batch(&x, 0, 2, &batch));
  testing_prints(&batch, "DenseHostTensor dtype = i32, shape = [2], values = [0, 1]");
  tfrt_dense_host_tensor_deinitialize(&batch);
  testing_ok(tfrt_tensor_batch(&x, 2, 2, &batch));
  testing_prints(&batch, "DenseHostTensor dtype = i32, shape = [1], values = [4]");
  tfrt_dense_host_tensor_deinitialize(&batch);
  const int64_t bad[][2] = {{3, 2}, {-1, 2}, {0, 0}, {INT64_MAX, 2}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(bad); ++i) {
    testing_fails(tfrt_tensor_batch(&x, bad[i][0], bad[i][1], &batch), TFRT_STATUS_OUT_OF_RANGE,
                  "[5]", NULL);
  }
  tfrt_dense_host_tensor_t scalar = testing_zeros(TFRT_DTYPE_I32, NULL, 0);
  testing_fails(tfrt_tensor_batch(&scalar, 0, 1, &batch), TFRT_STATUS_INVALID_ARGUMENT, "[]", NULL);
  tfrt_dense_host_tensor_deinitialize(&scalar);
  tfrt_dense_host_tensor_deinitialize(&x);
}
END_TEST

START_TEST(concat_puts_tensors_in_order) {
  tfrt_dense_host_tensor_t a = testing_tensor(TFRT_DTYPE_I32, numbers, DIMS(1, 2));
  tfrt_dense_host_tensor_t b = testing_tensor(TFRT_DTYPE_I32, numbers, DIMS(0, 2));
  tfrt_dense_host_tensor_t c = testing_tensor(TFRT_DTYPE_I32, numbers + 2, DIMS(2, 2));
  tfrt_dense_host_tensor_t wide = testing_tensor(TFRT_DTYPE_I32, numbers, DIMS(2, 3));
  tfrt_dense_host_tensor_t f32 = testing_zeros(TFRT_DTYPE_F32, DIMS(2, 2));
  const tfrt_dense_host_tensor_t* three[] = {&a, &b, &c};
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_concat(three, 3, tfrt_allocator_system(), &result));
  testing_prints(&result,
                 "DenseHostTensor dtype = i32, shape = [3, 2], values = [0, 1, 2, 3, 4, 5]");
  tfrt_dense_host_tensor_deinitialize(&result);
  testing_ok(tfrt_tensor_concat(three, 1, tfrt_allocator_system(), &result));
  ck_assert_ptr_eq(result.buffer, a.buffer);
  tfrt_dense_host_tensor_deinitialize(&result);
  const tfrt_dense_host_tensor_t* shapes[] = {&a, &wide};
  testing_fails(tfrt_tensor_concat(shapes, 2, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "[1, 2]", "[2, 3]", NULL);
  const tfrt_dense_host_tensor_t* dtypes[] = {&a, &f32};
  testing_fails(tfrt_tensor_concat(dtypes, 2, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "i32 [1, 2]", "f32 [2, 2]", NULL);
  tfrt_dense_host_tensor_deinitialize(&a);
  tfrt_dense_host_tensor_deinitialize(&b);
  tfrt_dense_host_tensor_deinitialize(&c);
  tfrt_dense_host_tensor_deinitialize(&wide);
  tfrt_dense_host_tensor_deinitialize(&f32);
}
END_TEST

START_TEST(a_block_is_cut_out_of_any_place) {
  int32_t numbers[24];
  for (int32_t i = 0; i < 24; ++i) numbers[i] = i;
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_I32, numbers, DIMS(2, 3, 4));
  tfrt_dense_host_tensor_t y = testing_zeros(TFRT_DTYPE_I32, DIMS(2, 2, 1));
  testing_ok(tfrt_tensor_block_into(&x, (const int64_t[]){0, 1, 3}, &y));
  testing_prints(&y, "DenseHostTensor dtype = i32, shape = [2, 2, 1], values = [7, 11, 19, 23]");
  testing_fails(tfrt_tensor_block_into(&x, (const int64_t[]){0, 2, 3}, &y),
                TFRT_STATUS_OUT_OF_RANGE, "axis 1", "[2, 2, 1]", "[2, 3, 4]", NULL);
  testing_fails(tfrt_tensor_block_into(&x, (const int64_t[]){-1, 0, 0}, &y),
                TFRT_STATUS_OUT_OF_RANGE, "from -1", NULL);
  testing_fails(tfrt_tensor_block_into(&x, (const int64_t[]){0, INT64_MAX, 0}, &y),
                TFRT_STATUS_OUT_OF_RANGE, "axis 1", NULL);
  tfrt_dense_host_tensor_t line = testing_zeros(TFRT_DTYPE_I32, DIMS(2));
  testing_fails(tfrt_tensor_block_into(&x, (const int64_t[]){0, 0, 0}, &line),
                TFRT_STATUS_INVALID_ARGUMENT, "[2, 3, 4]", "[2]", NULL);
  tfrt_dense_host_tensor_t none = testing_zeros(TFRT_DTYPE_I32, DIMS(2, 0, 4));
  testing_ok(tfrt_tensor_block_into(&x, (const int64_t[]){0, 3, 0}, &none));
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&y);
  tfrt_dense_host_tensor_deinitialize(&line);
  tfrt_dense_host_tensor_deinitialize(&none);
}
END_TEST

START_TEST(rows_become_columns) {
  const int8_t numbers[] = {1, 2, 3, 4, 5, 6};
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_I8, numbers, DIMS(2, 3));
  tfrt_dense_host_tensor_t y = testing_zeros(TFRT_DTYPE_I8, DIMS(3, 2));
  testing_ok(tfrt_tensor_transpose_into(&x, &y));
  testing_prints(&y, "DenseHostTensor dtype = i8, shape = [3, 2], values = [1, 4, 2, 5, 3, 6]");
  testing_fails(tfrt_tensor_transpose_into(&x, &x), TFRT_STATUS_INVALID_ARGUMENT, "[2, 3]", NULL);
  tfrt_dense_host_tensor_t square = testing_zeros(TFRT_DTYPE_I8, DIMS(2, 2));
  testing_fails(tfrt_tensor_transpose_into(&square, &square), TFRT_STATUS_INVALID_ARGUMENT,
                "shares memory", NULL);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&y);
  tfrt_dense_host_tensor_deinitialize(&square);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("slicing");
  tcase_add_test(cases, reshaping_shares_the_elements);
  tcase_add_test(cases, a_slice_of_a_slice_is_at_its_place);
  tcase_add_test(cases, batches_cover_everything_once);
  tcase_add_test(cases, concat_puts_tensors_in_order);
  tcase_add_test(cases, a_block_is_cut_out_of_any_place);
  tcase_add_test(cases, rows_become_columns);
  Suite* suite = suite_create("slicing");
  suite_add_tcase(suite, cases);
  return suite;
}
