// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/lexer.h"

#include "tests/support/test_main.h"

static tfrt_diagnostics_t diagnostics;
static tfrt_lexer_t lexer;

static void begin(const char* text, size_t size) {
  tfrt_diagnostics_initialize(&diagnostics, "t", tfrt_string_view_make(text, size),
                              tfrt_allocator_system());
  tfrt_lexer_initialize(&lexer, &diagnostics);
}

static tfrt_token_t next(tfrt_lexer_t* from) {
  tfrt_token_t token;
  tfrt_lexer_next(from, &token);
  return token;
}

static void expect(int kind, const char* text) {
  tfrt_token_t token = next(&lexer);
  ck_assert_int_eq(token.kind, kind);
  ck_assert(tfrt_string_view_equal(token.text, tfrt_string_view_of(text)));
}

static void end(size_t error_count) {
  expect(TFRT_TOKEN_END, "");
  ck_assert_uint_eq(diagnostics.error_count, error_count);
  tfrt_diagnostics_deinitialize(&diagnostics);
}

#define BEGIN(text) begin(text, sizeof(text) - 1)

START_TEST(names_come_without_their_sigil) {
  BEGIN("%a-1.b$ %12x @f.g @\"a b\" ^bb0 #loc3 #corert.shape !tfrt.chain x.y_2");
  expect(TFRT_TOKEN_PERCENT, "a-1.b$");
  expect(TFRT_TOKEN_PERCENT, "12");
  expect(TFRT_TOKEN_WORD, "x");
  expect(TFRT_TOKEN_AT, "f.g");
  expect(TFRT_TOKEN_AT, "\"a b\"");
  expect(TFRT_TOKEN_CARET, "bb0");
  expect(TFRT_TOKEN_HASH, "loc3");
  expect(TFRT_TOKEN_HASH, "corert.shape");
  expect(TFRT_TOKEN_BANG, "tfrt.chain");
  expect(TFRT_TOKEN_WORD, "x.y_2");
  end(0);
}
END_TEST

START_TEST(names_of_values_come_with_their_hash) {
  BEGIN("%v18 %v19 %v019 %12 %a-1.b2$ %v18");
  tfrt_token_t tokens[6];
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tokens); ++i) {
    tokens[i] = next(&lexer);
    uint64_t hash = 0;
    for (size_t k = 0; k < tokens[i].text.size; ++k) {
      hash = tfrt_ir_string_hash_add(hash, tokens[i].text.data[k]);
    }
    ck_assert_uint_eq(tokens[i].hash, hash);
  }
  // Numbers that follow each other do so as hashes, too, if only the last digit differs.
  ck_assert_uint_eq(tokens[1].hash, tokens[0].hash + 1);
  ck_assert_uint_ne(tokens[2].hash, tokens[1].hash);
  ck_assert_uint_eq(tokens[5].hash, tokens[0].hash);
  end(0);
}
END_TEST

START_TEST(numbers_are_decimal_hexadecimal_or_have_a_point) {
  BEGIN("42 0x2aG 1.5e-3 2. 1.e5 7e2 0x");
  expect(TFRT_TOKEN_INTEGER, "42");
  expect(TFRT_TOKEN_INTEGER, "0x2a");
  expect(TFRT_TOKEN_WORD, "G");
  expect(TFRT_TOKEN_FLOAT, "1.5e-3");
  expect(TFRT_TOKEN_FLOAT, "2.");
  expect(TFRT_TOKEN_FLOAT, "1.e5");
  expect(TFRT_TOKEN_INTEGER, "7");
  expect(TFRT_TOKEN_WORD, "e2");
  expect(TFRT_TOKEN_INTEGER, "0");
  expect(TFRT_TOKEN_WORD, "x");
  end(0);
}
END_TEST

START_TEST(punctuation_of_two_characters_is_one_token) {
  BEGIN("-> - > :: : {-# {");
  expect(TFRT_TOKEN_ARROW, "->");
  expect('-', "-");
  expect('>', ">");
  expect(TFRT_TOKEN_COLON_COLON, "::");
  expect(':', ":");
  expect(TFRT_TOKEN_RESOURCES, "{-#");
  expect('{', "{");
  end(0);
}
END_TEST

START_TEST(comments_and_blanks_are_skipped_and_places_counted) {
  BEGIN("// one\n  a b // two\n\tc");
  tfrt_token_t a = next(&lexer);
  ck_assert_uint_eq(a.line, 2);
  ck_assert_uint_eq(a.column, 3);
  tfrt_token_t b = next(&lexer);
  ck_assert_uint_eq(b.column, 5);
  tfrt_token_t c = next(&lexer);
  ck_assert_uint_eq(c.line, 3);
  ck_assert_uint_eq(c.column, 2);
  end(0);
}
END_TEST

START_TEST(the_lexer_can_be_moved_within_a_token) {
  BEGIN("a\n 2x3xf32>\n b");
  expect(TFRT_TOKEN_WORD, "a");
  tfrt_token_t two = next(&lexer);
  tfrt_lexer_move(&lexer, &two, 7);
  tfrt_token_t element = next(&lexer);
  ck_assert(tfrt_string_view_equal(element.text, tfrt_string_view_of("f32")));
  ck_assert_uint_eq(element.line, 2);
  ck_assert_uint_eq(element.column, 6);
  expect('>', ">");
  tfrt_lexer_move(&lexer, &two, 13);
  tfrt_token_t b = next(&lexer);
  ck_assert_uint_eq(b.line, 3);
  ck_assert_uint_eq(b.column, 2);
  end(0);
}
END_TEST

START_TEST(punctuation_is_taken_without_a_token) {
  BEGIN("%a9 =  %b\t,\n=");
  expect(TFRT_TOKEN_PERCENT, "a9");
  ck_assert(!tfrt_lexer_take(&lexer, ','));
  ck_assert(tfrt_lexer_take(&lexer, '='));
  expect(TFRT_TOKEN_PERCENT, "b");
  // A tab is left to the one who makes tokens, and so is a line's end.
  ck_assert(!tfrt_lexer_take(&lexer, ','));
  expect(',', ",");
  ck_assert(!tfrt_lexer_take(&lexer, '='));
  expect('=', "=");
  ck_assert(!tfrt_lexer_take(&lexer, '='));
  end(0);
}
END_TEST

START_TEST(tokens_go_on_where_a_cursor_is) {
  BEGIN("a b // one\n  // two\n c d");
  expect(TFRT_TOKEN_WORD, "a");
  tfrt_text_cursor_t cursor = tfrt_lexer_cursor(&lexer);
  tfrt_string_view_t word;
  ck_assert(tfrt_text_cursor_take_word(&cursor, &word));
  tfrt_text_cursor_skip_lines(&cursor);
  tfrt_lexer_follow(&lexer, &cursor);
  tfrt_token_t token = next(&lexer);
  ck_assert(tfrt_string_view_equal(token.text, tfrt_string_view_of("c")));
  ck_assert_uint_eq(token.line, 3);
  ck_assert_uint_eq(token.column, 2);
  expect(TFRT_TOKEN_WORD, "d");
  end(0);
}
END_TEST

START_TEST(unknown_bytes_are_reported_once_per_run) {
  BEGIN("a \x80\x81\xff b $ c \0\0 d");
  expect(TFRT_TOKEN_WORD, "a");
  ck_assert_int_eq(next(&lexer).kind, TFRT_TOKEN_ERROR);
  expect(TFRT_TOKEN_WORD, "b");
  ck_assert_int_eq(next(&lexer).kind, TFRT_TOKEN_ERROR);
  expect(TFRT_TOKEN_WORD, "c");
  ck_assert_int_eq(next(&lexer).kind, TFRT_TOKEN_ERROR);
  expect(TFRT_TOKEN_WORD, "d");
  ck_assert_str_eq(diagnostics.reports[0].message, "unexpected byte 0x80");
  ck_assert_str_eq(diagnostics.reports[1].message, "unexpected character '$'");
  ck_assert_str_eq(diagnostics.reports[2].message, "unexpected NUL byte; is this a text file?");
  end(3);
}
END_TEST

START_TEST(a_string_must_end_on_its_line) {
  BEGIN("\"abc\n\"d\\");
  ck_assert_int_eq(next(&lexer).kind, TFRT_TOKEN_ERROR);
  ck_assert_int_eq(next(&lexer).kind, TFRT_TOKEN_ERROR);
  end(2);
}
END_TEST

START_TEST(a_lonely_sigil_is_an_error) {
  BEGIN("% @ ^ # !");
  for (int i = 0; i < 5; ++i) {
    ck_assert_int_eq(next(&lexer).kind, TFRT_TOKEN_ERROR);
  }
  end(5);
}
END_TEST

START_TEST(escapes_are_decoded) {
  BEGIN("\"a\\22\\n\\t\\\\\\\"\\E2\\82\\ac\"");
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_token_t token = next(&lexer);
  ck_assert(tfrt_lexer_decode_string(&lexer, &token, &text));
  ck_assert_str_eq(tfrt_string_builder_text(&text), "a\"\n\t\\\"\xE2\x82\xAC");
  tfrt_string_builder_deinitialize(&text);
  end(0);
}
END_TEST

START_TEST(an_unknown_escape_is_reported_at_its_place) {
  BEGIN("\"ab\\q\" \"\\4\"");
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  for (int i = 0; i < 2; ++i) {
    tfrt_token_t token = next(&lexer);
    ck_assert(!tfrt_lexer_decode_string(&lexer, &token, &text));
  }
  ck_assert_uint_eq(diagnostics.reports[0].column, 4);
  ck_assert_uint_eq(diagnostics.reports[1].column, 9);
  tfrt_string_builder_deinitialize(&text);
  end(2);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tokens = tcase_create("tokens");
  tcase_add_test(tokens, names_come_without_their_sigil);
  tcase_add_test(tokens, names_of_values_come_with_their_hash);
  tcase_add_test(tokens, numbers_are_decimal_hexadecimal_or_have_a_point);
  tcase_add_test(tokens, punctuation_of_two_characters_is_one_token);
  tcase_add_test(tokens, comments_and_blanks_are_skipped_and_places_counted);
  tcase_add_test(tokens, the_lexer_can_be_moved_within_a_token);
  tcase_add_test(tokens, punctuation_is_taken_without_a_token);
  tcase_add_test(tokens, tokens_go_on_where_a_cursor_is);
  tcase_add_test(tokens, unknown_bytes_are_reported_once_per_run);
  tcase_add_test(tokens, a_string_must_end_on_its_line);
  tcase_add_test(tokens, a_lonely_sigil_is_an_error);
  tcase_add_test(tokens, escapes_are_decoded);
  tcase_add_test(tokens, an_unknown_escape_is_reported_at_its_place);
  Suite* suite = suite_create("lexer");
  suite_add_tcase(suite, tokens);
  return suite;
}
