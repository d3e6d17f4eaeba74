// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/string_host_tensor.h"

#include "tests/host_runtime/tensor/tensor_testing.h"

#define MANY 17

static void strings_print(const tfrt_string_host_tensor_t* tensor, const char* text) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_string_host_tensor_print(tensor, &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out), text);
  tfrt_string_builder_deinitialize(&out);
}

START_TEST(strings_are_copied_and_printed_as_the_reference_prints_them) {
  tfrt_string_view_t strings[MANY];
  for (size_t i = 0; i < MANY; ++i) strings[i] = tfrt_string_view_of("x");
  strings[0] = tfrt_string_view_of("string");
  strings[1] = tfrt_string_view_of("tensor");
  tfrt_shape_t two = testing_shape(DIMS(2));
  tfrt_string_host_tensor_t tensor;
  testing_ok(
      tfrt_string_host_tensor_initialize(&two, strings, 2, tfrt_allocator_system(), &tensor));
  testing_ok(tfrt_string_host_tensor_check(&tensor));
  strings_print(&tensor, "StringHostTensor shape = [2], values = [\"string\", \"tensor\"]");
  tfrt_string_host_tensor_deinitialize(&tensor);
  tfrt_shape_t many = testing_shape(DIMS(MANY));
  testing_ok(
      tfrt_string_host_tensor_initialize(&many, strings, MANY, tfrt_allocator_system(), &tensor));
  strings_print(&tensor,
                "StringHostTensor shape = [17], values = [\"string\", \"tensor\", \"x\", \"x\", "
                "\"x\", \"x\", \"x\", \"x\", \"x\", \"x\", \"x\", \"x\", \"x\", \"x\", \"x\", "
                "\"x\", ... ]");
  tfrt_string_host_tensor_deinitialize(&tensor);
}
END_TEST

START_TEST(no_strings_and_empty_strings_are_fine) {
  tfrt_shape_t none = testing_shape(DIMS(0, 3));
  tfrt_string_host_tensor_t tensor;
  testing_ok(tfrt_string_host_tensor_initialize(&none, NULL, 0, tfrt_allocator_system(), &tensor));
  testing_ok(tfrt_string_host_tensor_check(&tensor));
  strings_print(&tensor, "StringHostTensor shape = [0, 3], values = []");
  tfrt_string_host_tensor_deinitialize(&tensor);
  const tfrt_string_view_t empty = tfrt_string_view_make(NULL, 0);
  tfrt_shape_t scalar = testing_shape(NULL, 0);
  testing_ok(
      tfrt_string_host_tensor_initialize(&scalar, &empty, 1, tfrt_allocator_system(), &tensor));
  testing_ok(tfrt_string_host_tensor_check(&tensor));
  strings_print(&tensor, "StringHostTensor shape = [], values = [\"\"]");
  tfrt_string_host_tensor_deinitialize(&tensor);
}
END_TEST

START_TEST(as_many_strings_as_the_shape_says) {
  const tfrt_string_view_t one = tfrt_string_view_of("one");
  tfrt_string_host_tensor_t tensor;
  tfrt_shape_t two = testing_shape(DIMS(2));
  testing_fails(tfrt_string_host_tensor_initialize(&two, &one, 1, tfrt_allocator_system(), &tensor),
                TFRT_STATUS_INVALID_ARGUMENT, "Shape mismatch", "[2]", NULL);
  tfrt_shape_t huge;
  testing_ok(tfrt_shape_make_unbounded(DIMS(INT64_MAX, 2), &huge));
  testing_fails(
      tfrt_string_host_tensor_initialize(&huge, &one, 1, tfrt_allocator_system(), &tensor),
      TFRT_STATUS_INVALID_ARGUMENT, "overflows", NULL);
  testing_fails(
      tfrt_string_host_tensor_initialize_empty(&two, 15, tfrt_allocator_system(), &tensor),
      TFRT_STATUS_INVALID_ARGUMENT, "15 bytes", "[2]", NULL);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("string_host_tensor");
  tcase_add_test(cases, strings_are_copied_and_printed_as_the_reference_prints_them);
  tcase_add_test(cases, no_strings_and_empty_strings_are_fine);
  tcase_add_test(cases, as_many_strings_as_the_shape_says);
  Suite* suite = suite_create("string_host_tensor");
  suite_add_tcase(suite, cases);
  return suite;
}
