// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/dense_host_tensor.h"

#include <math.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

START_TEST(a_tensor_prints_at_most_sixteen_elements) {
  const int32_t ones[] = {1, 1, 1, 1};
  tfrt_dense_host_tensor_t small = testing_tensor(TFRT_DTYPE_I32, ones, DIMS(2, 2));
  testing_prints(&small, "DenseHostTensor dtype = i32, shape = [2, 2], values = [1, 1, 1, 1]");
  tfrt_dense_host_tensor_deinitialize(&small);
  tfrt_dense_host_tensor_t exact = testing_zeros(TFRT_DTYPE_UI8, DIMS(16));
  testing_prints(&exact,
                 "DenseHostTensor dtype = ui8, shape = [16], values = [0, 0, 0, 0, 0, 0, 0, 0, 0, "
                 "0, 0, 0, 0, 0, 0, 0]");
  tfrt_dense_host_tensor_deinitialize(&exact);
  tfrt_dense_host_tensor_t large = testing_zeros(TFRT_DTYPE_UI8, DIMS(17));
  testing_prints(&large,
                 "DenseHostTensor dtype = ui8, shape = [17], values = [0, 0, 0, 0, 0, 0, 0, 0, 0, "
                 "0, 0, 0, 0, 0, 0, 0, ... ]");
  tfrt_dense_host_tensor_deinitialize(&large);
  tfrt_dense_host_tensor_t empty = testing_zeros(TFRT_DTYPE_F32, DIMS(0, 3));
  testing_prints(&empty, "DenseHostTensor dtype = f32, shape = [0, 3], values = []");
  tfrt_dense_host_tensor_deinitialize(&empty);
}
END_TEST

START_TEST(sizes_that_overflow_and_dtypes_without_bytes_are_refused) {
  size_t size;
  tfrt_shape_t huge = testing_shape(DIMS(INT64_MAX / 2));
  testing_fails(tfrt_dense_host_tensor_compute_size(TFRT_DTYPE_F64, &huge, &size),
                TFRT_STATUS_INVALID_ARGUMENT, "f64", "overflows", NULL);
  tfrt_shape_t half = testing_shape(DIMS(INT64_MAX / 4));
  testing_fails(tfrt_dense_host_tensor_compute_size(TFRT_DTYPE_F64, &half, &size),
                TFRT_STATUS_INVALID_ARGUMENT, NULL);
  ck_assert_uint_eq(size, 0);
  tfrt_shape_t one = testing_shape(DIMS(1));
  testing_fails(tfrt_dense_host_tensor_compute_size(TFRT_DTYPE_STRING, &one, &size),
                TFRT_STATUS_INVALID_ARGUMENT, "string", NULL);
  tfrt_dense_host_tensor_t tensor;
  testing_fails(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_INVALID, &one, tfrt_allocator_system(), &tensor),
      TFRT_STATUS_INVALID_ARGUMENT, NULL);
  ck_assert_ptr_null(tensor.buffer);
}
END_TEST

START_TEST(a_view_stays_inside_its_buffer_and_aligned) {
  tfrt_host_buffer_t* buffer;
  testing_ok(tfrt_host_buffer_create(16, tfrt_allocator_system(), &buffer));
  tfrt_dense_host_tensor_t view;
  tfrt_shape_t three = testing_shape(DIMS(3));
  testing_ok(tfrt_dense_host_tensor_initialize_view(TFRT_DTYPE_I32, &three, buffer, 4, &view));
  ck_assert_ptr_eq(tfrt_dense_host_tensor_data(&view), (char*)buffer->data + 4);
  tfrt_dense_host_tensor_deinitialize(&view);
  testing_fails(tfrt_dense_host_tensor_initialize_view(TFRT_DTYPE_I32, &three, buffer, 8, &view),
                TFRT_STATUS_OUT_OF_RANGE, "[3]", "16", NULL);
  testing_fails(tfrt_dense_host_tensor_initialize_view(TFRT_DTYPE_I32, &three, buffer, 2, &view),
                TFRT_STATUS_INVALID_ARGUMENT, "misaligned", NULL);
  tfrt_host_buffer_release(buffer);
}
END_TEST

START_TEST(equality_is_by_value) {
  const float a[] = {0.0f, 1.0f};
  const float b[] = {-0.0f, 1.0f};
  const float c[] = {0.0f, NAN};
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_F32, a, DIMS(2));
  tfrt_dense_host_tensor_t y = testing_tensor(TFRT_DTYPE_F32, b, DIMS(2));
  tfrt_dense_host_tensor_t z = testing_tensor(TFRT_DTYPE_F32, c, DIMS(2));
  tfrt_dense_host_tensor_t w = testing_tensor(TFRT_DTYPE_F32, a, DIMS(2, 1));
  ck_assert(tfrt_dense_host_tensor_equal(&x, &y));
  ck_assert(!tfrt_dense_host_tensor_equal(&x, &z));
  ck_assert(!tfrt_dense_host_tensor_equal(&z, &z));
  ck_assert(!tfrt_dense_host_tensor_equal(&x, &w));
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&y);
  tfrt_dense_host_tensor_deinitialize(&z);
  tfrt_dense_host_tensor_deinitialize(&w);
}
END_TEST

START_TEST(small_and_complex_floats_are_equal_by_value_too) {
  const struct {
    tfrt_dtype_t dtype;
    const void* zero;
    const void* minus_zero;
    const void* nan;
  } cases[] = {
      {TFRT_DTYPE_F16, &(uint16_t){0}, &(uint16_t){0x8000}, &(uint16_t){0x7E00}},
      {TFRT_DTYPE_BF16, &(uint16_t){0}, &(uint16_t){0x8000}, &(uint16_t){0x7FC0}},
      {TFRT_DTYPE_COMPLEX64, (float[]){0, 0}, (float[]){0, -0.0f}, (float[]){0, NAN}},
      {TFRT_DTYPE_COMPLEX128, (double[]){0, 0}, (double[]){-0.0, 0}, (double[]){(double)NAN, 0}},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    tfrt_dense_host_tensor_t x = testing_tensor(cases[i].dtype, cases[i].zero, DIMS(1));
    tfrt_dense_host_tensor_t y = testing_tensor(cases[i].dtype, cases[i].minus_zero, DIMS(1));
    tfrt_dense_host_tensor_t z = testing_tensor(cases[i].dtype, cases[i].nan, DIMS(1));
    ck_assert(tfrt_dense_host_tensor_equal(&x, &y));
    ck_assert(!tfrt_dense_host_tensor_equal(&x, &z));
    ck_assert(!tfrt_dense_host_tensor_equal(&z, &z));
    tfrt_dense_host_tensor_deinitialize(&x);
    tfrt_dense_host_tensor_deinitialize(&y);
    tfrt_dense_host_tensor_deinitialize(&z);
  }
}
END_TEST

START_TEST(filling_reaches_each_element) {
  for (int64_t count = 0; count < 40; ++count) {
    tfrt_dense_host_tensor_t tensor = testing_zeros(TFRT_DTYPE_I16, DIMS(count));
    tfrt_dense_host_tensor_fill(&tensor, &(int16_t){-7});
    for (int64_t i = 0; i < count; ++i) {
      ck_assert_int_eq(((int16_t*)tfrt_dense_host_tensor_data(&tensor))[i], -7);
    }
    tfrt_dense_host_tensor_deinitialize(&tensor);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("dense_host_tensor");
  tcase_add_test(cases, a_tensor_prints_at_most_sixteen_elements);
  tcase_add_test(cases, sizes_that_overflow_and_dtypes_without_bytes_are_refused);
  tcase_add_test(cases, a_view_stays_inside_its_buffer_and_aligned);
  tcase_add_test(cases, equality_is_by_value);
  tcase_add_test(cases, small_and_complex_floats_are_equal_by_value_too);
  tcase_add_test(cases, filling_reaches_each_element);
  Suite* suite = suite_create("dense_host_tensor");
  suite_add_tcase(suite, cases);
  return suite;
}
