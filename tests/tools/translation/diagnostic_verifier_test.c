// SPDX-License-Identifier: Apache-2.0

#include "tools/translation/diagnostic_verifier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/test_main.h"

static tfrt_diagnostic_verifier_t verifier;

static void set_up(void) {
  tfrt_diagnostic_verifier_initialize(&verifier, false, tfrt_allocator_system());
}

static void tear_down(void) { tfrt_diagnostic_verifier_deinitialize(&verifier); }

static void add(const char* text) {
  tfrt_diagnostic_verifier_add_text(&verifier, "f", tfrt_string_view_of(text), 1);
}

static bool check(const char* kind, uint32_t line, const char* message) {
  return tfrt_diagnostic_verifier_check(&verifier, kind, "f", line, 7, message);
}

// Checks that the verifier ends with |report|; an empty one is a success.
static void expect_report(const char* report) {
  tfrt_string_builder_t found;
  tfrt_string_builder_initialize(&found, tfrt_allocator_system());
  bool ok = tfrt_diagnostic_verifier_finish(&verifier, &found);
  ck_assert_str_eq(tfrt_string_builder_text(&found), report);
  ck_assert_int_eq(ok, report[0] == '\0');
  tfrt_string_builder_deinitialize(&found);
}

START_TEST(a_comment_is_about_its_own_line_or_one_so_far_away) {
  add("op // expected-error {{same}}\n"
      "// expected-warning@+2 {{two down}}\n"
      "// expected-remark @+1 {{one down}}\n"
      "op\n"
      "// expected-note@-1{{one up}}  \r\n");
  ck_assert(check("error", 1, "the same line"));
  ck_assert(check("warning", 4, "two down"));
  ck_assert(check("remark", 4, "just one down here"));
  ck_assert(check("note", 4, "one up"));
  expect_report("");
}
END_TEST

START_TEST(above_and_below_are_the_nearest_lines_without_a_comment) {
  add("op\n"
      "// expected-error@above {{up}}\n"
      "// expected-error@below {{down}}\n"
      "// expected-error@above {{up}}\n"
      "// expected-error@-3 {{three}}\n"
      "// expected-error@below {{down}}\n"
      "op\n"
      "// expected-error@below {{nothing}}");
  ck_assert(check("error", 1, "up"));
  ck_assert(check("error", 7, "down"));
  ck_assert(check("error", 7, "down"));
  ck_assert(check("error", 1, "up"));
  ck_assert(check("error", 2, "three"));
  ck_assert(check("error", 8, "nothing"));
  expect_report("");
}
END_TEST

START_TEST(what_nobody_expected_is_told) {
  add("op // expected-error {{one}}\n");
  ck_assert(!check("error", 2, "one"));
  ck_assert(!check("warning", 1, "one"));
  ck_assert(!check("error", 1, "another"));
  ck_assert(check("error", 1, "one"));
  ck_assert(!check("error", 1, "one"));
  ck_assert(!tfrt_diagnostic_verifier_check(&verifier, "error", "g", 1, 1, "one"));
  ck_assert(!tfrt_diagnostic_verifier_check(&verifier, "error", NULL, 0, 0, "one"));
  expect_report(
      "f:2:7: error: unexpected error: one\n"
      "f:1:7: error: unexpected warning: one\n"
      "f:1:7: error: unexpected error: another\n"
      "f:1:7: error: unexpected error: one\n"
      "g:1:1: error: unexpected error: one\n"
      "error: unexpected error: one\n");
}
END_TEST

START_TEST(what_did_not_come_is_told) {
  add("op // expected-error {{one}}\n  // expected-note@+1 {{t{{w}}o}}\n");
  ck_assert(check("error", 1, "one"));
  expect_report("f:2:6: error: expected note \"t{{w}}o\" was not produced\n");
}
END_TEST

START_TEST(a_pattern_has_regular_expressions_between_braces) {
  add("op // expected-error-re {{took {{[0-9]+}} of 5 (or {{more|less}})}}\n"
      "op // expected-note-re@-1 {{a+b}}\n");
  ck_assert(!check("error", 1, "took x of 5 (or more)"));
  ck_assert(!check("error", 1, "took 3 of 5 or more"));
  ck_assert(check("error", 1, "it took 37 of 5 (or less)"));
  ck_assert(!check("note", 1, "aab"));
  ck_assert(check("note", 1, "a+b"));
  expect_report(
      "f:1:7: error: unexpected error: took x of 5 (or more)\n"
      "f:1:7: error: unexpected error: took 3 of 5 or more\n"
      "f:1:7: error: unexpected note: aab\n");
}
END_TEST

START_TEST(a_pattern_that_is_none_is_an_error) {
  add("op // expected-error-re {{one {{(}} }}\n");
  tfrt_string_builder_t found;
  tfrt_string_builder_initialize(&found, tfrt_allocator_system());
  ck_assert(!tfrt_diagnostic_verifier_finish(&verifier, &found));
  ck_assert_ptr_nonnull(strstr(tfrt_string_builder_text(&found), "f:1:7: error: 'one {{(}} ' is"));
  tfrt_string_builder_deinitialize(&found);
}
END_TEST

START_TEST(a_diagnostic_without_a_place_may_be_expected) {
  add("// expected-error@unknown {{lost}}\n");
  ck_assert(tfrt_diagnostic_verifier_check(&verifier, "error", NULL, 0, 0, "lost and found"));
  expect_report("");
}
END_TEST

START_TEST(what_only_looks_like_a_comment_expects_nothing) {
  add("// expected-error without braces\n"
      "// expected-mistake {{no kind}}\n"
      "// expected-error {{not at the end}} of its line\n"
      "// expected-error {{\n"
      "// }}\n"
      "expected-\n");
  expect_report("");
}
END_TEST

START_TEST(a_place_that_is_none_is_an_error) {
  add("// expected-error@next {{one}}\n"
      "// expected-error@+x {{one}}\n"
      "// expected-error@+99999999999999 {{one}}\n"
      "// expected-error@ {{one}}\n");
  ck_assert(check("error", 4, "one"));
  expect_report(
      "f:1:4: error: '@next' is no line: use @+N, @-N, @above, @below or @unknown\n"
      "f:2:4: error: '@+x' is no line: use @+N, @-N, @above, @below or @unknown\n"
      "f:3:4: error: '@+99999999999999' is no line: use @+N, @-N, @above, @below or @unknown\n");
}
END_TEST

START_TEST(lines_are_counted_from_the_first_one_that_is_given) {
  tfrt_diagnostic_verifier_add_text(&verifier, "f",
                                    tfrt_string_view_of("\n// expected-error@+1 {{one}}\n"), 100);
  ck_assert(check("error", 102, "one"));
  expect_report("");
}
END_TEST

START_TEST(a_file_is_read_when_a_diagnostic_names_it) {
  char path[] = "/tmp/diagnostic_verifier_test_XXXXXX";
  int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  static const char text[] = "op // expected-error {{one}}\nop // expected-error {{two}}\n";
  ck_assert_int_eq(write(file, text, strlen(text)), (int)strlen(text));
  close(file);
  tfrt_diagnostic_verifier_t reader;
  tfrt_diagnostic_verifier_initialize(&reader, true, tfrt_allocator_system());
  tfrt_string_builder_t report;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  ck_assert(tfrt_diagnostic_verifier_check(&reader, "error", path, 1, 1, "one"));
  ck_assert(!tfrt_diagnostic_verifier_check(&reader, "error", "/no/such/file", 1, 1, "one"));
  ck_assert(!tfrt_diagnostic_verifier_finish(&reader, &report));
  char wanted[256];
  snprintf(wanted, sizeof(wanted),
           "/no/such/file:1:1: error: unexpected error: one\n"
           "%s:2:7: error: expected error \"two\" was not produced\n",
           path);
  ck_assert_str_eq(tfrt_string_builder_text(&report), wanted);
  tfrt_string_builder_deinitialize(&report);
  tfrt_diagnostic_verifier_deinitialize(&reader);
  unlink(path);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("diagnostic_verifier");
  TCase* tests = tcase_create("diagnostic_verifier");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, a_comment_is_about_its_own_line_or_one_so_far_away);
  tcase_add_test(tests, above_and_below_are_the_nearest_lines_without_a_comment);
  tcase_add_test(tests, what_nobody_expected_is_told);
  tcase_add_test(tests, what_did_not_come_is_told);
  tcase_add_test(tests, a_pattern_has_regular_expressions_between_braces);
  tcase_add_test(tests, a_pattern_that_is_none_is_an_error);
  tcase_add_test(tests, a_diagnostic_without_a_place_may_be_expected);
  tcase_add_test(tests, what_only_looks_like_a_comment_expects_nothing);
  tcase_add_test(tests, a_place_that_is_none_is_an_error);
  tcase_add_test(tests, lines_are_counted_from_the_first_one_that_is_given);
  tcase_add_test(tests, a_file_is_read_when_a_diagnostic_names_it);
  suite_add_tcase(suite, tests);
  return suite;
}
