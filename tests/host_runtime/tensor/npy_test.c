// SPDX-License-Identifier: Apache-2.0
//
// Files of numpy's: what is written is read back, and what is damaged is refused.
#include "host_runtime/tensor/npy.h"

#include <string.h>

#include "tests/support/test_main.h"

static tfrt_string_builder_t file;
static tfrt_dense_host_tensor_t tensor, copy;

static void set_up(void) {
  tfrt_string_builder_initialize(&file, tfrt_allocator_system());
  memset(&tensor, 0, sizeof(tensor));
  memset(&copy, 0, sizeof(copy));
}

static void tear_down(void) {
  tfrt_string_builder_deinitialize(&file);
  tfrt_dense_host_tensor_deinitialize(&tensor);
  tfrt_dense_host_tensor_deinitialize(&copy);
}

static void make(tfrt_dtype_t dtype, const int64_t* dims, size_t rank) {
  tfrt_shape_t shape;
  ck_assert_ptr_null(tfrt_shape_make(dims, rank, &shape));
  ck_assert_ptr_null(
      tfrt_dense_host_tensor_initialize(dtype, &shape, tfrt_allocator_system(), &tensor));
  uint8_t* bytes = tfrt_dense_host_tensor_data(&tensor);
  size_t size = tfrt_dense_host_tensor_size(&tensor);
  for (size_t i = 0; i < size; ++i) bytes[i] = dtype == TFRT_DTYPE_I1 ? i & 1 : (uint8_t)(i % 60);
}

static tfrt_status_t read_back(size_t size) {
  return tfrt_npy_read((const uint8_t*)tfrt_string_builder_text(&file), size,
                       tfrt_allocator_system(), &copy);
}

START_TEST(all_types_and_ranks_come_back) {
  static const tfrt_dtype_t dtypes[] = {TFRT_DTYPE_F32,  TFRT_DTYPE_F64,  TFRT_DTYPE_F16,
                                        TFRT_DTYPE_I1,   TFRT_DTYPE_I8,   TFRT_DTYPE_I16,
                                        TFRT_DTYPE_I32,  TFRT_DTYPE_I64,  TFRT_DTYPE_UI8,
                                        TFRT_DTYPE_UI16, TFRT_DTYPE_UI32, TFRT_DTYPE_UI64};
  static const int64_t dims[] = {2, 3, 4};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(dtypes); ++i) {
    for (size_t rank = 0; rank <= TFRT_ARRAY_SIZE(dims); ++rank) {
      tear_down();
      set_up();
      make(dtypes[i], dims, rank);
      ck_assert_ptr_null(tfrt_npy_write(&tensor, &file));
      ck_assert_uint_eq((file.size - tfrt_dense_host_tensor_size(&tensor)) % 64, 0);
      ck_assert_ptr_null(read_back(file.size));
      ck_assert(tfrt_dense_host_tensor_equal(&tensor, &copy));
    }
  }
}
END_TEST

START_TEST(an_empty_tensor_comes_back) {
  static const int64_t dims[] = {2, 0};
  make(TFRT_DTYPE_F32, dims, 2);
  ck_assert_ptr_null(tfrt_npy_write(&tensor, &file));
  ck_assert_ptr_null(read_back(file.size));
  ck_assert(tfrt_shape_equal(&tensor.shape, &copy.shape));
}
END_TEST

START_TEST(each_prefix_is_refused) {
  static const int64_t dims[] = {2, 3};
  make(TFRT_DTYPE_F32, dims, 2);
  ck_assert_ptr_null(tfrt_npy_write(&tensor, &file));
  for (size_t size = 0; size < file.size; ++size) {
    tfrt_status_t status = read_back(size);
    ck_assert_ptr_nonnull(status);
    tfrt_status_release(status);
  }
}
END_TEST

// Reads a file of version 1 with |header| and |size| zero bytes of elements.
static tfrt_status_t read_header(const char* header, size_t size) {
  const uint8_t start[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)strlen(header), 0};
  tfrt_string_builder_append(&file, start, sizeof(start));
  tfrt_string_builder_append_text(&file, header);
  for (size_t i = 0; i < size; ++i) tfrt_string_builder_append_char(&file, '\0');
  return read_back(file.size);
}

static void assert_refused(const char* header, size_t size, const char* message) {
  tear_down();
  set_up();
  tfrt_status_t status = read_header(header, size);
  ck_assert_ptr_nonnull(status);
  ck_assert_msg(strstr(tfrt_status_message(status), message) != NULL, "%s",
                tfrt_status_message(status));
  tfrt_status_release(status);
}

START_TEST(what_is_not_read_is_named) {
  assert_refused("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8, "'>f4'");
  assert_refused("{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }", 24, "'<U3'");
  assert_refused("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }", 8, "Fortran");
  assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8, "shape");
  assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2, }", 8, "shape");
  assert_refused("{'descr': '<f4', 'fortran_order': False, }", 8, "no shape");
  assert_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999,), }", 8, "");
  assert_refused("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", 2, "as many");
}
END_TEST

START_TEST(the_header_of_numpy_is_read) {
  ck_assert_ptr_null(
      read_header("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }\n", 48));
  ck_assert_int_eq(copy.dtype, TFRT_DTYPE_I64);
  ck_assert_uint_eq(copy.shape.rank, 2);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* npy = tcase_create("npy");
  tcase_add_checked_fixture(npy, set_up, tear_down);
  tcase_add_test(npy, all_types_and_ranks_come_back);
  tcase_add_test(npy, an_empty_tensor_comes_back);
  tcase_add_test(npy, each_prefix_is_refused);
  tcase_add_test(npy, what_is_not_read_is_named);
  tcase_add_test(npy, the_header_of_numpy_is_read);
  Suite* suite = suite_create("npy");
  suite_add_tcase(suite, npy);
  return suite;
}
