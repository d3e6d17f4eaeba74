// SPDX-License-Identifier: Apache-2.0
#include "tools/common/result_printer.h"

#include "host_runtime/async/builtin_types.h"
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

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("result_printer");
  TCase* cases = tcase_create("result_printer");
  tcase_add_test(cases, results_print_as_the_reference_executor_prints_them);
  tcase_add_test(cases, json_tells_values_and_where_errors_began);
  suite_add_tcase(suite, cases);
  return suite;
}
