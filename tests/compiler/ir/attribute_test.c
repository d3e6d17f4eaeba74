// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/attribute.h"

#include <math.h>

#include "tests/support/test_main.h"

static tfrt_ir_context_t* context;

static void set_up(void) {
  ck_assert_ptr_null(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
}

static void tear_down(void) { tfrt_ir_context_free(context); }

static const tfrt_ir_type_t* integer(uint32_t width, tfrt_ir_signedness_t signedness) {
  return tfrt_ir_type_integer(context, width, signedness);
}

static const tfrt_ir_type_t* floating(const char* name) {
  return tfrt_ir_type_float(context, tfrt_string_view_of(name));
}

START_TEST(equal_attributes_are_one_object) {
  const tfrt_ir_type_t* i32 = integer(32, TFRT_IR_SIGNLESS);
  const tfrt_ir_attribute_t* one = tfrt_ir_attribute_integer(context, i32, 1);
  ck_assert_ptr_eq(one, tfrt_ir_attribute_integer(context, i32, 1));
  ck_assert_ptr_ne(one, tfrt_ir_attribute_integer(context, integer(64, TFRT_IR_SIGNLESS), 1));
  const tfrt_ir_attribute_t* elements[] = {one, one};
  ck_assert_ptr_eq(tfrt_ir_attribute_array(context, elements, 2),
                   tfrt_ir_attribute_array(context, elements, 2));
  ck_assert_ptr_ne(tfrt_ir_attribute_array(context, elements, 1),
                   tfrt_ir_attribute_array(context, elements, 2));
  ck_assert_ptr_ne(tfrt_ir_attribute_string(context, tfrt_string_view_of("a"), NULL),
                   tfrt_ir_attribute_opaque(context, tfrt_string_view_of("a")));
}
END_TEST

START_TEST(integers_are_cut_and_extended_as_their_type_says) {
  const tfrt_ir_attribute_t* all =
      tfrt_ir_attribute_integer(context, integer(8, TFRT_IR_SIGNLESS), 255);
  ck_assert_int_eq(tfrt_ir_attribute_integer_value(all), -1);
  all = tfrt_ir_attribute_integer(context, integer(8, TFRT_IR_UNSIGNED), -1);
  ck_assert_int_eq(tfrt_ir_attribute_integer_value(all), 255);
  all = tfrt_ir_attribute_integer(context, integer(1, TFRT_IR_SIGNLESS), -1);
  ck_assert_int_eq(tfrt_ir_attribute_integer_value(all), 1);
}
END_TEST

START_TEST(a_dictionary_is_sorted_and_searched_by_name) {
  const tfrt_ir_attribute_t* unit = tfrt_ir_attribute_unit(context);
  tfrt_ir_named_attribute_t entries[] = {{tfrt_ir_string_of(context, "b"), unit},
                                         {tfrt_ir_string_of(context, "aa"), unit},
                                         {tfrt_ir_string_of(context, "a"), unit}};
  const tfrt_ir_attribute_t* dictionary = tfrt_ir_attribute_dictionary(context, entries, 3);
  ck_assert_str_eq(dictionary->entries[0].name->data, "a");
  ck_assert_str_eq(dictionary->entries[1].name->data, "aa");
  ck_assert_str_eq(dictionary->entries[2].name->data, "b");
  ck_assert_ptr_eq(tfrt_ir_named_attributes_find(dictionary->entries, 3, "aa"), unit);
  ck_assert_ptr_null(tfrt_ir_named_attributes_find(dictionary->entries, 3, "ab"));
  ck_assert_uint_eq(dictionary->depth, 2);
  ck_assert_uint_eq(dictionary->weight, 4);
}
END_TEST

START_TEST(floats_of_all_widths_keep_their_value) {
  static const double values[] = {0.0, -0.0, 1.0, -2.5, 65504.0, 0.000061035156, 5.9604645e-8};
  static const char* const names[] = {"f16", "bf16", "f32", "f64"};
  for (size_t n = 0; n < TFRT_ARRAY_SIZE(names); ++n) {
    const tfrt_ir_type_t* type = floating(names[n]);
    for (size_t k = 0; k < TFRT_ARRAY_SIZE(values); ++k) {
      uint64_t bits = tfrt_ir_float_to_bits(type, values[k]);
      double again = tfrt_ir_float_from_bits(type, bits);
      ck_assert_uint_eq(tfrt_ir_float_to_bits(type, again), bits);
      ck_assert(fabs(again - values[k]) <= fabs(values[k]) / 200 + 6e-8);
      ck_assert(signbit(again) == signbit(values[k]));
    }
  }
}
END_TEST

START_TEST(half_floats_are_rounded_to_even_and_overflow_to_infinity) {
  const tfrt_ir_type_t* half = floating("f16");
  ck_assert_uint_eq(tfrt_ir_float_to_bits(half, 1.0), 0x3C00);
  ck_assert_uint_eq(tfrt_ir_float_to_bits(half, 65504.0), 0x7BFF);
  ck_assert_uint_eq(tfrt_ir_float_to_bits(half, 65520.0), 0x7C00);
  ck_assert_uint_eq(tfrt_ir_float_to_bits(half, -INFINITY), 0xFC00);
  ck_assert_uint_eq(tfrt_ir_float_to_bits(half, NAN) & 0x7E00, 0x7E00);
  ck_assert_uint_eq(tfrt_ir_float_to_bits(half, 2048.0 + 1.0), 0x6800);        // a tie, to even
  ck_assert_uint_eq(tfrt_ir_float_to_bits(half, 2048.0 + 3.0), 0x6802);        // a tie, to even
  ck_assert_uint_eq(tfrt_ir_float_to_bits(half, ldexp(1, -24)), 0x0001);       // the least
  ck_assert_uint_eq(tfrt_ir_float_to_bits(half, ldexp(1, -25)), 0x0000);       // a tie, to even
  ck_assert_uint_eq(tfrt_ir_float_to_bits(half, ldexp(1.9999, -15)), 0x0400);  // up to normal
  ck_assert_uint_eq(tfrt_ir_float_to_bits(floating("bf16"), 1.0), 0x3F80);
  ck_assert_uint_eq(tfrt_ir_float_to_bits(floating("bf16"), 3.4e38), 0x7F80);
  ck_assert(isnan(tfrt_ir_float_from_bits(half, 0x7E01)));
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* attributes = tcase_create("attributes");
  tcase_add_checked_fixture(attributes, set_up, tear_down);
  tcase_add_test(attributes, equal_attributes_are_one_object);
  tcase_add_test(attributes, integers_are_cut_and_extended_as_their_type_says);
  tcase_add_test(attributes, a_dictionary_is_sorted_and_searched_by_name);
  tcase_add_test(attributes, floats_of_all_widths_keep_their_value);
  tcase_add_test(attributes, half_floats_are_rounded_to_even_and_overflow_to_infinity);
  Suite* suite = suite_create("attribute");
  suite_add_tcase(suite, attributes);
  return suite;
}
