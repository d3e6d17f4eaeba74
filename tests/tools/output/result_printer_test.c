// SPDX-License-Identifier: Apache-2.0
#include "tools/output/result_printer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/tensor/tensor_types.h"
#include "tests/support/test_main.h"

static tfrt_string_builder_t out;

static void begin(void) { tfrt_string_builder_initialize(&out, tfrt_allocator_system()); }

// Compares what was printed and starts anew.
static void expect(const char* text) {
  ck_assert_str_eq(tfrt_string_builder_text(&out), text);
  tfrt_string_builder_clear(&out);
}

static tfrt_async_value_t* make_error(void) {
  tfrt_status_t bare = tfrt_status_create(TFRT_STATUS_INTERNAL, "it \"broke\"");
  tfrt_status_origin_t origin = {.rank = TFRT_STATUS_NO_RANK,
                                 .function = "f",
                                 .kernel = "tfrt.div.i32",
                                 .file = "a.mlir",
                                 .line = 3,
                                 .column = 7};
  tfrt_status_t located = tfrt_status_with_origin(bare, &origin);
  tfrt_status_release(bare);
  return tfrt_async_value_create_error_take(located);
}

START_TEST(results_print_as_the_reference_executor_prints_them) {
  begin();
  tfrt_async_value_t* results[] = {
      tfrt_async_value_create_i1(true),
      tfrt_async_value_create_i32(-12),
      tfrt_async_value_create_i64(1 << 30),
      tfrt_async_value_create_f32(42),
      tfrt_async_value_create_f64(0.3),
      tfrt_async_value_ready_chain(),
      make_error(),
  };
  uint32_t count = TFRT_ARRAY_SIZE(results);
  tfrt_result_printer_append("f", results, count, false, &out);
  expect(
      "'f' returned 1,-12,1073741824,4.200000e+01,3.000000e-01,!tfrt.chain value,"
      "<<error: it \"broke\">>");
  tfrt_result_printer_append("g", &results[6], 1, true, &out);
  expect("'g' returned <<error: it \"broke\", code: INTERNAL>>");
  for (uint32_t i = 0; i < count; ++i) tfrt_async_value_release(results[i]);
  tfrt_string_builder_deinitialize(&out);
}
END_TEST

START_TEST(json_tells_values_and_where_errors_began) {
  begin();
  tfrt_async_value_t* number = tfrt_async_value_create_i32(5);
  tfrt_result_printer_append_json(number, &out);
  expect("{\"type\":\"i32\",\"value\":\"5\"}");
  tfrt_async_value_t* error = make_error();
  tfrt_result_printer_append_json(error, &out);
  expect(
      "{\"error\":{\"code\":\"INTERNAL\",\"message\":\"it \\\"broke\\\"\",\"function\":\"f\","
      "\"kernel\":\"tfrt.div.i32\",\"file\":\"a.mlir\",\"line\":3,\"column\":7}}");
  tfrt_async_value_release(number);
  tfrt_async_value_release(error);
  tfrt_string_builder_deinitialize(&out);
}
END_TEST

// Expects |type| and |text| of |value| (consumed).
static void expect_json(tfrt_async_value_t* value, const char* type, const char* text) {
  char all[256];
  snprintf(all, sizeof(all), "{\"type\":\"%s\",\"value\":\"%s\"}", type, text);
  tfrt_result_printer_append_json(value, &out);
  expect(all);
  tfrt_async_value_release(value);
}

static tfrt_async_value_t* make_number(tfrt_type_id_t type, uint64_t bits, size_t size) {
  return tfrt_async_value_create_copy(type, &bits, size);
}

START_TEST(json_has_texts_and_numbers_of_all_sizes) {
  begin();
  expect_json(make_number(TFRT_TYPE_I8, UINT64_MAX, 1), "i8", "-1");
  expect_json(make_number(TFRT_TYPE_I16, UINT64_MAX - 1, 2), "i16", "-2");
  expect_json(make_number(TFRT_TYPE_UI8, 255, 1), "ui8", "255");
  expect_json(make_number(TFRT_TYPE_UI16, 65535, 2), "ui16", "65535");
  expect_json(make_number(TFRT_TYPE_UI32, UINT32_MAX, 4), "ui32", "4294967295");
  expect_json(make_number(TFRT_TYPE_UI64, UINT64_MAX, 8), "ui64", "18446744073709551615");
  expect_json(tfrt_async_value_ready_chain(), "!tfrt.chain", "!tfrt.chain value");
  tfrt_string_builder_deinitialize(&out);
}
END_TEST

START_TEST(json_has_floats_that_read_back_exactly) {
  begin();
  expect_json(tfrt_async_value_create_f64(0.1 + 0.2), "f64", "0.30000000000000004");
  expect_json(tfrt_async_value_create_f64(9007199254740991), "f64", "9007199254740991");
  expect_json(tfrt_async_value_create_f64(-0.0), "f64", "-0");
  expect_json(tfrt_async_value_create_f64(-(double)NAN), "f64", "nan");
  expect_json(tfrt_async_value_create_f32(-INFINITY), "f32", "-inf");
  expect_json(tfrt_async_value_create_f32(16777216), "f32", "16777216");
  expect_json(tfrt_async_value_create_f32(0.1f), "f32", "0.1");
  expect_json(make_number(TFRT_TYPE_F16, 0x2E66, 2), "f16", "0.099975586");
  expect_json(make_number(TFRT_TYPE_BF16, 0x3DCD, 2), "bf16", "0.100097656");
  const float f32[2] = {0.1f, -2};
  const double f64[2] = {0.1, 1e300};
  expect_json(tfrt_async_value_create_copy(TFRT_TYPE_COMPLEX64, f32, sizeof(f32)), "complex<f32>",
              "(0.1,-2)");
  expect_json(tfrt_async_value_create_copy(TFRT_TYPE_COMPLEX128, f64, sizeof(f64)), "complex<f64>",
              "(0.1,1e300)");
  tfrt_string_builder_deinitialize(&out);
}
END_TEST

// A tensor of |count| elements of |dtype|, [count / 2, 2].
static tfrt_async_value_t* make_tensor(tfrt_dtype_t dtype, const void* elements, int64_t count) {
  const int64_t dims[] = {count / 2, 2};
  tfrt_shape_t shape;
  tfrt_dense_host_tensor_t tensor;
  tfrt_status_t status = tfrt_tensor_types_register();
  if (!status) status = tfrt_shape_make(dims, 2, &shape);
  if (!status) {
    status = tfrt_dense_host_tensor_initialize(dtype, &shape, tfrt_allocator_system(), &tensor);
  }
  ck_assert_ptr_null(status);
  memcpy(tfrt_dense_host_tensor_data(&tensor), elements, tfrt_dense_host_tensor_size(&tensor));
  return tfrt_async_value_create_tensor_take(&tensor);
}

START_TEST(json_has_the_elements_of_tensors) {
  const float floats[] = {0.1f, -2, NAN, INFINITY};
  const bool truths[] = {true, false};
  begin();
  tfrt_async_value_t* tensors[] = {make_tensor(TFRT_DTYPE_F32, floats, 4),
                                   make_tensor(TFRT_DTYPE_I1, truths, 2),
                                   make_tensor(TFRT_DTYPE_F32, floats, 0)};
  static const char* const members[] = {"\"f32\",\"shape\":[2,2],\"data\":[0.1,-2,\"nan\",\"inf\"]",
                                        "\"i1\",\"shape\":[1,2],\"data\":[1,0]",
                                        "\"f32\",\"shape\":[0,2],\"data\":[]"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tensors); ++i) {
    char text[256];
    snprintf(text, sizeof(text),
             "{\"type\":\"!tfrt_tensor.tensor\",\"value\":\"!tfrt_tensor.tensor value\","
             "\"dtype\":%s}",
             members[i]);
    tfrt_result_printer_append_json(tensors[i], &out);
    expect(text);
    tfrt_async_value_release(tensors[i]);
  }
  tfrt_string_builder_deinitialize(&out);
}
END_TEST

START_TEST(tensors_have_a_line_each_with_their_first_elements) {
  const int64_t numbers[22] = {-1, 5, [19] = 19, [20] = 20, [21] = 21};
  const double few[] = {0.25, NAN};
  begin();
  tfrt_async_value_t* results[] = {make_tensor(TFRT_DTYPE_I64, numbers, 22),
                                   tfrt_async_value_create_i32(5), make_error(),
                                   make_tensor(TFRT_DTYPE_F64, few, 2)};
  tfrt_result_printer_append_tensors(results, TFRT_ARRAY_SIZE(results), &out);
  expect(
      "result 0: i64 [11, 2]: -1, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 19, ... "
      "(22 "
      "elements)\nresult 3: f64 [1, 2]: 0.25, nan\n");
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(results); ++i) tfrt_async_value_release(results[i]);
  tfrt_string_builder_deinitialize(&out);
}
END_TEST

START_TEST(json_is_utf8_whatever_a_text_has) {
  static const struct {
    const char* text;
    const char* json;
  } cases[] = {
      {"a \"b\"\\\n", "a \\\"b\\\"\\\\\\u000a"},
      {"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"},
      {"\xFFx", "\\ufffdx"},                                 // no first byte
      {"\xC0\x80", "\\ufffd\\ufffd"},                        // longer than it need be
      {"\xE0\x9F\xBF", "\\ufffd\\ufffd\\ufffd"},             // the same
      {"\xED\xA0\x80", "\\ufffd\\ufffd\\ufffd"},             // half of a pair
      {"\xF4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"},  // beyond U+10FFFF
      {"\xE2\x82", "\\ufffd\\ufffd"},                        // cut off
      {"\xE2\x28\xA1", "\\ufffd(\\ufffd"},                   // no second byte
  };
  begin();
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(cases); ++i) {
    tfrt_string_view_t text = tfrt_string_view_of(cases[i].text);
    expect_json(tfrt_async_value_create_string(text), "!tfrt.string", cases[i].json);
  }
  tfrt_string_builder_deinitialize(&out);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("result_printer");
  TCase* cases = tcase_create("result_printer");
  tcase_add_test(cases, results_print_as_the_reference_executor_prints_them);
  tcase_add_test(cases, json_tells_values_and_where_errors_began);
  tcase_add_test(cases, json_has_texts_and_numbers_of_all_sizes);
  tcase_add_test(cases, json_has_floats_that_read_back_exactly);
  tcase_add_test(cases, json_has_the_elements_of_tensors);
  tcase_add_test(cases, tensors_have_a_line_each_with_their_first_elements);
  tcase_add_test(cases, json_is_utf8_whatever_a_text_has);
  suite_add_tcase(suite, cases);
  return suite;
}
