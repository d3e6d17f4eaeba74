// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/pooling.h"

#include <math.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

// The maximum of one place, by its definition.
static float naive(const tfrt_dense_host_tensor_t* x, const tfrt_window_t* window, int64_t image,
                   int64_t row, int64_t column) {
  int64_t height = x->shape.dims[2];
  int64_t width = x->shape.dims[3];
  float largest = -INFINITY;
  for (int64_t i = 0; i < window->size[0]; ++i) {
    for (int64_t j = 0; j < window->size[1]; ++j) {
      int64_t r = row * window->strides[0] + i - window->padding[0];
      int64_t c = column * window->strides[1] + j - window->padding[1];
      if (r < 0 || r >= height || c < 0 || c >= width) continue;
      largest = fmaxf(largest, testing_f32(x, (image * height + r) * width + c));
    }
  }
  return largest;
}

static void compare(const tfrt_dense_host_tensor_t* x, const tfrt_window_t* window) {
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_max_pool2d(x, window, tfrt_allocator_system(), &result));
  int64_t height = result.shape.dims[2], width = result.shape.dims[3];
  ck_assert_int_gt(height * width, 0);
  int64_t images = x->shape.dims[0] * x->shape.dims[1];
  for (int64_t i = 0; i < images * height * width; ++i) {
    float expected = naive(x, window, i / (height * width), i / width % height, i % width);
    ck_assert_float_eq(testing_f32(&result, i), expected);
  }
  tfrt_dense_host_tensor_deinitialize(&result);
}

START_TEST(random_shapes_equal_the_definition) {
  uint64_t seed = 21;
  for (int round = 0; round < 60; ++round) {
    int64_t n = testing_random_number(&seed, 1, 3), c = testing_random_number(&seed, 1, 17);
    tfrt_window_t window;
    int64_t image[2];
    for (int i = 0; i < 2; ++i) {
      window.size[i] = testing_random_number(&seed, 1, 4);
      window.strides[i] = testing_random_number(&seed, 1, 3);
      window.padding[i] = testing_random_number(&seed, 0, (window.size[i] - 1) / 2);
      image[i] = testing_random_number(&seed, window.size[i], 12);
    }
    // The second time with what the thread keeps of the first one, but other elements.
    for (int time = 0; time < 2; ++time) {
      tfrt_dense_host_tensor_t x = testing_random(&seed, DIMS(n, c, image[0], image[1]));
      compare(&x, &window);
      tfrt_dense_host_tensor_deinitialize(&x);
    }
  }
}
END_TEST

START_TEST(a_bad_window_or_input_is_refused) {
  uint64_t seed = 22;
  tfrt_dense_host_tensor_t x = testing_random(&seed, DIMS(1, 1, 4, 4));
  tfrt_dense_host_tensor_t flat = testing_random(&seed, DIMS(4, 4));
  tfrt_dense_host_tensor_t result;
  const tfrt_window_t windows[] = {
      {.size = {0, 2}, .strides = {1, 1}},
      {.size = {2, 2}, .strides = {1, 0}},
      {.size = {2, 2}, .strides = {1, 1}, .padding = {2, 0}},
      {.size = {2, INT64_MAX}, .strides = {1, 1}},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(windows); ++i) {
    testing_fails(tfrt_tensor_max_pool2d(&x, &windows[i], tfrt_allocator_system(), &result),
                  TFRT_STATUS_INVALID_ARGUMENT, "max_pool2d", NULL);
  }
  const tfrt_window_t good = {.size = {2, 2}, .strides = {2, 2}};
  testing_fails(tfrt_tensor_max_pool2d(&flat, &good, tfrt_allocator_system(), &result),
                TFRT_STATUS_INVALID_ARGUMENT, "4 axes", "[4, 4]", NULL);
  tfrt_dense_host_tensor_deinitialize(&x);
  tfrt_dense_host_tensor_deinitialize(&flat);
}
END_TEST

START_TEST(without_places_there_is_an_empty_result) {
  uint64_t seed = 23;
  const tfrt_window_t window = {.size = {3, 3}, .strides = {1, 1}, .padding = {1, 1}};
  const int64_t shapes[][4] = {{0, 2, 4, 4}, {2, 0, 4, 4}, {1, 1, 0, 4}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(shapes); ++i) {
    tfrt_dense_host_tensor_t x = testing_random(&seed, shapes[i], 4);
    tfrt_dense_host_tensor_t result;
    testing_ok(tfrt_tensor_max_pool2d(&x, &window, tfrt_allocator_system(), &result));
    ck_assert_int_eq(tfrt_dense_host_tensor_element_count(&result), 0);
    tfrt_dense_host_tensor_deinitialize(&x);
    tfrt_dense_host_tensor_deinitialize(&result);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("pooling");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, random_shapes_equal_the_definition);
  tcase_add_test(cases, a_bad_window_or_input_is_refused);
  tcase_add_test(cases, without_places_there_is_an_empty_result);
  Suite* suite = suite_create("pooling");
  suite_add_tcase(suite, cases);
  return suite;
}
