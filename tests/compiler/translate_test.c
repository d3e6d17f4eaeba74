// SPDX-License-Identifier: Apache-2.0

#include "compiler/translate.h"

#include <string.h>

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
  tcase_add_test(translations, errors_of_each_step_are_in_the_report);
  tcase_add_test(translations, bytes_that_are_no_bef_are_refused);
  Suite* suite = suite_create("translate");
  suite_add_tcase(suite, translations);
  return suite;
}
