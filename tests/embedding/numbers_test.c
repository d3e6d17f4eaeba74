// SPDX-License-Identifier: Apache-2.0
//
// Numbers in texts of programs, in what they print and in what is said of them. locale_test.py runs
// this in locales with a decimal comma.
#include <stdio.h>

#include "embedding/tfrt.h"
#include "host_runtime/base/number_text.h"
#include "tests/support/test_main.h"

static tfrt_host_context_t* host;
static tfrt_string_builder_t report;

static void set_up(void) {
  tfrt_work_queue_t* queue = NULL;
  ck_assert_ptr_null(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  ck_assert_ptr_null(
      tfrt_host_context_allocate(tfrt_allocator_system(), tfrt_clock_system(), queue, &host));
  ck_assert_ptr_null(tfrt_standard_kernels_register(host->registry));
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
}

static void tear_down(void) {
  tfrt_string_builder_deinitialize(&report);
  tfrt_host_context_free(host);
}

// The result (+1) of @main of |text|.
static tfrt_async_value_t* run(const char* text) {
  tfrt_program_t* program = NULL;
  tfrt_status_t status =
      tfrt_program_create_from_text("p.mlir", tfrt_string_view_of(text), host->registry,
                                    tfrt_allocator_system(), &report, &program);
  ck_assert_msg(!status, "%s", tfrt_string_builder_text(&report));
  tfrt_request_options_t options = tfrt_request_options_default();
  tfrt_request_context_t* request = NULL;
  ck_assert_ptr_null(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
  tfrt_execution_context_t context = tfrt_host_context_execution(host, request);
  tfrt_async_value_t* result = NULL;
  tfrt_function_execute(tfrt_program_find_function(program, "main"), &context, NULL, &result);
  tfrt_work_queue_await(host->work_queue, &result, 1);
  tfrt_request_context_release(request);
  tfrt_program_release(program);
  return result;
}

START_TEST(a_constant_of_a_program_has_a_decimal_point) {
  tfrt_async_value_t* result =
      run("func.func @main() -> f64 {\n"
          "  %a = tfrt.constant.f64 3.25\n"
          "  tfrt.return %a : f64\n"
          "}\n");
  ck_assert(*(const double*)tfrt_async_value_payload(tfrt_async_value_resolved(result)) == 3.25);
  tfrt_async_value_release(result);
}
END_TEST

START_TEST(a_value_is_shown_with_a_decimal_point) {
  tfrt_async_value_t* value = tfrt_async_value_create_f32(3.25f);
  tfrt_type_get(TFRT_TYPE_F32)->print(tfrt_async_value_payload(value), &report);
  ck_assert_str_eq(tfrt_string_builder_text(&report), "3.250000e+00");
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(an_error_names_numbers_with_a_decimal_point) {
  tfrt_async_value_t* result =
      run("func.func @main() -> i64 {\n"
          "  %a = tfrt.constant.f64 1.5e300\n"
          "  %b = \"tfrt.cast.f64_to_i64\"(%a) : (f64) -> i64\n"
          "  tfrt.return %b : i64\n"
          "}\n");
  ck_assert(tfrt_async_value_is_error(result));
  ck_assert_str_eq(tfrt_status_message(tfrt_async_value_error(result)), "1.5e+300 is no i64");
  tfrt_async_value_release(result);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("numbers");
  TCase* cases = tcase_create("numbers");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, a_constant_of_a_program_has_a_decimal_point);
  tcase_add_test(cases, a_value_is_shown_with_a_decimal_point);
  tcase_add_test(cases, an_error_names_numbers_with_a_decimal_point);
  suite_add_tcase(suite, cases);
  return suite;
}
