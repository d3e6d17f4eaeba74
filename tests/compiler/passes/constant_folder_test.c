// SPDX-License-Identifier: Apache-2.0
//
// Constant folding with evaluators that are wrong, or of no use; and with the real one, for blocks
// with more ops than run at once.

#include "compiler/op_table/constant_evaluator.h"
#include "compiler/translate.h"
#include "tests/support/test_main.h"
#include "tools/kernels/constant_evaluator.h"
#include "tools/kernels/op_tables.h"

// The behaviour of the evaluator below.
typedef struct behaviour_s {
  bool lacks_kernels;
  bool fails;
  const char* type;  // of all results
  int runs;
} behaviour_t;

static bool has_kernel(void* user_data, tfrt_string_view_t name) {
  (void)name;
  return !((behaviour_t*)user_data)->lacks_kernels;
}

static bool run(void* user_data, tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                tfrt_constant_t* out_constants, uint32_t count) {
  (void)context;
  behaviour_t* behaviour = user_data;
  const tfrt_ir_operation_t* function = tfrt_ir_module_block(module)->first;
  ck_assert_ptr_null(function->next);
  ck_assert_uint_eq(tfrt_ir_function_type(function)->input_count, 0);
  ck_assert_uint_eq(tfrt_ir_function_type(function)->result_count, count);
  ++behaviour->runs;
  for (uint32_t i = 0; i < count; ++i) {
    out_constants[i] = (tfrt_constant_t){.type = behaviour->type, .bytes = {42}};
  }
  return !behaviour->fails;
}

// Expects |program|, canonicalised with |evaluator|, to be |expected|.
static void expect(const tfrt_constant_evaluator_t* evaluator, const char* program,
                   const char* expected) {
  tfrt_op_tables_t tables = *tfrt_all_op_tables();
  tables.evaluator = evaluator;
  const tfrt_pass_t* pass = tfrt_pass_find("canonicalize");
  tfrt_text_to_text_options_t options = {.passes = &pass, .pass_count = 1};
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, "t.mlir", tfrt_string_view_of(program), allocator);
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, allocator);
  tfrt_status_t status = tfrt_optimize_text(&tables, &options, allocator, &diagnostics, &text);
  ck_assert_ptr_null(status);
  ck_assert_str_eq(tfrt_string_builder_text(&text), expected);
  tfrt_string_builder_deinitialize(&text);
  tfrt_diagnostics_deinitialize(&diagnostics);
}

static const char sum[] =
    "func.func @f() -> i32 {\n"
    "  %a = tfrt.constant.i32 1\n"
    "  %b = tfrt.constant.i32 2\n"
    "  %c = tfrt.add.i32 %a, %b\n"
    "  tfrt.return %c : i32\n"
    "}\n";

START_TEST(results_of_the_type_of_the_op_are_taken) {
  behaviour_t behaviour = {.type = "i32"};
  const tfrt_constant_evaluator_t evaluator = {has_kernel, run, &behaviour};
  expect(&evaluator, sum,
         "func.func @f() -> i32 {\n"
         "  %c = tfrt.constant.i32 42\n"
         "  tfrt.return %c : i32\n"
         "}\n");
  ck_assert_int_eq(behaviour.runs, 1);
}
END_TEST

START_TEST(an_evaluator_of_no_use_changes_nothing) {
  behaviour_t behaviours[] = {
      {.type = "f32"}, {.type = NULL}, {.type = "i32", .fails = true}, {.lacks_kernels = true}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(behaviours); ++i) {
    const tfrt_constant_evaluator_t evaluator = {has_kernel, run, &behaviours[i]};
    expect(&evaluator, sum, sum);
    ck_assert_int_eq(behaviours[i].runs, behaviours[i].lacks_kernels ? 0 : 1);
  }
  expect(NULL, sum, sum);
}
END_TEST

START_TEST(a_long_block_is_run_in_pieces) {
  const int count = 10000;
  tfrt_string_builder_t program;
  tfrt_string_builder_initialize(&program, tfrt_allocator_system());
  tfrt_string_builder_append_text(&program,
                                  "func.func @f() -> i32 {\n"
                                  "  %one = tfrt.constant.i32 1\n"
                                  "  %v0 = tfrt.add.i32 %one, %one\n");
  for (int i = 1; i < count; ++i) {
    tfrt_string_builder_append_format(&program, "  %%v%d = tfrt.add.i32 %%v%d, %%one\n", i, i - 1);
  }
  tfrt_string_builder_append_format(&program, "  tfrt.return %%v%d : i32\n}\n", count - 1);
  expect(tfrt_constant_evaluator(), tfrt_string_builder_text(&program),
         "func.func @f() -> i32 {\n"
         "  %v9999 = tfrt.constant.i32 10001\n"
         "  tfrt.return %v9999 : i32\n"
         "}\n");
  tfrt_string_builder_deinitialize(&program);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* folding = tcase_create("folding");
  tcase_add_test(folding, results_of_the_type_of_the_op_are_taken);
  tcase_add_test(folding, an_evaluator_of_no_use_changes_nothing);
  tcase_add_test(folding, a_long_block_is_run_in_pieces);
  Suite* suite = suite_create("constant_folder");
  suite_add_tcase(suite, folding);
  return suite;
}
