// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/text_cursor.h"

#include "tests/support/test_main.h"

static tfrt_text_cursor_t begin(const char* text) {
  return (tfrt_text_cursor_t){
      .at = text, .end = text + strlen(text), .line_begin = text, .line = 1};
}

static void expect_rest(const tfrt_text_cursor_t* cursor, const char* rest) {
  ck_assert_str_eq(cursor->at, rest);
}

START_TEST(what_is_as_usual_is_taken) {
  tfrt_text_cursor_t cursor = begin("  = t.add %b, %12x");
  tfrt_string_view_t text;
  uint64_t hash = 0;
  ck_assert(tfrt_text_cursor_take(&cursor, '='));
  ck_assert(tfrt_text_cursor_take_word(&cursor, &text));
  ck_assert(tfrt_string_view_equal(text, tfrt_string_view_of("t.add")));
  ck_assert(tfrt_text_cursor_take_value(&cursor, &text, &hash));
  ck_assert(tfrt_string_view_equal(text, tfrt_string_view_of("b")));
  ck_assert_uint_eq(hash, tfrt_ir_string_hash_add(0, 'b'));
  ck_assert(tfrt_text_cursor_take(&cursor, ','));
  // A number ends before a letter.
  ck_assert(tfrt_text_cursor_take_value(&cursor, &text, &hash));
  ck_assert(tfrt_string_view_equal(text, tfrt_string_view_of("12")));
  expect_rest(&cursor, "x");
}
END_TEST

START_TEST(what_is_not_as_usual_is_not_taken) {
  static const char* const kTexts[] = {"",    "  ",   "%",     " % a", "\t,",
                                       "\n,", "// ,", "\"a\"", "7",    "-"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kTexts); ++i) {
    tfrt_text_cursor_t cursor = begin(kTexts[i]);
    tfrt_string_view_t text;
    uint64_t hash = 0;
    ck_assert(!tfrt_text_cursor_take(&cursor, ','));
    ck_assert(!tfrt_text_cursor_take_word(&cursor, &text));
    ck_assert(!tfrt_text_cursor_take_value(&cursor, &text, &hash));
    tfrt_text_cursor_skip_spaces(&cursor);
    ck_assert_ptr_eq(cursor.at, kTexts[i] + strspn(kTexts[i], " "));
  }
}
END_TEST

START_TEST(what_was_read_before_is_taken_by_its_name) {
  tfrt_ir_context_t* context = NULL;
  ck_assert_ptr_null(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
  const tfrt_ir_string_t* add = tfrt_ir_string_of(context, "t.add");
  const tfrt_ir_string_t* v1 = tfrt_ir_string_of(context, "v1");
  const tfrt_ir_string_t* b = tfrt_ir_string_of(context, "b");
  tfrt_text_cursor_t cursor = begin(" t.add %v1, %b %v12 %b-b %b");
  ck_assert(!tfrt_text_cursor_take_known_word(&cursor, b));
  ck_assert(tfrt_text_cursor_take_known_word(&cursor, add));
  ck_assert_ptr_null(tfrt_text_cursor_take_known_value(&cursor, NULL, NULL));
  ck_assert_ptr_null(tfrt_text_cursor_take_known_value(&cursor, b, NULL));
  ck_assert_ptr_eq(tfrt_text_cursor_take_known_value(&cursor, b, v1), v1);
  ck_assert(tfrt_text_cursor_take(&cursor, ','));
  ck_assert_ptr_eq(tfrt_text_cursor_take_known_value(&cursor, b, v1), b);
  // These names only begin like known ones, and the last one ends with the text.
  for (int i = 0; i < 3; ++i) {
    tfrt_string_view_t text;
    uint64_t hash;
    ck_assert_ptr_null(tfrt_text_cursor_take_known_value(&cursor, v1, b));
    ck_assert(tfrt_text_cursor_take_value(&cursor, &text, &hash));
  }
  expect_rest(&cursor, "");
  tfrt_ir_context_free(context);
}
END_TEST

START_TEST(a_known_word_ends_where_it_did) {
  tfrt_ir_context_t* context = NULL;
  ck_assert_ptr_null(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
  const tfrt_ir_string_t* add = tfrt_ir_string_of(context, "t.add");
  static const char* const kOthers[] = {"t.add.i32", "t.add", "t.ad ", "t.adx ", "x.add "};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kOthers); ++i) {
    tfrt_text_cursor_t cursor = begin(kOthers[i]);
    ck_assert(!tfrt_text_cursor_take_known_word(&cursor, add));
  }
  tfrt_ir_context_free(context);
}
END_TEST

START_TEST(blanks_and_comments_are_skipped_and_lines_counted) {
  tfrt_text_cursor_t cursor = begin(" \t// one\n\r\n  // two // three\n a");
  const char* text = cursor.at;
  tfrt_text_cursor_skip_lines(&cursor);
  expect_rest(&cursor, "a");
  ck_assert_uint_eq(cursor.line, 4);
  ck_assert_ptr_eq(cursor.line_begin, text + strlen(text) - 2);
  tfrt_text_cursor_t slash = begin(" /");
  tfrt_text_cursor_skip_lines(&slash);
  expect_rest(&slash, "/");
  tfrt_text_cursor_t comment = begin("// no end of line");
  tfrt_text_cursor_skip_lines(&comment);
  expect_rest(&comment, "");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* takes = tcase_create("takes");
  tcase_add_test(takes, what_is_as_usual_is_taken);
  tcase_add_test(takes, what_is_not_as_usual_is_not_taken);
  tcase_add_test(takes, what_was_read_before_is_taken_by_its_name);
  tcase_add_test(takes, a_known_word_ends_where_it_did);
  tcase_add_test(takes, blanks_and_comments_are_skipped_and_lines_counted);
  Suite* suite = suite_create("text_cursor");
  suite_add_tcase(suite, takes);
  return suite;
}
