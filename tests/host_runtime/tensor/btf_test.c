// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/btf.h"

#include <string.h>

#include "tests/host_runtime/tensor/tensor_testing.h"

static tfrt_host_buffer_t* buffer_of(const void* data, size_t size) {
  tfrt_host_buffer_t* buffer;
  testing_ok(tfrt_host_buffer_create(size, tfrt_allocator_system(), &buffer));
  if (size > 0) memcpy(buffer->data, data, size);
  return buffer;
}

// A file with the two tensors.
static tfrt_host_buffer_t* write_two(const tfrt_dense_host_tensor_t* tensors) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  const tfrt_host_tensor_t both[] = {{.layout = TFRT_TENSOR_LAYOUT_DENSE, .dense = tensors[0]},
                                     {.layout = TFRT_TENSOR_LAYOUT_DENSE, .dense = tensors[1]}};
  testing_ok(tfrt_btf_write(both, 2, &out));
  tfrt_host_buffer_t* file = buffer_of(out.data, out.size);
  tfrt_string_builder_deinitialize(&out);
  return file;
}

START_TEST(what_is_written_is_read_without_a_copy) {
  const int8_t bytes[] = {1, -2, 3};
  uint64_t seed = 3;
  tfrt_dense_host_tensor_t tensors[2] = {testing_tensor(TFRT_DTYPE_I8, bytes, DIMS(3)),
                                         testing_random(&seed, DIMS(2, 0, 5))};
  tfrt_host_buffer_t* file = write_two(tensors);
  ck_assert_uint_eq(file->size % 8, 0);
  uint64_t count;
  testing_ok(tfrt_btf_count(file, &count));
  ck_assert_uint_eq(count, 2);
  for (uint64_t i = 0; i < 2; ++i) {
    tfrt_dense_host_tensor_t tensor;
    testing_ok(tfrt_btf_read(file, i, tfrt_allocator_system(), &tensor));
    ck_assert(tfrt_dense_host_tensor_equal(&tensor, &tensors[i]));
    ck_assert_ptr_eq(tensor.buffer, file);
    tfrt_dense_host_tensor_deinitialize(&tensor);
    tfrt_dense_host_tensor_deinitialize(&tensors[i]);
  }
  tfrt_dense_host_tensor_t tensor;
  testing_fails(tfrt_btf_read(file, 2, tfrt_allocator_system(), &tensor), TFRT_STATUS_OUT_OF_RANGE,
                "tensor 2", "has 2", NULL);
  tfrt_host_buffer_release(file);
}
END_TEST

START_TEST(a_misaligned_file_is_copied) {
  uint64_t seed = 4;
  tfrt_dense_host_tensor_t tensors[2] = {testing_random(&seed, DIMS(5)),
                                         testing_random(&seed, DIMS(2, 2))};
  tfrt_host_buffer_t* file = write_two(tensors);
  char* shifted = tfrt_allocator_allocate(tfrt_allocator_system(), file->size + 1);
  memcpy(shifted + 1, file->data, file->size);
  tfrt_host_buffer_t* whole = buffer_of(shifted, file->size + 1);
  tfrt_host_buffer_t* slice;
  testing_ok(tfrt_host_buffer_create_slice(whole, 1, file->size, tfrt_allocator_system(), &slice));
  tfrt_dense_host_tensor_t tensor;
  testing_ok(tfrt_btf_read(slice, 1, tfrt_allocator_system(), &tensor));
  ck_assert(tfrt_dense_host_tensor_equal(&tensor, &tensors[1]));
  tfrt_dense_host_tensor_deinitialize(&tensor);
  tfrt_allocator_free(tfrt_allocator_system(), shifted, file->size + 1);
  tfrt_dense_host_tensor_deinitialize(&tensors[0]);
  tfrt_dense_host_tensor_deinitialize(&tensors[1]);
  tfrt_host_buffer_release(slice);
  tfrt_host_buffer_release(whole);
  tfrt_host_buffer_release(file);
}
END_TEST

// Reads all there seems to be; nothing may crash, and errors must be the right ones.
static int try_all(tfrt_host_buffer_t* file) {
  uint64_t count;
  tfrt_status_t status = tfrt_btf_count(file, &count);
  int errors = 0;
  for (uint64_t i = 0; !status && i < count; ++i) {
    tfrt_dense_host_tensor_t tensor;
    status = tfrt_btf_read(file, i, tfrt_allocator_system(), &tensor);
    if (!status) tfrt_dense_host_tensor_deinitialize(&tensor);
  }
  if (status) {
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    tfrt_status_release(status);
    ++errors;
  }
  return errors;
}

START_TEST(cut_and_flipped_files_are_refused_or_harmless) {
  uint64_t seed = 5;
  tfrt_dense_host_tensor_t tensors[2] = {testing_random(&seed, DIMS(3)),
                                         testing_random(&seed, DIMS(2, 4))};
  tfrt_host_buffer_t* file = write_two(tensors);
  for (size_t size = 0; size < file->size; ++size) {
    tfrt_host_buffer_t* cut = buffer_of(file->data, size);
    ck_assert_int_eq(try_all(cut), 1);
    tfrt_host_buffer_release(cut);
  }
  int errors = 0;
  for (size_t bit = 0; bit < file->size * 8; ++bit) {
    tfrt_host_buffer_t* flipped = buffer_of(file->data, file->size);
    ((uint8_t*)flipped->data)[bit / 8] ^= (uint8_t)(1 << bit % 8);
    errors += try_all(flipped);
    tfrt_host_buffer_release(flipped);
  }
  ck_assert_int_gt(errors, 300);
  tfrt_dense_host_tensor_deinitialize(&tensors[0]);
  tfrt_dense_host_tensor_deinitialize(&tensors[1]);
  tfrt_host_buffer_release(file);
}
END_TEST

START_TEST(lengths_whose_product_overflows_are_refused) {
  const uint64_t words[] = {1, 16, 2, 4, UINT64_C(1) << 40, UINT64_C(1) << 40};
  tfrt_host_buffer_t* file = buffer_of(words, sizeof(words));
  tfrt_dense_host_tensor_t tensor;
  testing_fails(tfrt_btf_read(file, 0, tfrt_allocator_system(), &tensor),
                TFRT_STATUS_INVALID_ARGUMENT, "byte 16", "overflows", NULL);
  tfrt_host_buffer_release(file);
}
END_TEST

// A file with one sparse tensor of f64, whose shape is [3, 2].
static tfrt_host_buffer_t* write_sparse(const double* elements) {
  tfrt_dense_host_tensor_t dense = testing_tensor(TFRT_DTYPE_F64, elements, DIMS(3, 2));
  tfrt_host_tensor_t tensor = {.layout = TFRT_TENSOR_LAYOUT_COO};
  testing_ok(
      tfrt_coo_host_tensor_initialize_from_dense(&dense, tfrt_allocator_system(), &tensor.coo));
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  testing_ok(tfrt_btf_write(&tensor, 1, &out));
  tfrt_host_buffer_t* file = buffer_of(out.data, out.size);
  tfrt_string_builder_deinitialize(&out);
  tfrt_host_tensor_deinitialize(&tensor);
  tfrt_dense_host_tensor_deinitialize(&dense);
  return file;
}

START_TEST(a_sparse_tensor_is_written_with_its_own_coordinates) {
  const double elements[] = {0, 0, 0, 7, 8, 0};
  tfrt_host_buffer_t* file = write_sparse(elements);
  const uint64_t words[] = {1, 16, 2, 5 | 1 << 8, 3, 2, 2, 2, 1, 1, 2, 0, 2};
  ck_assert_uint_eq(file->size, sizeof(words) + 2 * sizeof(double));
  ck_assert_mem_eq(file->data, words, sizeof(words));
  ck_assert_mem_eq((char*)file->data + sizeof(words), elements + 3, 2 * sizeof(double));
  tfrt_host_tensor_t tensor;
  testing_ok(tfrt_btf_read_any(file, 0, tfrt_allocator_system(), &tensor));
  ck_assert_int_eq(tensor.layout, TFRT_TENSOR_LAYOUT_COO);
  tfrt_dense_host_tensor_t dense;
  testing_ok(tfrt_coo_host_tensor_to_dense(&tensor.coo, tfrt_allocator_system(), &dense));
  ck_assert_mem_eq(tfrt_dense_host_tensor_data(&dense), elements, sizeof(elements));
  tfrt_dense_host_tensor_deinitialize(&dense);
  tfrt_host_tensor_deinitialize(&tensor);
  testing_fails(tfrt_btf_read(file, 0, tfrt_allocator_system(), &dense),
                TFRT_STATUS_INVALID_ARGUMENT, "f64 [3, 2]", "not dense", NULL);
  tfrt_host_buffer_release(file);
}
END_TEST

// Reads the sparse file with word |index| changed to |value|.
static tfrt_status_t read_changed(size_t index, uint64_t value) {
  const double elements[] = {0, 0, 0, 7, 8, 0};
  tfrt_host_buffer_t* file = write_sparse(elements);
  ((uint64_t*)file->data)[index] = value;
  tfrt_host_tensor_t tensor;
  tfrt_status_t status = tfrt_btf_read_any(file, 0, tfrt_allocator_system(), &tensor);
  if (!status) tfrt_host_tensor_deinitialize(&tensor);
  tfrt_host_buffer_release(file);
  return status;
}

START_TEST(a_bad_sparse_record_is_refused) {
  testing_ok(read_changed(8, 2));
  testing_fails(read_changed(6, 3), TFRT_STATUS_INVALID_ARGUMENT, "sparse", NULL);
  testing_fails(read_changed(6, UINT64_MAX), TFRT_STATUS_INVALID_ARGUMENT, "sparse", NULL);
  testing_fails(read_changed(7, 3), TFRT_STATUS_INVALID_ARGUMENT, "another rank", NULL);
  testing_fails(read_changed(8, 3), TFRT_STATUS_INVALID_ARGUMENT, "coordinate 0", "[3, 2]", NULL);
  testing_fails(read_changed(9, UINT64_MAX), TFRT_STATUS_INVALID_ARGUMENT, "coordinate 1", "-1",
                NULL);
  testing_fails(read_changed(12, 1), TFRT_STATUS_INVALID_ARGUMENT, "as many values", NULL);
  testing_fails(read_changed(3, 5 | 2 << 8), TFRT_STATUS_INVALID_ARGUMENT, "layout", NULL);
}
END_TEST

START_TEST(a_dtype_or_layout_without_a_code_is_not_written) {
  tfrt_host_tensor_t tensor = {.layout = TFRT_TENSOR_LAYOUT_DENSE,
                               .dense = testing_zeros(TFRT_DTYPE_I1, DIMS(1))};
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  testing_fails(tfrt_btf_write(&tensor, 1, &out), TFRT_STATUS_INVALID_ARGUMENT, "i1", NULL);
  tfrt_host_tensor_t scalar = {.layout = TFRT_TENSOR_LAYOUT_SCALAR};
  testing_ok(tfrt_scalar_host_tensor_make(TFRT_DTYPE_I8, &tensor.dense.shape, "", &scalar.scalar));
  testing_fails(tfrt_btf_write(&scalar, 1, &out), TFRT_STATUS_INVALID_ARGUMENT, "tensor 0",
                "ScalarHostTensor", NULL);
  ck_assert_uint_eq(out.size, 0);
  tfrt_string_builder_deinitialize(&out);
  tfrt_host_tensor_deinitialize(&tensor);
}
END_TEST

START_TEST(the_weights_of_the_example_are_as_its_readme_says) {
  static const char* const shapes[] = {"[16, 1, 5, 5]", "[16]",  "[32, 16, 5, 5]", "[32]",
                                       "[512, 128]",    "[128]", "[128, 10]",      "[10]"};
  tfrt_host_buffer_t* file = testing_file("examples/mnist/weights/mnist.btf");
  uint64_t count;
  testing_ok(tfrt_btf_count(file, &count));
  ck_assert_uint_eq(count, 8);
  for (uint64_t i = 0; i < count; ++i) {
    tfrt_dense_host_tensor_t tensor;
    testing_ok(tfrt_btf_read(file, i, tfrt_allocator_system(), &tensor));
    ck_assert_int_eq(tensor.dtype, TFRT_DTYPE_F32);
    ck_assert_str_eq(tfrt_shape_text(&tensor.shape).text, shapes[i]);
    tfrt_dense_host_tensor_deinitialize(&tensor);
  }
  tfrt_host_buffer_release(file);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("btf");
  tcase_add_test(cases, what_is_written_is_read_without_a_copy);
  tcase_add_test(cases, a_misaligned_file_is_copied);
  tcase_add_test(cases, cut_and_flipped_files_are_refused_or_harmless);
  tcase_add_test(cases, lengths_whose_product_overflows_are_refused);
  tcase_add_test(cases, a_sparse_tensor_is_written_with_its_own_coordinates);
  tcase_add_test(cases, a_bad_sparse_record_is_refused);
  tcase_add_test(cases, a_dtype_or_layout_without_a_code_is_not_written);
  tcase_add_test(cases, the_weights_of_the_example_are_as_its_readme_says);
  Suite* suite = suite_create("btf");
  suite_add_tcase(suite, cases);
  return suite;
}
