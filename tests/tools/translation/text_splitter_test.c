// SPDX-License-Identifier: Apache-2.0

#include "tools/translation/text_splitter.h"

#include <stdio.h>

#include "tests/support/test_main.h"

// Checks that |text| has the |pieces|, each written as "line:text", one behind the other.
static void expect_pieces(const char* text, const char* pieces) {
  tfrt_text_splitter_t splitter;
  tfrt_text_splitter_initialize(&splitter, tfrt_string_view_of(text));
  tfrt_string_view_t piece;
  uint32_t line = 0;
  char found[256] = "";
  size_t size = 0;
  while (tfrt_text_splitter_next(&splitter, &piece, &line)) {
    size += (size_t)snprintf(found + size, sizeof(found) - size, "%u:%.*s|", line,
                             TFRT_STRING_VIEW_ARGUMENTS(piece));
  }
  ck_assert_str_eq(found, pieces);
}

START_TEST(a_text_without_a_marker_is_one_piece) {
  expect_pieces("", "1:|");
  expect_pieces("a", "1:a|");
  expect_pieces("a\nb\n", "1:a\nb\n|");
}
END_TEST

START_TEST(a_marker_line_parts_two_pieces_and_belongs_to_none) {
  expect_pieces("a\n// -----\nb\nc\n// -----\nd", "1:a\n|3:b\nc\n|6:d|");
  expect_pieces("// -----", "1:|2:|");
  expect_pieces("// -----\n// -----\n", "1:|2:|3:|");
  expect_pieces("a\n// ---------- the next\r\nb", "1:a\n|3:b|");
}
END_TEST

START_TEST(a_marker_stands_at_the_beginning_of_its_line) {
  expect_pieces("a // -----\n  // -----\n// ----\n//-----\n",
                "1:a // -----\n  // -----\n// ----\n//-----\n|");
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("text_splitter");
  TCase* tests = tcase_create("text_splitter");
  tcase_add_test(tests, a_text_without_a_marker_is_one_piece);
  tcase_add_test(tests, a_marker_line_parts_two_pieces_and_belongs_to_none);
  tcase_add_test(tests, a_marker_stands_at_the_beginning_of_its_line);
  suite_add_tcase(suite, tests);
  return suite;
}
