// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/diagnostics.h"

#include "tests/support/test_main.h"

static tfrt_diagnostics_t diagnostics;
static tfrt_string_builder_t rendered;
static tfrt_ir_context_t* context;

static void begin(const char* text) {
  tfrt_diagnostics_initialize(&diagnostics, "f.mlir", tfrt_string_view_of(text),
                              tfrt_allocator_system());
}

static void set_up(void) {
  tfrt_string_builder_initialize(&rendered, tfrt_allocator_system());
  ck_assert_ptr_null(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
}

static void tear_down(void) {
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_string_builder_deinitialize(&rendered);
  tfrt_ir_context_free(context);
}

START_TEST(a_report_shows_its_line_and_a_caret) {
  begin("one\n\tt\xC3\xA4 x\r\nlast");
  tfrt_diagnostics_report(&diagnostics, TFRT_SEVERITY_ERROR, 9, "bad %d", 7);
  tfrt_diagnostics_report(&diagnostics, TFRT_SEVERITY_WARNING, 16, "end");
  tfrt_diagnostics_render(&diagnostics, &rendered);
  ck_assert_str_eq(rendered.data,
                   "f.mlir:2:6: error: bad 7\n"
                   "\tt\xC3\xA4 x\n"
                   "\t   ^\n"
                   "f.mlir:3:5: warning: end\n"
                   "last\n"
                   "    ^\n");
  ck_assert_uint_eq(diagnostics.error_count, 1);
  ck_assert_uint_eq(diagnostics.warning_count, 1);
}
END_TEST

START_TEST(control_bytes_never_reach_a_terminal) {
  begin("a\x1B[31m");
  tfrt_diagnostics_report(&diagnostics, TFRT_SEVERITY_ERROR, 1, "bad");
  tfrt_diagnostics_render(&diagnostics, &rendered);
  ck_assert_str_eq(rendered.data, "f.mlir:1:2: error: bad\na.[31m\n ^\n");
}
END_TEST

START_TEST(a_long_line_is_shown_around_the_column) {
  char text[1001];
  memset(text, 'x', 1000);
  text[1000] = 0;
  text[500] = 'Y';
  begin(text);
  tfrt_diagnostics_report(&diagnostics, TFRT_SEVERITY_ERROR, 500, "bad");
  tfrt_diagnostics_render(&diagnostics, &rendered);
  ck_assert_uint_lt(rendered.size, 400);
  const char* shown = strchr(rendered.data, 'Y');
  const char* caret = strchr(rendered.data, '^');
  const char* line = strchr(rendered.data, '\n') + 1;
  const char* caret_line = strchr(line, '\n') + 1;
  ck_assert_int_eq(shown - line, caret - caret_line);
}
END_TEST

START_TEST(locations_show_the_line_of_this_file_only) {
  begin("first\nsecond\n");
  const tfrt_ir_location_t* here =
      tfrt_ir_location_file(context, tfrt_ir_string_of(context, "f.mlir"), 2, 3);
  const tfrt_ir_location_t* there =
      tfrt_ir_location_file(context, tfrt_ir_string_of(context, "a.py"), 1, 1);
  const tfrt_ir_location_t* named =
      tfrt_ir_location_name(context, tfrt_ir_string_of(context, "n"), there);
  tfrt_diagnostics_report_at(&diagnostics, TFRT_SEVERITY_ERROR, here, "one");
  tfrt_diagnostics_report_at(&diagnostics, TFRT_SEVERITY_ERROR, named, "two");
  tfrt_diagnostics_report_at(&diagnostics, TFRT_SEVERITY_ERROR, NULL, "three");
  tfrt_diagnostics_render(&diagnostics, &rendered);
  ck_assert_str_eq(rendered.data,
                   "f.mlir:2:3: error: one\nsecond\n  ^\n"
                   "a.py:1:1: error: two\n"
                   "f.mlir: error: three\n");
}
END_TEST

START_TEST(notes_of_what_is_not_kept_are_not_kept) {
  begin("x");
  diagnostics.limit = 1;
  for (int i = 0; i < 3; ++i) {
    ck_assert_int_eq(tfrt_diagnostics_keeps_errors(&diagnostics), i == 0);
    tfrt_diagnostics_report(&diagnostics, TFRT_SEVERITY_ERROR, 0, "e%d", i);
    tfrt_diagnostics_report(&diagnostics, TFRT_SEVERITY_NOTE, 0, "n%d", i);
  }
  tfrt_diagnostics_render(&diagnostics, &rendered);
  ck_assert_str_eq(rendered.data,
                   "f.mlir:1:1: error: e0\nx\n^\n"
                   "f.mlir:1:1: note: n0\nx\n^\n"
                   "... and 2 more errors\n");
}
END_TEST

START_TEST(the_status_is_the_first_error) {
  begin("x");
  ck_assert_ptr_null(tfrt_diagnostics_status(&diagnostics));
  tfrt_diagnostics_report(&diagnostics, TFRT_SEVERITY_WARNING, 0, "w");
  ck_assert_ptr_null(tfrt_diagnostics_status(&diagnostics));
  tfrt_diagnostics_report(&diagnostics, TFRT_SEVERITY_ERROR, 0, "e");
  tfrt_status_t status = tfrt_diagnostics_status(&diagnostics);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_str_eq(tfrt_status_message(status), "f.mlir:1:1: e");
  tfrt_status_release(status);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* reports = tcase_create("reports");
  tcase_add_checked_fixture(reports, set_up, tear_down);
  tcase_add_test(reports, a_report_shows_its_line_and_a_caret);
  tcase_add_test(reports, control_bytes_never_reach_a_terminal);
  tcase_add_test(reports, a_long_line_is_shown_around_the_column);
  tcase_add_test(reports, locations_show_the_line_of_this_file_only);
  tcase_add_test(reports, notes_of_what_is_not_kept_are_not_kept);
  tcase_add_test(reports, the_status_is_the_first_error);
  Suite* suite = suite_create("diagnostics");
  suite_add_tcase(suite, reports);
  return suite;
}
