// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/program/program.h"

#include "tests/host_runtime/executor/small_program.h"
#include "tests/support/test_main.h"

// Expects that |kernels| can't be loaded, for the kernel on |line|.
static void expect_refused(const small_kernel_t* kernels, uint32_t kernel_count,
                           uint32_t register_count, tfrt_status_code_t code, const char* message,
                           uint32_t line) {
  small_program_t table = {
      .kernels = kernels, .kernel_count = kernel_count, .register_count = register_count};
  tfrt_program_t* program = NULL;
  tfrt_status_t status = small_program_make(&table, &program);
  ck_assert_ptr_null(program);
  ck_assert_int_eq(tfrt_status_code(status), code);
  ck_assert_str_eq(tfrt_status_message(status), message);
  ck_assert_uint_eq(tfrt_status_fields(status)->origin.line, line);
  tfrt_status_release(status);
}

START_TEST(an_unknown_kernel_is_named_with_its_place) {
  small_kernel_t kernels[] = {
      {.name = "test.constant", .results = {0}, .result_count = 1, .has_attribute = true},
      {.name = "test.unheard", .results = {1}, .result_count = 1},
  };
  expect_refused(kernels, 2, 2, TFRT_STATUS_NOT_FOUND,
                 "unknown kernel name 'test.unheard' (a kernel library that has it is named with "
                 "--shared_libs)",
                 11);
}
END_TEST

START_TEST(a_kernel_has_the_operands_results_and_attributes_of_its_entry) {
  small_kernel_t no_attribute = {.name = "test.constant", .results = {0}, .result_count = 1};
  expect_refused(&no_attribute, 1, 1, TFRT_STATUS_INVALID_ARGUMENT,
                 "kernel 'test.constant' takes 1 attribute but has 0", 10);
  small_kernel_t no_operands = {.name = "test.add", .results = {0}, .result_count = 1};
  expect_refused(&no_operands, 1, 1, TFRT_STATUS_INVALID_ARGUMENT,
                 "kernel 'test.add' takes 2 operands but has 0", 10);
  small_kernel_t two_results = {.name = "test.fail", .results = {0, 1}, .result_count = 2};
  expect_refused(&two_results, 1, 2, TFRT_STATUS_INVALID_ARGUMENT,
                 "kernel 'test.fail' takes 1 result but has 2", 10);
  small_kernel_t no_function = {.name = "test.call", .results = {0}, .result_count = 1};
  expect_refused(&no_function, 1, 1, TFRT_STATUS_INVALID_ARGUMENT,
                 "kernel 'test.call' takes 1 function but has 0", 10);
}
END_TEST

START_TEST(functions_are_found_and_tell_their_signature) {
  small_kernel_t kernels[] = {{.name = "test.add",
                               .arguments = {0, 1},
                               .argument_count = 2,
                               .results = {2},
                               .result_count = 1}};
  small_program_t table = {.argument_types = {"i32", "i32"},
                           .kernels = kernels,
                           .kernel_count = 1,
                           .register_count = 3,
                           .results = {2},
                           .result_count = 1};
  tfrt_program_t* program = NULL;
  ck_assert_ptr_null(small_program_make(&table, &program));
  ck_assert_uint_eq(tfrt_program_function_count(program), 1);
  ck_assert_ptr_null(tfrt_program_find_function(program, "other"));
  const tfrt_function_t* function = tfrt_program_find_function(program, "main");
  ck_assert_ptr_eq(function, tfrt_program_function(program, 0));
  ck_assert_uint_eq(function->argument_count, 2);
  ck_assert_str_eq(function->argument_types[1], "i32");
  ck_assert_str_eq(function->result_types[0], "i32");
  ck_assert_ptr_eq(function->program, program);
  tfrt_program_release(program);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("program");
  TCase* cases = tcase_create("program");
  tcase_add_checked_fixture(cases, small_program_set_up, small_program_tear_down);
  tcase_add_test(cases, an_unknown_kernel_is_named_with_its_place);
  tcase_add_test(cases, a_kernel_has_the_operands_results_and_attributes_of_its_entry);
  tcase_add_test(cases, functions_are_found_and_tell_their_signature);
  suite_add_tcase(suite, cases);
  return suite;
}
