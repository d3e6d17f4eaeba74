// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/type.h"

#include "tests/support/test_main.h"

static tfrt_ir_context_t* context;

static void set_up(void) {
  ck_assert_ptr_null(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
}

static void tear_down(void) { tfrt_ir_context_free(context); }

static const tfrt_ir_type_t* i(uint32_t width) {
  return tfrt_ir_type_integer(context, width, TFRT_IR_SIGNLESS);
}

START_TEST(equal_types_are_one_object) {
  ck_assert_ptr_eq(i(32), i(32));
  ck_assert_ptr_ne(i(32), i(64));
  ck_assert_ptr_ne(i(32), tfrt_ir_type_integer(context, 32, TFRT_IR_UNSIGNED));
  const tfrt_ir_type_t* chain = tfrt_ir_type_dialect(context, tfrt_string_view_of("!tfrt.chain"));
  ck_assert_ptr_eq(chain, tfrt_ir_type_dialect(context, tfrt_string_view_of("!tfrt.chain")));
  ck_assert(tfrt_ir_type_is(chain, "!tfrt.chain"));
}
END_TEST

START_TEST(types_are_printed_as_mlir_does) {
  const tfrt_ir_type_t* f32 = tfrt_ir_type_float(context, tfrt_string_view_of("f32"));
  const tfrt_ir_type_t* inputs[] = {i(32), f32};
  int64_t dims[] = {2, TFRT_IR_DYNAMIC};
  const tfrt_ir_type_t* unary = tfrt_ir_type_function(context, inputs, 1, inputs, 1);
  ck_assert_str_eq(unary->text->data, "(i32) -> i32");
  ck_assert_str_eq(tfrt_ir_type_function(context, NULL, 0, inputs, 2)->text->data,
                   "() -> (i32, f32)");
  ck_assert_str_eq(tfrt_ir_type_function(context, NULL, 0, &unary, 1)->text->data,
                   "() -> ((i32) -> i32)");
  ck_assert_str_eq(tfrt_ir_type_tuple(context, inputs, 2)->text->data, "tuple<i32, f32>");
  ck_assert_str_eq(tfrt_ir_type_complex(context, f32)->text->data, "complex<f32>");
  ck_assert_str_eq(
      tfrt_ir_type_shaped(context, TFRT_IR_TYPE_TENSOR, true, dims, 2, f32, NULL)->text->data,
      "tensor<2x?xf32>");
  ck_assert_str_eq(
      tfrt_ir_type_shaped(context, TFRT_IR_TYPE_TENSOR, false, NULL, 0, f32, NULL)->text->data,
      "tensor<*xf32>");
  ck_assert_str_eq(tfrt_ir_type_shaped(context, TFRT_IR_TYPE_MEMREF, true, dims, 1, f32,
                                       tfrt_ir_string_of(context, "1"))
                       ->text->data,
                   "memref<2xf32, 1>");
}
END_TEST

START_TEST(sizes_and_counts_are_known_where_they_are_fixed) {
  size_t count = 7;
  int64_t dims[] = {3, 4};
  int64_t huge[] = {INT64_MAX, INT64_MAX};
  int64_t dynamic[] = {3, TFRT_IR_DYNAMIC};
  const tfrt_ir_type_kind_t tensor = TFRT_IR_TYPE_TENSOR;
  ck_assert(tfrt_ir_type_element_count(
      tfrt_ir_type_shaped(context, tensor, true, dims, 2, i(8), NULL), &count));
  ck_assert_uint_eq(count, 12);
  ck_assert(!tfrt_ir_type_element_count(
      tfrt_ir_type_shaped(context, tensor, true, huge, 2, i(8), NULL), &count));
  ck_assert_uint_eq(count, 0);
  ck_assert(!tfrt_ir_type_element_count(
      tfrt_ir_type_shaped(context, tensor, true, dynamic, 2, i(8), NULL), &count));
  ck_assert_uint_eq(tfrt_ir_type_byte_size(i(1)), 1);
  ck_assert_uint_eq(tfrt_ir_type_byte_size(i(16)), 2);
  ck_assert_uint_eq(tfrt_ir_type_byte_size(i(7)), 0);
  ck_assert_uint_eq(tfrt_ir_type_byte_size(i(128)), 0);
  ck_assert_uint_eq(tfrt_ir_type_byte_size(tfrt_ir_type_complex(
                        context, tfrt_ir_type_float(context, tfrt_string_view_of("f64")))),
                    16);
}
END_TEST

START_TEST(a_float_type_that_does_not_exist_is_null) {
  ck_assert_ptr_null(tfrt_ir_type_float(context, tfrt_string_view_of("f33")));
  ck_assert_ptr_nonnull(tfrt_ir_type_float(context, tfrt_string_view_of("bf16")));
  tfrt_status_t status = tfrt_ir_context_status(context);
  ck_assert_ptr_null(status);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* types = tcase_create("types");
  tcase_add_checked_fixture(types, set_up, tear_down);
  tcase_add_test(types, equal_types_are_one_object);
  tcase_add_test(types, types_are_printed_as_mlir_does);
  tcase_add_test(types, sizes_and_counts_are_known_where_they_are_fixed);
  tcase_add_test(types, a_float_type_that_does_not_exist_is_null);
  Suite* suite = suite_create("type");
  suite_add_tcase(suite, types);
  return suite;
}
