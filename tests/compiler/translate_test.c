// SPDX-License-Identifier: Apache-2.0

#include "compiler/translate.h"

#include <string.h>

#include "compiler/bef/bef_importer.h"
#include "compiler/printer/printer.h"
#include "tests/support/test_main.h"
#include "tools/kernels/op_tables.h"

static tfrt_string_builder_t report;
static tfrt_string_builder_t text;

static void set_up(void) {
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
}

static void tear_down(void) {
  tfrt_string_builder_deinitialize(&report);
  tfrt_string_builder_deinitialize(&text);
}

static tfrt_status_t assemble(const char* program, void** out_bytes, size_t* out_size) {
  return tfrt_translate_text_to_bef("p.mlir", tfrt_string_view_of(program), tfrt_all_op_tables(),
                                    NULL, tfrt_allocator_system(), &report, out_bytes, out_size);
}

START_TEST(a_program_survives_the_way_to_bef_and_back) {
  static const char program[] =
      "func.func @f(%n: i32) -> i32 {\n"
      "  %0 = tfrt.constant.i32 7\n"
      "  %1 = tfrt.repeat.i32 %0, %n : i32 {\n"
      "    tfrt.return %n : i32\n"
      "  }\n"
      "  tfrt.return %1 : i32\n"
      "}\n";
  void* bytes;
  size_t size;
  ck_assert_ptr_null(assemble(program, &bytes, &size));
  ck_assert_str_eq(tfrt_string_builder_text(&report), "");
  ck_assert_ptr_null(tfrt_translate_bef_to_text("p.bef", bytes, size, tfrt_all_op_tables(), NULL,
                                                tfrt_allocator_system(), &report, &text));
  ck_assert_str_eq(text.data, program);
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
}
END_TEST

// Imports the |size| bytes of BEF at |bytes| as a whole, and prints them.
static void print_whole(const void* bytes, size_t size, const tfrt_bef_to_text_options_t* options,
                        tfrt_string_builder_t* whole) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_bef_file_t* file = NULL;
  tfrt_ir_context_t* context = NULL;
  tfrt_ir_operation_t* module = NULL;
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, "p.bef", tfrt_string_view_make(NULL, 0), allocator);
  ck_assert_ptr_null(tfrt_bef_file_create(bytes, size, allocator, &file));
  ck_assert_ptr_null(tfrt_ir_context_allocate(allocator, &context));
  ck_assert_ptr_null(tfrt_bef_import(context, file, tfrt_all_op_tables(), &diagnostics, &module));
  tfrt_printer_options_t printer_options = {.generic = options->generic,
                                            .locations = options->locations};
  tfrt_print_operation(module, &printer_options, whole);
  tfrt_ir_context_free(context);
  tfrt_bef_file_release(file);
  tfrt_diagnostics_deinitialize(&diagnostics);
}

// Checks that BEF of |program| becomes the text that it becomes as a whole, in each form.
static void check_text_of_bef(const char* program, const tfrt_text_to_bef_options_t* assembly) {
  void* bytes;
  size_t size;
  ck_assert_ptr_null(tfrt_translate_text_to_bef("p.mlir", tfrt_string_view_of(program),
                                                tfrt_all_op_tables(), assembly,
                                                tfrt_allocator_system(), &report, &bytes, &size));
  for (int form = 0; form < 4; ++form) {
    tfrt_bef_to_text_options_t options = {.generic = form & 1, .locations = form & 2};
    tfrt_string_builder_t whole;
    tfrt_string_builder_initialize(&whole, tfrt_allocator_system());
    print_whole(bytes, size, &options, &whole);
    tfrt_string_builder_clear(&text);
    ck_assert_ptr_null(tfrt_translate_bef_to_text("p.bef", bytes, size, tfrt_all_op_tables(),
                                                  &options, tfrt_allocator_system(), &report,
                                                  &text));
    ck_assert_str_eq(tfrt_string_builder_text(&text), tfrt_string_builder_text(&whole));
    tfrt_string_builder_deinitialize(&whole);
  }
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
}

// More ops than are in memory at once: arguments, values that are used much later, ops with
// several results, and regions whose arguments have the names of values around them.
START_TEST(ops_that_come_one_by_one_print_as_the_whole_does) {
  tfrt_string_builder_t program;
  tfrt_string_builder_initialize(&program, tfrt_allocator_system());
  for (int f = 0; f < 3; ++f) {
    tfrt_string_builder_append_format(
        &program,
        "func.func @f%d(%%a: i32, %%named: i32) -> i32 {\n  %%v0 = tfrt.add.i32 %%a, %%named\n", f);
    for (int i = 1; i <= 700; ++i) {
      tfrt_string_builder_append_format(&program, "  %%v%d = tfrt.add.i32 %%v%d, %%v%d\n", i, i - 1,
                                        i / 3);
      if (i % 50) continue;
      tfrt_string_builder_append_format(
          &program,
          "  %%r%d:2 = tfrt.repeat.i32 %%a, %%v%d, %%v%d : i32, i32 {\n"
          "    %%s = tfrt.add.i32 %%v%d, %%v%d\n"
          "    tfrt.return %%s, %%v%d : i32, i32\n"
          "  }\n"
          "  \"foo.unknown\"(%%r%d#1, %%v%d) : (i32, i32) -> ()\n",
          i, i, i - 1, i, i - 1, i, i, i - 40);
    }
    tfrt_string_builder_append_text(&program, "  tfrt.return %v700 : i32\n}\n");
  }
  check_text_of_bef(tfrt_string_builder_text(&program), NULL);
  tfrt_string_builder_deinitialize(&program);
}
END_TEST

START_TEST(what_can_t_come_op_by_op_prints_as_the_whole_does) {
  // The body of an op in generic form has no name that the function has later.
  static const char early[] =
      "func.func @f(%n: i32) -> i32 {\n"
      "  %0 = tfrt.constant.i32 7\n"
      "  %1:2 = \"tfrt.repeat.i32\"(%n, %0, %0) ({\n"
      "  ^bb0(%a: i32, %b: i32):\n"
      "    %x = tfrt.add.i32 %a, %a\n"
      "    tfrt.return %x, %b : i32, i32\n"
      "  }) : (i32, i32, i32) -> (i32, i32)\n"
      "  %2 = tfrt.add.i32 %1#0, %0\n"
      "  tfrt.return %2 : i32\n"
      "}\n";
  check_text_of_bef(early, NULL);
  check_text_of_bef("", NULL);
  ck_assert_str_eq(tfrt_string_builder_text(&report), "");
  // Something is made up, and each way there is one warning.
  const tfrt_text_to_bef_options_t bare = {.no_optional_sections = true};
  check_text_of_bef(early, &bare);
  ck_assert_ptr_nonnull(strstr(tfrt_string_builder_text(&report), "Missing AttributeTypes"));
}
END_TEST

START_TEST(errors_of_each_step_are_in_the_report) {
  static const char* const programs[] = {
      "func.func @f() { tfrt.nope }\n",                                          // parser
      "func.func @f() -> i32 { tfrt.return }\n",                                 // verifier
      "func.func @f() { \"x\"() {a = tensor<1xi8>} : () -> () tfrt.return }\n",  // emitter
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(programs); ++i) {
    void* bytes = &bytes;
    size_t size = 1;
    tfrt_string_builder_clear(&report);
    tfrt_status_t status = assemble(programs[i], &bytes, &size);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_null(bytes);
    ck_assert_uint_eq(size, 0);
    ck_assert_ptr_nonnull(strstr(tfrt_string_builder_text(&report), "p.mlir:1:"));
    ck_assert_ptr_nonnull(strstr(tfrt_string_builder_text(&report), "^\n"));
    tfrt_status_release(status);
  }
}
END_TEST

START_TEST(bytes_that_are_no_bef_are_refused) {
  tfrt_status_t status = tfrt_translate_bef_to_text("p.bef", "func.func", 9, tfrt_all_op_tables(),
                                                    NULL, tfrt_allocator_system(), &report, &text);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tfrt_string_builder_text(&report), "p.bef: error: "));
  ck_assert_uint_eq(text.size, 0);
  tfrt_status_release(status);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* translations = tcase_create("translations");
  tcase_add_checked_fixture(translations, set_up, tear_down);
  tcase_add_test(translations, a_program_survives_the_way_to_bef_and_back);
  tcase_add_test(translations, ops_that_come_one_by_one_print_as_the_whole_does);
  tcase_add_test(translations, what_can_t_come_op_by_op_prints_as_the_whole_does);
  tcase_add_test(translations, errors_of_each_step_are_in_the_report);
  tcase_add_test(translations, bytes_that_are_no_bef_are_refused);
  Suite* suite = suite_create("translate");
  suite_add_tcase(suite, translations);
  return suite;
}
