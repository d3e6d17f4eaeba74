// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/channels_last.h"

#include <math.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

// The maximum of one place, whose window begins at [row, column], by its definition.
static float largest_of(const tfrt_dense_host_tensor_t* x, const tfrt_pool_window_t* window,
                        int64_t image, int64_t row, int64_t column, int64_t channel) {
  const int64_t* dims = x->shape.dims;
  float largest = -INFINITY;
  for (int64_t r = row; r < row + window->size[0]; ++r) {
    for (int64_t c = column; c < column + window->size[1]; ++c) {
      if (r < 0 || r >= dims[1] || c < 0 || c >= dims[2]) continue;
      int64_t at = ((image * dims[1] + r) * dims[2] + c) * dims[3] + channel;
      largest = fmaxf(largest, testing_f32(x, at));
    }
  }
  return largest;
}

// The meaning of "same": one place for each stride begun, and the padding for that.
static void plan(const tfrt_pool_window_t* window, int64_t length, int axis, int64_t* out_count,
                 int64_t* out_near) {
  int64_t stride = window->strides[axis];
  *out_count =
      window->same ? (length + stride - 1) / stride : (length - window->size[axis]) / stride + 1;
  int64_t padding = (*out_count - 1) * stride + window->size[axis] - length;
  *out_near = window->same && padding > 0 ? padding / 2 : 0;
}

START_TEST(random_pools_equal_the_definition) {
  uint64_t seed = 41;
  for (int round = 0; round < 60; ++round) {
    tfrt_pool_window_t window = {.same = round % 2};
    int64_t length[2], count[2], near[2];
    for (int i = 0; i < 2; ++i) {
      window.size[i] = testing_random_number(&seed, 1, 4);
      window.strides[i] = testing_random_number(&seed, 1, window.size[i]);
      length[i] = testing_random_number(&seed, window.size[i], 9);
      plan(&window, length[i], i, &count[i], &near[i]);
    }
    int64_t n = testing_random_number(&seed, 1, 2), c = testing_random_number(&seed, 1, 9);
    tfrt_dense_host_tensor_t x = testing_random(&seed, DIMS(n, length[0], length[1], c));
    tfrt_dense_host_tensor_t y = testing_zeros(TFRT_DTYPE_F32, DIMS(n, count[0], count[1], c));
    testing_ok(tfrt_channels_last_max_pool(&x, &window, tfrt_allocator_system(), &y));
    for (int64_t i = 0; i < tfrt_dense_host_tensor_element_count(&y); ++i) {
      int64_t row = i / c / count[1] % count[0] * window.strides[0] - near[0];
      int64_t column = i / c % count[1] * window.strides[1] - near[1];
      float expected = largest_of(&x, &window, i / c / count[1] / count[0], row, column, i % c);
      ck_assert_float_eq(testing_f32(&y, i), expected);
    }
    tfrt_dense_host_tensor_deinitialize(&x);
    tfrt_dense_host_tensor_deinitialize(&y);
  }
}
END_TEST

START_TEST(averages_paddings_and_spreads_are_at_their_places) {
  const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_F32, numbers, DIMS(2, 1, 2, 2));
  tfrt_dense_host_tensor_t means = testing_zeros(TFRT_DTYPE_F32, DIMS(2, 2));
  testing_ok(tfrt_channels_last_average(&x, &means));
  testing_prints(&means,
                 "DenseHostTensor dtype = f32, shape = [2, 2], values = [2.000000e+00, "
                 "3.000000e+00, 6.000000e+00, 7.000000e+00]");
  tfrt_dense_host_tensor_t spread = testing_zeros(TFRT_DTYPE_F32, DIMS(2, 1, 2, 2));
  testing_ok(tfrt_channels_last_spread(&means, &spread));
  ck_assert_float_eq(testing_f32(&spread, 2), 2);
  ck_assert_float_eq(testing_f32(&spread, 7), 7);
  tfrt_dense_host_tensor_t padded = testing_random(&(uint64_t){1}, DIMS(2, 3, 4, 2));
  testing_ok(tfrt_channels_last_pad(&x, (const int64_t[]){1, 1}, &padded));
  float sum = 0;
  for (int64_t i = 0; i < 48; ++i) sum += testing_f32(&padded, i);
  ck_assert_float_eq(sum, 36);
  ck_assert_float_eq(testing_f32(&padded, (4 + 1) * 2), 1);
  ck_assert_float_eq(testing_f32(&padded, 24 + (4 + 2) * 2 + 1), 8);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&means);
  tfrt_dense_host_tensor_deinitialize(&spread);
  tfrt_dense_host_tensor_deinitialize(&padded);
}
END_TEST

START_TEST(wrong_outputs_and_windows_are_named) {
  tfrt_dense_host_tensor_t x = testing_zeros(TFRT_DTYPE_F32, DIMS(2, 3, 3, 6));
  tfrt_dense_host_tensor_t y = testing_zeros(TFRT_DTYPE_F32, DIMS(2, 2, 1, 6));
  tfrt_dense_host_tensor_t z = testing_zeros(TFRT_DTYPE_F32, DIMS(2, 5));
  tfrt_pool_window_t window = {.size = {3, 3}, .strides = {3, 3}};
  tfrt_allocator_t allocator = tfrt_allocator_system();
  testing_fails(
      tfrt_channels_last_max_pool(&x, &window, allocator, &y), TFRT_STATUS_INVALID_ARGUMENT,
      "output shape [2, 2, 1, 6] does not match the expected output shape [2, 1, 1, 6]", NULL);
  window.strides[0] = 0;
  testing_fails(tfrt_channels_last_max_pool(&x, &window, allocator, &y),
                TFRT_STATUS_INVALID_ARGUMENT, "strides of 0", NULL);
  testing_fails(tfrt_channels_last_max_pool(&z, &window, allocator, &y),
                TFRT_STATUS_INVALID_ARGUMENT, "4 axes", "[2, 5]", NULL);
  testing_fails(tfrt_channels_last_average(&x, &z), TFRT_STATUS_INVALID_ARGUMENT, "[2, 5]",
                "[2, 6]", NULL);
  testing_fails(tfrt_channels_last_pad(&x, (const int64_t[]){0, -1}, &y),
                TFRT_STATUS_INVALID_ARGUMENT, "-1", NULL);
  testing_fails(tfrt_channels_last_pad(&x, (const int64_t[]){0, 1}, &y),
                TFRT_STATUS_INVALID_ARGUMENT, "[2, 2, 1, 6]", "[2, 3, 5, 6]", NULL);
  testing_fails(tfrt_channels_last_pad(&x, (const int64_t[]){0, 0}, &x),
                TFRT_STATUS_INVALID_ARGUMENT, "shares memory", NULL);
  testing_fails(tfrt_channels_last_spread(&z, &y), TFRT_STATUS_INVALID_ARGUMENT, "[2, 2, 1, 6]",
                "[2, 5]", NULL);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&y);
  tfrt_dense_host_tensor_deinitialize(&z);
}
END_TEST

START_TEST(images_without_pixels_are_fine) {
  tfrt_dense_host_tensor_t x = testing_zeros(TFRT_DTYPE_F32, DIMS(1, 0, 3, 2));
  tfrt_dense_host_tensor_t y = testing_zeros(TFRT_DTYPE_F32, DIMS(1, 0, 0, 2));
  tfrt_pool_window_t window = {.size = {2, 2}, .strides = {1, 1}};
  testing_ok(tfrt_channels_last_max_pool(&x, &window, tfrt_allocator_system(), &y));
  tfrt_dense_host_tensor_t means = testing_zeros(TFRT_DTYPE_F32, DIMS(1, 2));
  testing_ok(tfrt_channels_last_average(&x, &means));
  ck_assert(isnan(testing_f32(&means, 0)));
  tfrt_dense_host_tensor_t padded = testing_random(&(uint64_t){1}, DIMS(1, 2, 3, 2));
  testing_ok(tfrt_channels_last_pad(&x, (const int64_t[]){1, 0}, &padded));
  for (int64_t i = 0; i < 12; ++i) ck_assert_float_eq(testing_f32(&padded, i), 0);
  tfrt_dense_host_tensor_t none = testing_zeros(TFRT_DTYPE_F32, DIMS(1, 2, 2, 0));
  tfrt_dense_host_tensor_t nothing = testing_zeros(TFRT_DTYPE_F32, DIMS(1, 0));
  testing_ok(tfrt_channels_last_spread(&nothing, &none));
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&y);
  tfrt_dense_host_tensor_deinitialize(&means);
  tfrt_dense_host_tensor_deinitialize(&padded);
  tfrt_dense_host_tensor_deinitialize(&none);
  tfrt_dense_host_tensor_deinitialize(&nothing);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("channels_last");
  tcase_add_test(cases, random_pools_equal_the_definition);
  tcase_add_test(cases, averages_paddings_and_spreads_are_at_their_places);
  tcase_add_test(cases, wrong_outputs_and_windows_are_named);
  tcase_add_test(cases, images_without_pixels_are_fine);
  Suite* suite = suite_create("channels_last");
  suite_add_tcase(suite, cases);
  return suite;
}
