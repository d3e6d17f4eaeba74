// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/math/resizing.h"

#include "tests/host_runtime/tensor/tensor_testing.h"

START_TEST(new_pixels_lie_between_old_ones) {
  const uint8_t pixels[] = {0, 100, 10, 200};
  tfrt_dense_host_tensor_t x = testing_tensor(TFRT_DTYPE_UI8, pixels, DIMS(1, 2, 2));
  tfrt_dense_host_tensor_t result;
  testing_ok(tfrt_tensor_resize_bilinear(&x, 1, 4, tfrt_allocator_system(), &result));
  testing_prints(&result,
                 "DenseHostTensor dtype = f32, shape = [1, 4, 2], values = [0.000000e+00, "
                 "1.000000e+02, 5.000000e+00, 1.500000e+02, 1.000000e+01, 2.000000e+02, "
                 "1.000000e+01, 2.000000e+02]");
  tfrt_dense_host_tensor_deinitialize(&result);
  testing_ok(tfrt_tensor_resize_bilinear(&x, 2, 1, tfrt_allocator_system(), &result));
  testing_prints(&result,
                 "DenseHostTensor dtype = f32, shape = [2, 1, 2], values = [0.000000e+00, "
                 "1.000000e+02, 0.000000e+00, 1.000000e+02]");
  tfrt_dense_host_tensor_deinitialize(&result);
  tfrt_dense_host_tensor_deinitialize(&x);
}
END_TEST

// No pixel beyond the old image is read at any size (the sanitizer looks), and none is brighter
// than the brightest.
START_TEST(any_sizes_stay_inside_the_image) {
  uint64_t seed = 51;
  for (int round = 0; round < 200; ++round) {
    int64_t h = testing_random_number(&seed, 1, 9), w = testing_random_number(&seed, 1, 9);
    tfrt_dense_host_tensor_t x = testing_zeros(TFRT_DTYPE_UI8, DIMS(h, w, 1));
    uint8_t* pixels = tfrt_dense_host_tensor_data(&x);
    for (int64_t i = 0; i < h * w; ++i) pixels[i] = (uint8_t)testing_random_number(&seed, 10, 20);
    tfrt_dense_host_tensor_t result;
    testing_ok(tfrt_tensor_resize_bilinear(&x, testing_random_number(&seed, 1, 30),
                                           testing_random_number(&seed, 1, 30),
                                           tfrt_allocator_system(), &result));
    for (int64_t i = 0; i < tfrt_dense_host_tensor_element_count(&result); ++i) {
      ck_assert_float_ge(testing_f32(&result, i), 10);
      ck_assert_float_le(testing_f32(&result, i), 20);
    }
    tfrt_dense_host_tensor_deinitialize(&result);
    tfrt_dense_host_tensor_deinitialize(&x);
  }
}
END_TEST

START_TEST(what_is_no_image_is_refused) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_dense_host_tensor_t result;
  tfrt_dense_host_tensor_t flat = testing_zeros(TFRT_DTYPE_UI8, DIMS(2, 2));
  tfrt_dense_host_tensor_t floats = testing_zeros(TFRT_DTYPE_F32, DIMS(2, 2, 3));
  tfrt_dense_host_tensor_t empty = testing_zeros(TFRT_DTYPE_UI8, DIMS(0, 2, 3));
  tfrt_dense_host_tensor_t image = testing_zeros(TFRT_DTYPE_UI8, DIMS(2, 2, 3));
  testing_fails(tfrt_tensor_resize_bilinear(&flat, 1, 1, allocator, &result),
                TFRT_STATUS_INVALID_ARGUMENT, "3 axes", "[2, 2]", NULL);
  testing_fails(tfrt_tensor_resize_bilinear(&floats, 1, 1, allocator, &result),
                TFRT_STATUS_INVALID_ARGUMENT, "ui8", "f32", NULL);
  testing_fails(tfrt_tensor_resize_bilinear(&empty, 1, 1, allocator, &result),
                TFRT_STATUS_INVALID_ARGUMENT, "[0, 2, 3]", NULL);
  testing_fails(tfrt_tensor_resize_bilinear(&image, -1, 1, allocator, &result),
                TFRT_STATUS_INVALID_ARGUMENT, "-1", NULL);
  testing_fails(tfrt_tensor_resize_bilinear(&image, INT64_MAX, 2, allocator, &result),
                TFRT_STATUS_INVALID_ARGUMENT, "overflows", NULL);
  testing_ok(tfrt_tensor_resize_bilinear(&empty, 0, 7, allocator, &result));
  ck_assert_str_eq(tfrt_shape_text(&result.shape).text, "[0, 7, 3]");
  tfrt_dense_host_tensor_deinitialize(&result);
  tfrt_dense_host_tensor_deinitialize(&flat);
  tfrt_dense_host_tensor_deinitialize(&floats);
  tfrt_dense_host_tensor_deinitialize(&empty);
  tfrt_dense_host_tensor_deinitialize(&image);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("resizing");
  tcase_add_test(cases, new_pixels_lie_between_old_ones);
  tcase_add_test(cases, any_sizes_stay_inside_the_image);
  tcase_add_test(cases, what_is_no_image_is_refused);
  Suite* suite = suite_create("resizing");
  suite_add_tcase(suite, cases);
  return suite;
}
