// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/kernel_parts/tensor_making.h"

#include "host_runtime/base/counting_allocator.h"
#include "tests/host_runtime/tensor/tensor_testing.h"

// An array attribute of i64, as BEF has it: the count first, the values aligned behind it.
typedef struct dims_attribute_s {
  _Alignas(8) char padding[4];
  uint32_t count;
  int64_t values[2];
} dims_attribute_t;

START_TEST(a_shape_must_have_the_rank_of_the_name_and_fit_the_memory) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 1024);
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&books);
  tfrt_dense_host_tensor_t tensor;
  dims_attribute_t dims = {.count = 2, .values = {2, 3}};
  testing_ok(tfrt_make_uninitialized(TFRT_DTYPE_BF16, 2, &dims.count, allocator, &tensor));
  ck_assert_uint_eq(tfrt_dense_host_tensor_size(&tensor), 12);
  tfrt_dense_host_tensor_deinitialize(&tensor);
  testing_fails(tfrt_make_uninitialized(TFRT_DTYPE_I8, 1, &dims.count, allocator, &tensor),
                TFRT_STATUS_INVALID_ARGUMENT, "2 axes", "says 1", NULL);
  dims.values[0] = 1024;
  testing_fails(tfrt_make_uninitialized(TFRT_DTYPE_I8, 2, &dims.count, allocator, &tensor),
                TFRT_STATUS_RESOURCE_EXHAUSTED, "Cannot allocate tensor", NULL);
  dims.values[0] = INT64_MAX;
  testing_fails(tfrt_make_uninitialized(TFRT_DTYPE_I8, 2, &dims.count, allocator, &tensor),
                TFRT_STATUS_INVALID_ARGUMENT, "[9223372036854775807, 3] overflows", NULL);
  dims.values[1] = -1;
  testing_fails(tfrt_make_empty_strings(&dims.count, allocator, &(tfrt_string_host_tensor_t){0}),
                TFRT_STATUS_INVALID_ARGUMENT, "-1", NULL);
  dims.values[1] = 1;
  testing_fails(tfrt_make_empty_strings(&dims.count, allocator, &(tfrt_string_host_tensor_t){0}),
                TFRT_STATUS_INVALID_ARGUMENT, "overflows", NULL);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}
END_TEST

START_TEST(a_buffer_has_the_size_of_its_tensor) {
  tfrt_host_buffer_t* buffer;
  testing_ok(tfrt_make_buffer(24, 8, tfrt_allocator_system(), &buffer));
  tfrt_shape_t shape = testing_shape(DIMS(3));
  tfrt_dense_host_tensor_t tensor;
  testing_ok(tfrt_make_in_buffer(TFRT_DTYPE_COMPLEX64, buffer, &shape, &tensor));
  ck_assert_ptr_eq(tensor.buffer, buffer);
  tfrt_dense_host_tensor_deinitialize(&tensor);
  testing_fails(tfrt_make_in_buffer(TFRT_DTYPE_F32, buffer, &shape, &tensor),
                TFRT_STATUS_INVALID_ARGUMENT, "buffer_size (24)", "[3]", "(4)", NULL);
  tfrt_shape_t huge;
  testing_ok(tfrt_shape_make_unbounded(DIMS(INT64_MAX, 4), &huge));
  testing_fails(tfrt_make_in_buffer(TFRT_DTYPE_F32, buffer, &huge, &tensor),
                TFRT_STATUS_INVALID_ARGUMENT, "overflows", NULL);
  tfrt_host_buffer_release(buffer);
  testing_fails(tfrt_make_buffer(-1, 8, tfrt_allocator_system(), &buffer),
                TFRT_STATUS_INVALID_ARGUMENT, "-1 bytes", NULL);
  testing_fails(tfrt_make_buffer(8, 3, tfrt_allocator_system(), &buffer),
                TFRT_STATUS_INVALID_ARGUMENT, "aligned to 3", NULL);
}
END_TEST

START_TEST(elements_are_set_all_or_none) {
  tfrt_dense_host_tensor_t tensor = testing_zeros(TFRT_DTYPE_COMPLEX128, DIMS(1));
  const struct {
    _Alignas(8) char padding[4];
    uint32_t count;
    double values[2];
  } parts = {.count = 2, .values = {1, -1}};
  testing_ok(tfrt_set_elements(&tensor, &parts.count));
  testing_prints(&tensor,
                 "DenseHostTensor dtype = complex128, shape = [1], values = "
                 "[(1.000000e+00,-1.000000e+00)]");
  tfrt_dense_host_tensor_deinitialize(&tensor);
  tensor = testing_zeros(TFRT_DTYPE_F64, DIMS(1));
  testing_fails(tfrt_set_elements(&tensor, &parts.count), TFRT_STATUS_INVALID_ARGUMENT,
                "Incorrect number of values for the tensor: 2, but expected 1", NULL);
  tfrt_dense_host_tensor_deinitialize(&tensor);
}
END_TEST

START_TEST(other_layouts_and_dtypes_are_told_apart) {
  tfrt_host_tensor_t tensor = {.layout = TFRT_TENSOR_LAYOUT_DENSE,
                               .dense = testing_zeros(TFRT_DTYPE_F32, DIMS(2))};
  testing_ok(tfrt_check_dense(&tensor, 0, TFRT_DTYPE_F32));
  testing_fails(tfrt_check_dense(&tensor, 3, TFRT_DTYPE_I32), TFRT_STATUS_INVALID_ARGUMENT,
                "operand 3", "i32", "f32", "[2]", NULL);
  tfrt_host_tensor_t sparse = {.layout = TFRT_TENSOR_LAYOUT_COO};
  testing_ok(tfrt_coo_host_tensor_initialize_from_dense(&tensor.dense, tfrt_allocator_system(),
                                                        &sparse.coo));
  testing_fails(tfrt_check_dense(&sparse, 0, TFRT_DTYPE_F32), TFRT_STATUS_INVALID_ARGUMENT,
                "CooHostTensor", NULL);
  tfrt_host_tensor_deinitialize(&tensor);
  tfrt_host_tensor_deinitialize(&sparse);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("tensor_making");
  tcase_add_test(cases, a_shape_must_have_the_rank_of_the_name_and_fit_the_memory);
  tcase_add_test(cases, a_buffer_has_the_size_of_its_tensor);
  tcase_add_test(cases, elements_are_set_all_or_none);
  tcase_add_test(cases, other_layouts_and_dtypes_are_told_apart);
  Suite* suite = suite_create("tensor_making");
  suite_add_tcase(suite, cases);
  return suite;
}
