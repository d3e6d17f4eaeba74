// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/convolution.h"

#include <math.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

static float at(const tfrt_dense_host_tensor_t* t, int64_t a, int64_t b, int64_t c, int64_t d) {
  const int64_t* dims = t->shape.dims;
  return testing_f32(t, ((a * dims[1] + b) * dims[2] + c) * dims[3] + d);
}

// One element of the convolution, by its definition.
static double naive(const tfrt_dense_host_tensor_t* x, const tfrt_dense_host_tensor_t* weights,
                    const tfrt_dense_host_tensor_t* bias, const tfrt_window_t* window, bool relu,
                    const int64_t* place) {
  double sum = bias ? (double)testing_f32(bias, place[1]) : 0;
  for (int64_t c = 0; c < weights->shape.dims[1]; ++c) {
    for (int64_t i = 0; i < weights->shape.dims[2]; ++i) {
      for (int64_t j = 0; j < weights->shape.dims[3]; ++j) {
        int64_t row = place[2] * window->strides[0] + i - window->padding[0];
        int64_t column = place[3] * window->strides[1] + j - window->padding[1];
        bool is_inside =
            row >= 0 && row < x->shape.dims[2] && column >= 0 && column < x->shape.dims[3];
        if (is_inside) {
          sum += (double)at(x, place[0], c, row, column) * (double)at(weights, place[1], c, i, j);
        }
      }
    }
  }
  return relu && sum < 0 ? 0 : sum;
}

static void compare(const tfrt_dense_host_tensor_t* x, const tfrt_dense_host_tensor_t* weights,
                    const tfrt_dense_host_tensor_t* bias, const tfrt_window_t* window, bool relu) {
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_conv2d(x, weights, bias, window, relu, tfrt_allocator_system(), &result));
  const int64_t* dims = result.shape.dims;
  for (int64_t i = 0; i < tfrt_dense_host_tensor_element_count(&result); ++i) {
    const int64_t place[4] = {i / (dims[1] * dims[2] * dims[3]), i / (dims[2] * dims[3]) % dims[1],
                              i / dims[3] % dims[2], i % dims[3]};
    double expected = naive(x, weights, bias, window, relu, place);
    ck_assert_double_eq_tol((double)testing_f32(&result, i), expected, 1e-4);
  }
  tfrt_dense_host_tensor_deinitialize(&result);
}

START_TEST(random_shapes_equal_the_definition) {
  uint64_t seed = 11;
  for (int round = 0; round < 60; ++round) {
    int64_t n = testing_random_number(&seed, 1, 3), c = testing_random_number(&seed, 1, 9);
    int64_t h = testing_random_number(&seed, 1, 12), w = testing_random_number(&seed, 1, 12);
    int64_t o = testing_random_number(&seed, 1, 9);
    int64_t kh = testing_random_number(&seed, 1, 5), kw = testing_random_number(&seed, 1, 5);
    tfrt_window_t window;
    for (int i = 0; i < 2; ++i) {
      window.strides[i] = testing_random_number(&seed, 1, 3);
      window.padding[i] = testing_random_number(&seed, 0, 2);
    }
    // The second time with what the thread keeps of the first one, but other elements.
    for (int time = 0; time < 2; ++time) {
      tfrt_dense_host_tensor_t x = testing_random(&seed, DIMS(n, c, h, w));
      tfrt_dense_host_tensor_t weights = testing_random(&seed, DIMS(o, c, kh, kw));
      tfrt_dense_host_tensor_t bias = testing_random(&seed, DIMS(o));
      compare(&x, &weights, round % 3 ? &bias : NULL, &window, round % 2);
      tfrt_dense_host_tensor_deinitialize(&x);
      tfrt_dense_host_tensor_deinitialize(&weights);
      tfrt_dense_host_tensor_deinitialize(&bias);
    }
  }
}
END_TEST

START_TEST(the_result_has_the_documented_shape) {
  uint64_t seed = 12;
  tfrt_dense_host_tensor_t x = testing_random(&seed, DIMS(2, 3, 10, 7));
  tfrt_dense_host_tensor_t weights = testing_random(&seed, DIMS(4, 3, 3, 2));
  const tfrt_window_t window = {.strides = {2, 3}, .padding = {1, 0}};
  tfrt_dense_host_tensor_t result;
  testing_ok(
      tfrt_tensor_conv2d(&x, &weights, NULL, &window, false, tfrt_allocator_system(), &result));
  ck_assert_str_eq(tfrt_shape_text(&result.shape).text, "[2, 4, 5, 2]");
  tfrt_dense_host_tensor_deinitialize(&result);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&weights);
}
END_TEST

// Makes a convolution of zeros and expects the error.
static void refused(tfrt_dtype_t dtype, const int64_t* x_dims, size_t x_rank, const int64_t* w_dims,
                    size_t w_rank, int64_t bias_length, const tfrt_window_t* window,
                    const char* first, const char* second) {
  tfrt_dense_host_tensor_t x = testing_zeros(dtype, x_dims, x_rank);
  tfrt_dense_host_tensor_t weights = testing_zeros(TFRT_DTYPE_F32, w_dims, w_rank);
  tfrt_dense_host_tensor_t bias = testing_zeros(TFRT_DTYPE_F32, DIMS(bias_length));
  tfrt_dense_host_tensor_t result;
  testing_fails(
      tfrt_tensor_conv2d(&x, &weights, &bias, window, false, tfrt_allocator_system(), &result),
      TFRT_STATUS_INVALID_ARGUMENT, first, second, NULL);
  ck_assert_ptr_null(result.buffer);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&weights);
  tfrt_dense_host_tensor_deinitialize(&bias);
}

START_TEST(what_does_not_fit_is_an_error_with_both_shapes) {
  const tfrt_window_t good = {.strides = {1, 1}};
  const tfrt_window_t no_stride = {.strides = {0, 1}};
  const tfrt_window_t negative = {.strides = {1, 1}, .padding = {0, -1}};
  refused(TFRT_DTYPE_F32, DIMS(1, 2, 5, 5), DIMS(4, 3, 3, 3), 4, &good, "[1, 2, 5, 5]",
          "[4, 3, 3, 3]");
  refused(TFRT_DTYPE_F32, DIMS(1, 3, 5, 5), DIMS(4, 3, 3, 3), 5, &good, "[5]", "[4, 3, 3, 3]");
  refused(TFRT_DTYPE_F32, DIMS(3, 5, 5), DIMS(4, 3, 3, 3), 4, &good, "4 axes", "[3, 5, 5]");
  refused(TFRT_DTYPE_UI8, DIMS(1, 3, 5, 5), DIMS(4, 3, 3, 3), 4, &good, "f32", "ui8");
  refused(TFRT_DTYPE_F32, DIMS(1, 3, 5, 5), DIMS(4, 3, 0, 3), 4, &good, "empty window",
          "[4, 3, 0, 3]");
  refused(TFRT_DTYPE_F32, DIMS(1, 3, 5, 5), DIMS(4, 3, 3, 3), 4, &no_stride, "stride of 0", "");
  refused(TFRT_DTYPE_F32, DIMS(1, 3, 5, 5), DIMS(4, 3, 3, 3), 4, &negative, "padding of -1", "");
}
END_TEST

START_TEST(without_elements_there_is_a_result) {
  const tfrt_window_t window = {.strides = {1, 1}};
  uint64_t seed = 13;
  tfrt_dense_host_tensor_t none = testing_random(&seed, DIMS(0, 3, 5, 5));
  tfrt_dense_host_tensor_t small = testing_random(&seed, DIMS(1, 3, 2, 2));
  tfrt_dense_host_tensor_t no_channels = testing_random(&seed, DIMS(1, 0, 4, 4));
  tfrt_dense_host_tensor_t weights = testing_random(&seed, DIMS(2, 3, 3, 3));
  tfrt_dense_host_tensor_t no_weights = testing_random(&seed, DIMS(2, 0, 3, 3));
  const float addends[] = {-1, 2};
  tfrt_dense_host_tensor_t bias = testing_tensor(TFRT_DTYPE_F32, addends, DIMS(2));
  compare(&none, &weights, &bias, &window, false);
  compare(&small, &weights, &bias, &window, false);
  compare(&no_channels, &no_weights, &bias, &window, true);
  compare(&no_channels, &no_weights, NULL, &window, false);
  tfrt_dense_host_tensor_deinitialize(&none);
  tfrt_dense_host_tensor_deinitialize(&small);
  tfrt_dense_host_tensor_deinitialize(&no_channels);
  tfrt_dense_host_tensor_deinitialize(&weights);
  tfrt_dense_host_tensor_deinitialize(&no_weights);
  tfrt_dense_host_tensor_deinitialize(&bias);
}
END_TEST

// The lengths are those of a convolution that this thread has just computed, the rest is not.
START_TEST(what_differs_only_in_kind_is_an_error_behind_a_good_one) {
  tfrt_dense_host_tensor_t x = testing_zeros(TFRT_DTYPE_F32, DIMS(1, 2, 5, 5));
  tfrt_dense_host_tensor_t weights = testing_zeros(TFRT_DTYPE_F32, DIMS(3, 2, 2, 2));
  tfrt_dense_host_tensor_t whole = testing_zeros(TFRT_DTYPE_I32, DIMS(3, 2, 2, 2));
  tfrt_dense_host_tensor_t bias = testing_zeros(TFRT_DTYPE_F32, DIMS(3));
  tfrt_dense_host_tensor_t longer = testing_zeros(TFRT_DTYPE_F32, DIMS(4));
  const tfrt_window_t window = {.strides = {1, 1}};
  compare(&x, &weights, &bias, &window, false);
  tfrt_dense_host_tensor_t result;
  testing_fails(
      tfrt_tensor_conv2d(&x, &weights, &longer, &window, false, tfrt_allocator_system(), &result),
      TFRT_STATUS_INVALID_ARGUMENT, "[4]", "[3, 2, 2, 2]", NULL);
  testing_fails(
      tfrt_tensor_conv2d(&x, &whole, &bias, &window, false, tfrt_allocator_system(), &result),
      TFRT_STATUS_INVALID_ARGUMENT, "must be f32", "i32", NULL);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&weights);
  tfrt_dense_host_tensor_deinitialize(&whole);
  tfrt_dense_host_tensor_deinitialize(&bias);
  tfrt_dense_host_tensor_deinitialize(&longer);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("convolution");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, random_shapes_equal_the_definition);
  tcase_add_test(cases, the_result_has_the_documented_shape);
  tcase_add_test(cases, what_does_not_fit_is_an_error_with_both_shapes);
  tcase_add_test(cases, what_differs_only_in_kind_is_an_error_behind_a_good_one);
  tcase_add_test(cases, without_elements_there_is_a_result);
  Suite* suite = suite_create("convolution");
  suite_add_tcase(suite, cases);
  return suite;
}
