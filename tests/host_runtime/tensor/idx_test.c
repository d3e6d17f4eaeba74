// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/idx.h"

#include <string.h>

#include "host_runtime/base/counting_allocator.h"
#include "tests/host_runtime/tensor/tensor_testing.h"

static tfrt_dense_host_tensor_t read(const uint8_t* data, size_t size) {
  tfrt_dense_host_tensor_t tensor;
  ck_assert(tfrt_idx_matches(data, size));
  testing_ok(tfrt_idx_read(data, size, tfrt_allocator_system(), &tensor));
  return tensor;
}

START_TEST(each_element_type_is_read) {
  const uint8_t bytes[] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1, 7, 255};
  tfrt_dense_host_tensor_t tensor = read(bytes, sizeof(bytes));
  testing_prints(&tensor, "DenseHostTensor dtype = ui8, shape = [2, 1], values = [7, 255]");
  tfrt_dense_host_tensor_deinitialize(&tensor);
  const uint8_t i8[] = {0, 0, 9, 1, 0, 0, 0, 1, 255};
  tensor = read(i8, sizeof(i8));
  testing_prints(&tensor, "DenseHostTensor dtype = i8, shape = [1], values = [-1]");
  tfrt_dense_host_tensor_deinitialize(&tensor);
  const uint8_t i16[] = {0, 0, 11, 1, 0, 0, 0, 2, 1, 0, 255, 254};
  tensor = read(i16, sizeof(i16));
  testing_prints(&tensor, "DenseHostTensor dtype = i16, shape = [2], values = [256, -2]");
  tfrt_dense_host_tensor_deinitialize(&tensor);
  const uint8_t i32[] = {0, 0, 12, 1, 0, 0, 0, 1, 1, 2, 3, 4};
  tensor = read(i32, sizeof(i32));
  testing_prints(&tensor, "DenseHostTensor dtype = i32, shape = [1], values = [16909060]");
  tfrt_dense_host_tensor_deinitialize(&tensor);
  const uint8_t f32[] = {0, 0, 13, 1, 0, 0, 0, 1, 0x3F, 0xC0, 0, 0};
  tensor = read(f32, sizeof(f32));
  testing_prints(&tensor, "DenseHostTensor dtype = f32, shape = [1], values = [1.500000e+00]");
  tfrt_dense_host_tensor_deinitialize(&tensor);
  const uint8_t f64[] = {0, 0, 14, 1, 0, 0, 0, 1, 0xC0, 0, 0, 0, 0, 0, 0, 0};
  tensor = read(f64, sizeof(f64));
  testing_prints(&tensor, "DenseHostTensor dtype = f64, shape = [1], values = [-2.000000e+00]");
  tfrt_dense_host_tensor_deinitialize(&tensor);
}
END_TEST

START_TEST(a_file_without_elements_is_read) {
  const uint8_t bytes[] = {0, 0, 12, 2, 0, 0, 0, 0, 0, 0, 0, 28};
  tfrt_dense_host_tensor_t tensor = read(bytes, sizeof(bytes));
  testing_prints(&tensor, "DenseHostTensor dtype = i32, shape = [0, 28], values = []");
  tfrt_dense_host_tensor_deinitialize(&tensor);
}
END_TEST

START_TEST(what_is_no_idx_file_is_refused) {
  tfrt_dense_host_tensor_t tensor;
  const uint8_t files[][8] = {
      {0, 0, 10, 1, 0, 0, 0, 0},       // no such type
      {0, 1, 8, 1, 0, 0, 0, 0},        // no zeros in front
      {0, 0, 8, 0, 0, 0, 0, 0},        // no axes
      {0x1f, 0x8b, 8, 0, 0, 0, 0, 0},  // still compressed
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(files); ++i) {
    ck_assert(!tfrt_idx_matches(files[i], 8));
    testing_fails(tfrt_idx_read(files[i], 8, tfrt_allocator_system(), &tensor),
                  TFRT_STATUS_INVALID_ARGUMENT, "not an idx file", NULL);
  }
  testing_fails(tfrt_idx_read(NULL, 0, tfrt_allocator_system(), &tensor),
                TFRT_STATUS_INVALID_ARGUMENT, NULL);
}
END_TEST

START_TEST(a_file_that_lies_about_its_size_asks_for_no_memory) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&books);
  const uint8_t bytes[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 2, 3};
  tfrt_dense_host_tensor_t tensor;
  for (size_t size = 0; size <= sizeof(bytes); ++size) {
    if (size == 10) continue;
    testing_fails(tfrt_idx_read(bytes, size, allocator, &tensor), TFRT_STATUS_INVALID_ARGUMENT,
                  "idx", NULL);
  }
  const uint8_t large[] = {0,    0,    14,   3,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                           0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  testing_fails(tfrt_idx_read(large, sizeof(large), allocator, &tensor),
                TFRT_STATUS_INVALID_ARGUMENT, NULL);
  const uint8_t many[] = {0, 0, 8, 255, 0, 0, 0, 1};
  testing_fails(tfrt_idx_read(many, sizeof(many), allocator, &tensor), TFRT_STATUS_INVALID_ARGUMENT,
                "255 axes", NULL);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).total_count, 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("idx");
  tcase_add_test(cases, each_element_type_is_read);
  tcase_add_test(cases, a_file_without_elements_is_read);
  tcase_add_test(cases, what_is_no_idx_file_is_refused);
  tcase_add_test(cases, a_file_that_lies_about_its_size_asks_for_no_memory);
  Suite* suite = suite_create("idx");
  suite_add_tcase(suite, cases);
  return suite;
}
