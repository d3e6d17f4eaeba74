// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/value.h"

#include <stdio.h>

#include "tests/support/test_main.h"

// |text| as a field of eight bytes takes it.
static const char* fitted(const char* text) {
  static char copy[9];
  char buffer[8];
  tfrt_string_view_t fit = tfrt_wire_text_fit(tfrt_string_view_of(text), buffer, sizeof(buffer));
  ck_assert_uint_le(fit.size, sizeof(buffer));
  snprintf(copy, sizeof(copy), "%.*s", (int)fit.size, fit.data);
  return copy;
}

START_TEST(a_text_that_fits_is_left_alone) {
  const char* text = "12345678";
  char buffer[8];
  ck_assert_ptr_eq(tfrt_wire_text_fit(tfrt_string_view_of(text), buffer, sizeof(buffer)).data,
                   text);
  ck_assert_str_eq(fitted("12345678"), "12345678");
  ck_assert_str_eq(fitted(""), "");
}
END_TEST

START_TEST(a_long_text_is_cut_between_characters) {
  ck_assert_str_eq(fitted("123456789"), "12345678");
  ck_assert_str_eq(fitted("1234567\xc2\x80"), "1234567");
  ck_assert_str_eq(fitted("12345\xf0\x90\x80\x80"), "12345");
}
END_TEST

START_TEST(bytes_that_are_no_characters_become_question_marks) {
  ck_assert_str_eq(fitted("1\xff"
                          "3\x80"
                          "5"),
                   "1?3?5");
  ck_assert_str_eq(fitted("\x80\x80\x80\x80\x80\x80\x80\x80\x80"), "????????");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* text = tcase_create("text");
  tcase_add_test(text, a_text_that_fits_is_left_alone);
  tcase_add_test(text, a_long_text_is_cut_between_characters);
  tcase_add_test(text, bytes_that_are_no_characters_become_question_marks);
  Suite* suite = suite_create("text");
  suite_add_tcase(suite, text);
  return suite;
}
