// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/coo_host_tensor.h"

#include <math.h>
#include <string.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

static void coo_prints(const tfrt_coo_host_tensor_t* tensor, const char* text) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_coo_host_tensor_print(tensor, &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out), text);
  tfrt_string_builder_deinitialize(&out);
}

static tfrt_coo_host_tensor_t from_dense(const tfrt_dense_host_tensor_t* dense) {
  tfrt_coo_host_tensor_t tensor;
  testing_ok(tfrt_coo_host_tensor_initialize_from_dense(dense, tfrt_allocator_system(), &tensor));
  testing_ok(tfrt_coo_host_tensor_check(&tensor));
  return tensor;
}

START_TEST(tensors_print_as_the_reference_prints_them) {
  const int32_t fours[] = {4, 4, 4, 4, 4, 4};
  tfrt_dense_host_tensor_t dense = testing_tensor(TFRT_DTYPE_I32, fours, DIMS(3, 2));
  tfrt_coo_host_tensor_t tensor = from_dense(&dense);
  coo_prints(&tensor,
             "CooHostTensor dtype = i32, shape = [3, 2], indices = [0, 0, 0, 1, 0, 2, 1, 0, 1, 1, "
             "1, 2], values = [4, 4, 4, 4, 4, 4]\n");
  tfrt_coo_host_tensor_deinitialize(&tensor);
  tfrt_dense_host_tensor_deinitialize(&dense);
  dense = testing_zeros(TFRT_DTYPE_I32, DIMS(2, 3));
  tensor = from_dense(&dense);
  coo_prints(&tensor, "CooHostTensor dtype = i32, shape = [2, 3], indices = [], values = []\n");
  tfrt_coo_host_tensor_deinitialize(&tensor);
  tfrt_dense_host_tensor_deinitialize(&dense);
}
END_TEST

START_TEST(any_tensor_comes_back_whole) {
  uint64_t seed = 5;
  for (int round = 0; round < 200; ++round) {
    int64_t dims[4];
    size_t rank = (size_t)testing_random_number(&seed, 0, 4);
    for (size_t i = 0; i < rank; ++i) dims[i] = testing_random_number(&seed, i < 2 ? 0 : 1, 5);
    tfrt_dense_host_tensor_t dense = testing_random(&seed, dims, rank);
    float* elements = tfrt_dense_host_tensor_data(&dense);
    for (int64_t i = 0; i < tfrt_dense_host_tensor_element_count(&dense); ++i) {
      if (testing_random_number(&seed, 0, 2) == 0) elements[i] = 0;
    }
    tfrt_coo_host_tensor_t sparse = from_dense(&dense);
    tfrt_dense_host_tensor_t back;
    testing_ok(tfrt_coo_host_tensor_to_dense(&sparse, tfrt_allocator_system(), &back));
    ck_assert(tfrt_dense_host_tensor_equal(&dense, &back));
    tfrt_dense_host_tensor_deinitialize(&back);
    tfrt_coo_host_tensor_deinitialize(&sparse);
    tfrt_dense_host_tensor_deinitialize(&dense);
  }
}
END_TEST

START_TEST(a_nan_is_listed_and_a_negative_zero_is_not) {
  const double elements[] = {-0.0, (double)NAN};
  tfrt_dense_host_tensor_t dense = testing_tensor(TFRT_DTYPE_F64, elements, DIMS(2));
  tfrt_coo_host_tensor_t sparse = from_dense(&dense);
  ck_assert_int_eq(sparse.count, 1);
  ck_assert_int_eq(tfrt_coo_host_tensor_indices(&sparse)[0], 1);
  ck_assert(!tfrt_coo_host_tensor_equal(&sparse, &sparse));
  tfrt_coo_host_tensor_deinitialize(&sparse);
  tfrt_dense_host_tensor_deinitialize(&dense);
}
END_TEST

START_TEST(both_ways_of_counting_say_the_same) {
  const int32_t elements[] = {0, 0, 0, 7, 0, 0};
  tfrt_dense_host_tensor_t dense = testing_tensor(TFRT_DTYPE_I32, elements, DIMS(3, 2));
  tfrt_coo_host_tensor_t made = from_dense(&dense);
  tfrt_coo_host_tensor_t read;
  testing_ok(tfrt_coo_host_tensor_initialize(TFRT_DTYPE_I32, &dense.shape, 1,
                                             tfrt_allocator_system(), &read));
  tfrt_coo_host_tensor_indices(&read)[0] = 1;
  tfrt_coo_host_tensor_indices(&read)[1] = 1;
  *(int32_t*)tfrt_coo_host_tensor_values(&read) = 7;
  ck_assert(tfrt_coo_host_tensor_equal(&made, &read));
  *(int32_t*)tfrt_coo_host_tensor_values(&read) = 8;
  ck_assert(!tfrt_coo_host_tensor_equal(&made, &read));
  tfrt_coo_host_tensor_indices(&read)[0] = 3;
  testing_fails(tfrt_coo_host_tensor_check(&read), TFRT_STATUS_INVALID_ARGUMENT, "coordinate 0",
                "[3, 2]", NULL);
  tfrt_coo_host_tensor_deinitialize(&read);
  tfrt_coo_host_tensor_deinitialize(&made);
  tfrt_dense_host_tensor_deinitialize(&dense);
}
END_TEST

START_TEST(counts_and_shapes_that_cannot_be_are_refused) {
  tfrt_coo_host_tensor_t tensor;
  tfrt_shape_t shape = testing_shape(DIMS(2, 2));
  testing_fails(
      tfrt_coo_host_tensor_initialize(TFRT_DTYPE_I32, &shape, -1, tfrt_allocator_system(), &tensor),
      TFRT_STATUS_INVALID_ARGUMENT, "[2, 2]", "-1", NULL);
  testing_fails(tfrt_coo_host_tensor_initialize(TFRT_DTYPE_I32, &shape, INT64_MAX,
                                                tfrt_allocator_system(), &tensor),
                TFRT_STATUS_INVALID_ARGUMENT, "[2, 2]", NULL);
  testing_fails(tfrt_coo_host_tensor_initialize(TFRT_DTYPE_STRING, &shape, 1,
                                                tfrt_allocator_system(), &tensor),
                TFRT_STATUS_INVALID_ARGUMENT, "string", NULL);
  tfrt_shape_t empty = testing_shape(DIMS(0));
  testing_ok(
      tfrt_coo_host_tensor_initialize(TFRT_DTYPE_I32, &empty, 1, tfrt_allocator_system(), &tensor));
  memset(tensor.buffer->data, 0, tensor.buffer->size);
  testing_fails(tfrt_coo_host_tensor_check(&tensor), TFRT_STATUS_INVALID_ARGUMENT, "[0]", NULL);
  tfrt_coo_host_tensor_deinitialize(&tensor);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("coo_host_tensor");
  tcase_add_test(cases, tensors_print_as_the_reference_prints_them);
  tcase_add_test(cases, any_tensor_comes_back_whole);
  tcase_add_test(cases, a_nan_is_listed_and_a_negative_zero_is_not);
  tcase_add_test(cases, both_ways_of_counting_say_the_same);
  tcase_add_test(cases, counts_and_shapes_that_cannot_be_are_refused);
  Suite* suite = suite_create("coo_host_tensor");
  suite_add_tcase(suite, cases);
  return suite;
}
