// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/list_math.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/tensor/tensor_types.h"
#include "tests/support/test_main.h"

static void set_up(void) {
  tfrt_status_t status = tfrt_tensor_types_register();
  ck_assert_ptr_null(status);
}

// An i32 tensor of |rows| times |columns| whose elements count up from |first|; with
// |columns| < 0 it has one axis, with |rows| < 0 as well none.
static tfrt_async_value_t* tensor(int64_t rows, int64_t columns, int32_t first) {
  int64_t dims[2] = {rows, columns};
  size_t rank = rows < 0 ? 0 : columns < 0 ? 1 : 2;
  tfrt_shape_t shape;
  tfrt_status_t status = tfrt_shape_make(dims, rank, &shape);
  ck_assert_ptr_null(status);
  tfrt_dense_host_tensor_t result;
  status =
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_I32, &shape, tfrt_allocator_system(), &result);
  ck_assert_ptr_null(status);
  int32_t* elements = tfrt_dense_host_tensor_data(&result);
  for (int64_t i = 0; i < tfrt_dense_host_tensor_element_count(&result); ++i) {
    elements[i] = first + (int32_t)i;
  }
  return tfrt_async_value_create_tensor_take(&result);
}

// The result of |math| for |count| |elements| (consumed), printed, or the message of its error.
static const char* outcome(tfrt_list_math_fn_t math, tfrt_async_value_t** elements,
                           uint32_t count) {
  static char text[256];
  tfrt_async_value_t* result = NULL;
  tfrt_status_t status = math(elements, count, tfrt_allocator_system(), &result);
  tfrt_string_builder_t builder;
  tfrt_string_builder_initialize(&builder, tfrt_allocator_system());
  if (status) {
    ck_assert_ptr_null(result);
    tfrt_string_builder_append_text(&builder, tfrt_status_message(status));
  } else if (result->type_id == tfrt_host_tensor_type_id()) {
    tfrt_host_tensor_print(tfrt_async_value_payload(result), &builder);
  } else {
    tfrt_type_get(result->type_id)->print(tfrt_async_value_payload(result), &builder);
  }
  snprintf(text, sizeof(text), "%s", tfrt_string_builder_text(&builder));
  tfrt_string_builder_deinitialize(&builder);
  tfrt_status_release(status);
  tfrt_async_value_release(result);
  for (uint32_t i = 0; i < count; ++i) tfrt_async_value_release(elements[i]);
  return text;
}

#define OUTCOME(math, ...)                            \
  outcome(math, (tfrt_async_value_t*[]){__VA_ARGS__}, \
          sizeof((tfrt_async_value_t*[]){__VA_ARGS__}) / sizeof(tfrt_async_value_t*))

START_TEST(numbers_of_one_type_are_summed_up) {
  ck_assert_str_eq(OUTCOME(tfrt_list_sum, tfrt_async_value_create_i32(1),
                           tfrt_async_value_create_i32(-3), tfrt_async_value_create_i32(40)),
                   "38");
  ck_assert_str_eq(OUTCOME(tfrt_list_sum, tfrt_async_value_create_i64(1)), "1");
  ck_assert_str_eq(
      OUTCOME(tfrt_list_sum, tfrt_async_value_create_f64(0.5), tfrt_async_value_create_f64(0.25)),
      "7.500000e-01");
}
END_TEST

START_TEST(tensors_of_one_shape_are_summed_up) {
  ck_assert_str_eq(OUTCOME(tfrt_list_sum, tensor(1, 2, 1), tensor(1, 2, 10), tensor(1, 2, 100)),
                   "DenseHostTensor dtype = i32, shape = [1, 2], values = [111, 114]");
  ck_assert_str_eq(OUTCOME(tfrt_list_sum, tensor(0, 2, 1), tensor(0, 2, 10)),
                   "DenseHostTensor dtype = i32, shape = [0, 2], values = []");
}
END_TEST

START_TEST(what_has_no_sum_is_named) {
  ck_assert_str_eq(
      OUTCOME(tfrt_list_sum, tfrt_async_value_create_i32(1), tfrt_async_value_create_i64(1)),
      "element 1 of the list is a i64, element 0 is a i32");
  ck_assert_str_eq(OUTCOME(tfrt_list_sum, tfrt_async_value_create_i1(true)),
                   "there are no sums of i1");
  ck_assert_str_eq(OUTCOME(tfrt_list_sum, tensor(2, -1, 0), tensor(2, -1, 0), tensor(3, -1, 0)),
                   "element 2 of the list is i32 [3], element 0 is i32 [2]");
}
END_TEST

static tfrt_async_value_t* string_tensor(void) {
  int64_t dims[1] = {1};
  tfrt_shape_t shape;
  tfrt_status_t status = tfrt_shape_make(dims, 1, &shape);
  ck_assert_ptr_null(status);
  tfrt_string_host_tensor_t tensor;
  const tfrt_string_view_t text = tfrt_string_view_of("text");
  status = tfrt_string_host_tensor_initialize(&shape, &text, 1, tfrt_allocator_system(), &tensor);
  ck_assert_ptr_null(status);
  return tfrt_async_value_create_string_tensor_take(&tensor);
}

START_TEST(only_dense_tensors_are_combined) {
  static const char wanted[] =
      "element 1 of the list is a StringHostTensor; only dense tensors are combined";
  ck_assert_str_eq(OUTCOME(tfrt_list_sum, tensor(1, -1, 0), string_tensor()), wanted);
  ck_assert_str_eq(OUTCOME(tfrt_list_concat, tensor(1, -1, 0), string_tensor()), wanted);
}
END_TEST

START_TEST(tensors_stand_behind_one_another) {
  ck_assert_str_eq(OUTCOME(tfrt_list_concat, tensor(1, 2, 1), tensor(0, 2, 5), tensor(2, 2, 10)),
                   "DenseHostTensor dtype = i32, shape = [3, 2], values = [1, 2, 10, 11, 12, 13]");
  ck_assert_str_eq(OUTCOME(tfrt_list_concat, tensor(0, -1, 1), tensor(0, -1, 1)),
                   "DenseHostTensor dtype = i32, shape = [0], values = []");
}
END_TEST

START_TEST(what_does_not_fit_is_named) {
  ck_assert_str_eq(OUTCOME(tfrt_list_concat, tensor(1, 2, 1), tensor(1, 3, 1)),
                   "element 1 of the list, i32 [1, 3], doesn't fit behind element 0, i32 [1, 2]");
  ck_assert_str_eq(OUTCOME(tfrt_list_concat, tensor(1, 2, 1), tensor(1, -1, 1)),
                   "element 1 of the list, i32 [1], doesn't fit behind element 0, i32 [1, 2]");
  ck_assert_str_eq(OUTCOME(tfrt_list_concat, tensor(-1, -1, 1)),
                   "element 0 of the list has no axis 0 to concatenate along");
  ck_assert_str_eq(OUTCOME(tfrt_list_concat, tfrt_async_value_create_i32(1)),
                   "only tensors are concatenated, not i32");
}
END_TEST

START_TEST(a_list_of_nothing_is_refused) {
  tfrt_list_math_fn_t const functions[] = {tfrt_list_sum, tfrt_list_concat};
  for (size_t i = 0; i < 2; ++i) {
    tfrt_async_value_t* result = NULL;
    tfrt_status_t status = functions[i](NULL, 0, tfrt_allocator_system(), &result);
    ck_assert_str_eq(tfrt_status_message(status), "the list has no elements");
    tfrt_status_release(status);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* math = tcase_create("list math");
  tcase_add_checked_fixture(math, set_up, NULL);
  tcase_add_test(math, numbers_of_one_type_are_summed_up);
  tcase_add_test(math, tensors_of_one_shape_are_summed_up);
  tcase_add_test(math, what_has_no_sum_is_named);
  tcase_add_test(math, only_dense_tensors_are_combined);
  tcase_add_test(math, tensors_stand_behind_one_another);
  tcase_add_test(math, what_does_not_fit_is_named);
  tcase_add_test(math, a_list_of_nothing_is_refused);
  Suite* suite = suite_create("list math");
  suite_add_tcase(suite, math);
  return suite;
}
