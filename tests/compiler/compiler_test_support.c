// SPDX-License-Identifier: Apache-2.0

#include "tests/compiler/compiler_test_support.h"

#include <check.h>
#include <string.h>

#include "compiler/verifier/verifier.h"
#include "tools/kernels/op_tables.h"

void test_program_parse_view(test_program_t* program, tfrt_string_view_t text) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  ck_assert_ptr_null(tfrt_ir_context_allocate(allocator, &program->context));
  tfrt_diagnostics_initialize(&program->diagnostics, "t.mlir", text, allocator);
  tfrt_string_builder_initialize(&program->errors, allocator);
  program->module =
      tfrt_parse_module(program->context, tfrt_all_op_tables(), &program->diagnostics);
  ck_assert((program->module == NULL) == (program->diagnostics.error_count > 0));
  tfrt_diagnostics_render(&program->diagnostics, &program->errors);
}

void test_program_parse(test_program_t* program, const char* text) {
  test_program_parse_view(program, tfrt_string_view_of(text));
}

void test_program_verify(test_program_t* program, const char* text) {
  test_program_parse(program, text);
  if (!program->module) return;
  bool ok = tfrt_verify_module(program->context, program->module, &program->diagnostics);
  ck_assert(ok == (program->diagnostics.error_count == 0));
  if (!ok) program->module = NULL;
  tfrt_string_builder_clear(&program->errors);
  tfrt_diagnostics_render(&program->diagnostics, &program->errors);
}

void test_program_free(test_program_t* program) {
  tfrt_string_builder_deinitialize(&program->errors);
  tfrt_diagnostics_deinitialize(&program->diagnostics);
  tfrt_ir_context_free(program->context);
}

// Compares the reports of |program| with |expected|, and frees it.
static void compare_errors(test_program_t* program, const char* expected) {
  static const char* const names[] = {"error", "warning", "note"};
  tfrt_string_builder_t found;
  tfrt_string_builder_initialize(&found, tfrt_allocator_system());
  for (size_t i = 0; i < program->diagnostics.count; ++i) {
    const tfrt_diagnostic_t* report = &program->diagnostics.reports[i];
    ck_assert_str_eq(report->file, "t.mlir");
    tfrt_string_builder_append_format(&found, "%u:%u: %s: %s\n", report->line, report->column,
                                      names[report->severity], report->message);
  }
  ck_assert_str_eq(tfrt_string_builder_text(&found), expected);
  ck_assert_ptr_null(program->module);
  tfrt_string_builder_deinitialize(&found);
  test_program_free(program);
}

void test_expect_errors(const char* text, const char* expected) {
  test_program_t program;
  test_program_parse(&program, text);
  compare_errors(&program, expected);
}

void test_expect_verifier_errors(const char* text, const char* expected) {
  test_program_t program;
  test_program_parse(&program, text);
  ck_assert_str_eq(tfrt_string_builder_text(&program.errors), "");
  test_program_free(&program);
  test_program_verify(&program, text);
  compare_errors(&program, expected);
}

// Appends to |builder| what |text| is printed as.
static void reprint(const char* text, const tfrt_printer_options_t* options,
                    tfrt_string_builder_t* builder) {
  test_program_t program;
  test_program_parse(&program, text);
  ck_assert_msg(program.module != NULL, "%s\n%s", tfrt_string_builder_text(&program.errors), text);
  tfrt_print_operation(program.module, options, builder);
  test_program_free(&program);
}

void test_expect_print(const char* text, const char* expected,
                       const tfrt_printer_options_t* options) {
  tfrt_string_builder_t first;
  tfrt_string_builder_t second;
  tfrt_string_builder_initialize(&first, tfrt_allocator_system());
  tfrt_string_builder_initialize(&second, tfrt_allocator_system());
  reprint(text, options, &first);
  if (expected) ck_assert_str_eq(tfrt_string_builder_text(&first), expected);
  // The form itself is read back as the same, twice.
  for (int i = 0; i < 2; ++i) {
    tfrt_string_builder_clear(&second);
    reprint(tfrt_string_builder_text(&first), options, &second);
    ck_assert_str_eq(tfrt_string_builder_text(&second), tfrt_string_builder_text(&first));
  }
  // And so is the other form; names may change on the way.
  tfrt_printer_options_t numbers = options ? *options : (tfrt_printer_options_t){0};
  tfrt_printer_options_t generic = {.generic = true, .locations = numbers.locations};
  numbers.unnamed_values = true;
  tfrt_string_builder_clear(&first);
  tfrt_string_builder_clear(&second);
  reprint(text, &generic, &first);
  reprint(tfrt_string_builder_text(&first), &numbers, &second);
  tfrt_string_builder_clear(&first);
  reprint(text, &numbers, &first);
  ck_assert_str_eq(tfrt_string_builder_text(&second), tfrt_string_builder_text(&first));
  tfrt_string_builder_deinitialize(&first);
  tfrt_string_builder_deinitialize(&second);
}
