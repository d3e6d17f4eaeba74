// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/host_tensor.h"

#include "tests/host_runtime/tensor/tensor_testing.h"

static void is_and_prints(tfrt_host_tensor_t* tensor, const char* name, tfrt_dtype_t dtype,
                          const char* text) {
  ck_assert_str_eq(tfrt_tensor_layout_name(tensor->layout), name);
  ck_assert_int_eq(tfrt_host_tensor_dtype(tensor), dtype);
  ck_assert_str_eq(tfrt_shape_text(tfrt_host_tensor_shape(tensor)).text, "[1]");
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_host_tensor_print(tensor, &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out), text);
  tfrt_string_builder_deinitialize(&out);
  tfrt_host_tensor_deinitialize(tensor);
}

START_TEST(each_layout_tells_what_it_is) {
  tfrt_host_tensor_t dense = {.layout = TFRT_TENSOR_LAYOUT_DENSE,
                              .dense = testing_zeros(TFRT_DTYPE_I8, DIMS(1))};
  tfrt_host_tensor_t coo = {.layout = TFRT_TENSOR_LAYOUT_COO};
  testing_ok(
      tfrt_coo_host_tensor_initialize_from_dense(&dense.dense, tfrt_allocator_system(), &coo.coo));
  tfrt_host_tensor_t string = {.layout = TFRT_TENSOR_LAYOUT_STRING};
  const tfrt_string_view_t text = tfrt_string_view_of("a");
  testing_ok(tfrt_string_host_tensor_initialize(&dense.dense.shape, &text, 1,
                                                tfrt_allocator_system(), &string.string));
  tfrt_host_tensor_t scalar = {.layout = TFRT_TENSOR_LAYOUT_SCALAR};
  testing_ok(tfrt_scalar_host_tensor_make(TFRT_DTYPE_I8, &dense.dense.shape, &(int8_t){7},
                                          &scalar.scalar));
  is_and_prints(&dense, "DenseHostTensor", TFRT_DTYPE_I8,
                "DenseHostTensor dtype = i8, shape = [1], values = [0]");
  is_and_prints(&coo, "CooHostTensor", TFRT_DTYPE_I8,
                "CooHostTensor dtype = i8, shape = [1], indices = [], values = []\n");
  is_and_prints(&string, "StringHostTensor", TFRT_DTYPE_STRING,
                "StringHostTensor shape = [1], values = [\"a\"]");
  is_and_prints(&scalar, "ScalarHostTensor", TFRT_DTYPE_I8,
                "ScalarHostTensor dtype = i8, shape = [1], value = 7");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("host_tensor");
  tcase_add_test(cases, each_layout_tells_what_it_is);
  Suite* suite = suite_create("host_tensor");
  suite_add_tcase(suite, cases);
  return suite;
}
