// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/tensor/tensor_type.h"

#include "host_runtime/tensor/tensor_types.h"
#include "tests/host_runtime/tensor/tensor_testing.h"

static void destroy(tfrt_foreign_tensor_t* tensor) { ++*(int*)tensor->data; }

static void print(const tfrt_foreign_tensor_t* tensor, tfrt_string_builder_t* out) {
  (void)tensor;
  tfrt_string_builder_append_text(out, "RangeHostTensor");
}

static const tfrt_tensor_type_t range = {{"RangeHost", ""}, destroy, print};

START_TEST(each_layout_has_a_type_that_is_found_by_name) {
  static const char* const names[] = {"DenseHost", "CooHost", "StringHost", "ScalarHost"};
  for (int layout = 0; layout < TFRT_TENSOR_LAYOUT_FOREIGN; ++layout) {
    const tfrt_tensor_type_t* type;
    testing_ok(tfrt_tensor_type_find(tfrt_string_view_of(names[layout]), &type));
    ck_assert_ptr_eq(type, tfrt_tensor_type_of_layout((tfrt_tensor_layout_t)layout));
    const tfrt_host_tensor_t tensor = {.layout = (tfrt_tensor_layout_t)layout};
    ck_assert_ptr_eq(tfrt_tensor_type_of(&tensor), type);
    ck_assert_str_eq(tfrt_tensor_type_name(type), names[layout]);
  }
}
END_TEST

START_TEST(names_that_are_none_are_refused_with_those_that_there_are) {
  const tfrt_tensor_type_t* type;
  testing_fails(tfrt_tensor_type_find(tfrt_string_view_of("DenseGpu"), &type),
                TFRT_STATUS_INVALID_ARGUMENT, "'DenseGpu'", "DenseHost, CooHost", NULL);
  ck_assert_ptr_null(type);
  testing_fails(tfrt_tensor_type_find(tfrt_string_view_make("DenseHost\0", 10), &type),
                TFRT_STATUS_INVALID_ARGUMENT, "none of them 0", NULL);
  char name[TFRT_TENSOR_TYPE_MAX_NAME + 2];
  for (size_t i = 0; i < sizeof(name); ++i) name[i] = 'a';
  testing_fails(tfrt_tensor_type_find(tfrt_string_view_make(name, sizeof(name)), &type),
                TFRT_STATUS_INVALID_ARGUMENT, "at most 63", NULL);
}
END_TEST

START_TEST(a_type_of_a_library_is_one_like_others) {
  testing_ok(tfrt_tensor_types_register());
  testing_ok(tfrt_tensor_type_register(&range));
  testing_ok(tfrt_tensor_type_register(&range));
  const tfrt_tensor_type_t* type;
  testing_ok(tfrt_tensor_type_find(tfrt_string_view_of("RangeHost"), &type));
  ck_assert_ptr_eq(type, &range);

  int destroyed = 0;
  tfrt_foreign_tensor_t tensor = {
      .type = &range, .dtype = TFRT_DTYPE_I32, .shape = testing_shape(DIMS(3)), .data = &destroyed};
  tfrt_async_value_t* value = tfrt_async_value_create_foreign_tensor_take(&tensor);
  ck_assert_ptr_null(tensor.data);
  const tfrt_host_tensor_t* payload = tfrt_async_value_payload(value);
  ck_assert_ptr_eq(tfrt_tensor_type_of(payload), &range);
  ck_assert_int_eq(tfrt_host_tensor_dtype(payload), TFRT_DTYPE_I32);
  ck_assert_str_eq(tfrt_shape_text(tfrt_host_tensor_shape(payload)).text, "[3]");
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_host_tensor_print(payload, &out);
  ck_assert_str_eq(tfrt_string_builder_text(&out), "RangeHostTensor");
  tfrt_string_builder_deinitialize(&out);
  tfrt_encoding_t encoding;
  testing_fails(tfrt_type_encode(tfrt_type_get(tfrt_host_tensor_type_id()), payload, &encoding),
                TFRT_STATUS_FAILED_PRECONDITION, "RangeHost", "convert", NULL);
  ck_assert_int_eq(destroyed, 0);
  tfrt_async_value_release(value);
  ck_assert_int_eq(destroyed, 1);
}
END_TEST

START_TEST(a_type_needs_a_name_of_its_own_and_its_functions) {
  static const tfrt_tensor_type_t dense = {{"DenseHost", ""}, destroy, print};
  static const tfrt_tensor_type_t nameless = {{NULL, ""}, destroy, print};
  static const tfrt_tensor_type_t mute = {{"MuteHost", ""}, destroy, NULL};
  testing_fails(tfrt_tensor_type_register(&dense), TFRT_STATUS_ALREADY_EXISTS, "DenseHost", NULL);
  testing_fails(tfrt_tensor_type_register(&nameless), TFRT_STATUS_INVALID_ARGUMENT, "name", NULL);
  testing_fails(tfrt_tensor_type_register(&mute), TFRT_STATUS_INVALID_ARGUMENT, "MuteHost", NULL);
}
END_TEST

START_TEST(a_type_travels_as_its_name) {
  testing_ok(tfrt_tensor_types_register());
  const tfrt_tensor_type_t* coo = tfrt_tensor_type_of_layout(TFRT_TENSOR_LAYOUT_COO);
  tfrt_async_value_t* value = tfrt_async_value_create_tensor_type(coo);
  const tfrt_type_t* type = tfrt_type_get(tfrt_tensor_type_type_id());
  tfrt_encoding_t encoding;
  testing_ok(tfrt_type_encode(type, tfrt_async_value_payload(value), &encoding));
  tfrt_async_value_release(value);
  const tfrt_tensor_type_t* arrived;
  void* body;
  testing_ok(type->codec->decode(encoding.header, encoding.header_size, 0, tfrt_allocator_system(),
                                 &arrived, &body));
  ck_assert_ptr_eq(arrived, coo);
  testing_fails(type->codec->decode(encoding.header, encoding.header_size, 1,
                                    tfrt_allocator_system(), &arrived, &body),
                TFRT_STATUS_INVALID_ARGUMENT, "1 bytes", NULL);
  testing_fails(
      type->codec->decode((const uint8_t*)"Far", 3, 0, tfrt_allocator_system(), &arrived, &body),
      TFRT_STATUS_INVALID_ARGUMENT, "'Far'", NULL);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("tensor_type");
  tcase_add_test(cases, each_layout_has_a_type_that_is_found_by_name);
  tcase_add_test(cases, names_that_are_none_are_refused_with_those_that_there_are);
  tcase_add_test(cases, a_type_of_a_library_is_one_like_others);
  tcase_add_test(cases, a_type_needs_a_name_of_its_own_and_its_functions);
  tcase_add_test(cases, a_type_travels_as_its_name);
  Suite* suite = suite_create("tensor_type");
  suite_add_tcase(suite, cases);
  return suite;
}
