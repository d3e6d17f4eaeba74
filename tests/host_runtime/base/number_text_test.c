// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/number_text.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "host_runtime/base/ascii.h"
#include "host_runtime/base/random.h"
#include "tests/support/test_main.h"

static const char* f64(double value) {
  static char text[TFRT_NUMBER_TEXT_SIZE];
  return tfrt_number_text_shortest_f64(value, text);
}

static const char* f32(float value) {
  static char text[TFRT_NUMBER_TEXT_SIZE];
  return tfrt_number_text_shortest_f32(value, text);
}

START_TEST(the_shortest_text_has_a_plain_form_where_people_write_one) {
  ck_assert_str_eq(f64(0), "0");
  ck_assert_str_eq(f64(-0.0), "-0");
  ck_assert_str_eq(f64(1), "1");
  ck_assert_str_eq(f64(-42), "-42");
  ck_assert_str_eq(f64(0.1), "0.1");
  ck_assert_str_eq(f64(0.1 + 0.2), "0.30000000000000004");
  ck_assert_str_eq(f64(0.00001), "0.00001");
  ck_assert_str_eq(f64(0.0000012), "1.2e-6");
  ck_assert_str_eq(f64(-100000), "-100000");
  ck_assert_str_eq(f64(1234500), "1234500");
  ck_assert_str_eq(f64(9007199254740993.0), "9007199254740992");
  ck_assert_str_eq(f64(1e16), "10000000000000000");
  ck_assert_str_eq(f64(1e17), "1e17");
  ck_assert_str_eq(f64(-1.5e300), "-1.5e300");
  ck_assert_str_eq(f64(DBL_MAX), "1.7976931348623157e308");
  ck_assert_str_eq(f64(5e-324), "5e-324");
  ck_assert_str_eq(f32(16777216), "16777216");
  ck_assert_str_eq(f32(0.1f), "0.1");
  ck_assert_str_eq(f32(FLT_MAX), "3.4028235e38");
  ck_assert_str_eq(f32(1e-45f), "1e-45");
}
END_TEST

START_TEST(what_is_no_number_has_one_text) {
  ck_assert_str_eq(f64((double)INFINITY), "inf");
  ck_assert_str_eq(f64(-(double)INFINITY), "-inf");
  ck_assert_str_eq(f64((double)NAN), "nan");
  ck_assert_str_eq(f64(-(double)NAN), "nan");
  ck_assert_str_eq(f32(-NAN), "nan");
  ck_assert_str_eq(f32(-INFINITY), "-inf");
}
END_TEST

static void expect_f64_back(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof(value));
  if (isnan(value)) return;
  const char* end = NULL;
  double again = tfrt_number_text_parse_f64(f64(value), &end);
  ck_assert_msg(memcmp(&again, &value, sizeof(value)) == 0 && *end == '\0', "%s", f64(value));
}

static void expect_f32_back(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  if (isnan(value)) return;
  float again = tfrt_number_text_parse_f32(f32(value), NULL);
  float by_f64 = (float)tfrt_number_text_parse_f64(f32(value), NULL);
  ck_assert_msg(
      memcmp(&again, &value, sizeof(value)) == 0 && memcmp(&by_f64, &value, sizeof(value)) == 0,
      "%s", f32(value));
}

START_TEST(each_text_reads_back_bit_for_bit) {
  tfrt_random_t random;
  tfrt_random_initialize(&random, 7);
  for (uint32_t i = 0; i < 5000; ++i) {
    expect_f64_back(tfrt_random_next(&random));
    expect_f32_back((uint32_t)tfrt_random_next(&random));
  }
  // All powers of two, and their neighbours.
  for (uint64_t exponent = 0; exponent < 2047; ++exponent) {
    expect_f64_back(exponent << 52);
    expect_f64_back((exponent << 52) + 1);
    expect_f64_back(((exponent + 1) << 52) - 1);
  }
  for (uint32_t exponent = 0; exponent < 255; ++exponent) {
    expect_f32_back(exponent << 23);
    expect_f32_back((exponent << 23) + 1);
    expect_f32_back(((exponent + 1) << 23) - 1);
  }
}
END_TEST

START_TEST(formats_have_a_point_in_each_locale) {
  char text[64];
  ck_assert_int_eq(tfrt_number_text_format(text, sizeof(text), "%.2f %e %g", 3.25, 1.5, 0.5), 21);
  ck_assert_str_eq(text, "3.25 1.500000e+00 0.5");
  ck_assert_int_eq(tfrt_number_text_format(text, 4, "%.2f", 31.25), 5);
  ck_assert_str_eq(text, "31.");
}
END_TEST

START_TEST(floats_are_read_with_a_point) {
  const char* text = "3.25,5";
  const char* end = NULL;
  ck_assert(tfrt_number_text_parse_f64(text, &end) == 3.25);
  ck_assert_ptr_eq(end, text + 4);
  ck_assert(tfrt_number_text_parse_f32("-1e3", NULL) == -1e3f);
  // Rounded once: by way of a double it would be 1.0f.
  ck_assert(tfrt_number_text_parse_f32("1.00000005960464477540", NULL) == 1.00000012f);
  errno = 0;
  ck_assert(isinf(tfrt_number_text_parse_f64("1e999", NULL)));
  ck_assert_int_eq(errno, ERANGE);
  ck_assert(tfrt_number_text_parse_f64("x", &end) == 0);
  ck_assert_str_eq(end, "x");
}
END_TEST

static bool is_u64(const char* text, uint64_t expected) {
  uint64_t value = 1;
  return tfrt_number_text_parse_u64(tfrt_string_view_of(text), &value) && value == expected;
}
static bool is_i64(const char* text, int64_t expected) {
  int64_t value = 1;
  return tfrt_number_text_parse_i64(tfrt_string_view_of(text), &value) && value == expected;
}
static bool is_hex(const char* text, uint64_t expected) {
  uint64_t value = 1;
  return tfrt_number_text_parse_hex(tfrt_string_view_of(text), &value) && value == expected;
}

START_TEST(whole_numbers_are_all_of_their_text) {
  ck_assert(is_u64("0", 0) && is_u64("007", 7) && is_u64("18446744073709551615", UINT64_MAX));
  ck_assert(is_i64("-9223372036854775808", INT64_MIN) && is_i64("+5", 5) && is_i64("-0", 0));
  ck_assert(is_i64("9223372036854775807", INT64_MAX));
  ck_assert(is_hex("00fF", 255) && is_hex("ffffffffffffffff", UINT64_MAX));
  static const char* const bad[] = {"",   " 1",  "1 ",  "+",   "-",   "0x1",
                                    "1a", "1.0", "--1", "+-1", "1,0", "18446744073709551616"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(bad); ++i) {
    uint64_t u64 = 1;
    int64_t i64 = 1;
    ck_assert_msg(!tfrt_number_text_parse_u64(tfrt_string_view_of(bad[i]), &u64), "%s", bad[i]);
    ck_assert_msg(!tfrt_number_text_parse_i64(tfrt_string_view_of(bad[i]), &i64), "%s", bad[i]);
    ck_assert(u64 == 0 && i64 == 0);
  }
  ck_assert(!is_u64("+1", 1) && !is_i64("9223372036854775808", INT64_MAX));
  ck_assert(!is_i64("-9223372036854775809", INT64_MIN) && !is_hex("g", 0) && !is_hex("", 0));
}
END_TEST

START_TEST(a_date_is_shown_in_utc) {
  char text[TFRT_NUMBER_TEXT_DATE_SIZE];
  ck_assert_str_eq(tfrt_number_text_date(0, 'T', text), "1970-01-01T00:00:00");
  ck_assert_str_eq(tfrt_number_text_date(1709210096, ' ', text), "2024-02-29 12:34:56");
  ck_assert_str_eq(tfrt_number_text_date(-1, ' ', text), "1969-12-31 23:59:59");
}
END_TEST

START_TEST(characters_have_the_classes_of_ascii) {
  for (int c = -128; c < 256; ++c) {
    bool is_lower = c >= 'a' && c <= 'z';
    ck_assert_int_eq(tfrt_ascii_is_letter((char)c), is_lower || (c >= 'A' && c <= 'Z'));
    ck_assert_int_eq(tfrt_ascii_to_upper((char)c), (char)(is_lower ? c - 32 : c));
    ck_assert_int_eq(tfrt_ascii_is_space((char)c), c == ' ' || (c >= 9 && c <= 13));
    ck_assert_int_eq(tfrt_ascii_is_letter_or_digit((char)c),
                     tfrt_ascii_is_letter((char)c) || (c >= '0' && c <= '9'));
  }
  ck_assert(tfrt_ascii_equal_ignoring_case("CIaO9", "ciAo9", 5));
  ck_assert(!tfrt_ascii_equal_ignoring_case("a[", "a{", 2));
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("number_text");
  TCase* cases = tcase_create("number_text");
  tcase_add_test(cases, the_shortest_text_has_a_plain_form_where_people_write_one);
  tcase_add_test(cases, what_is_no_number_has_one_text);
  tcase_add_test(cases, each_text_reads_back_bit_for_bit);
  tcase_add_test(cases, formats_have_a_point_in_each_locale);
  tcase_add_test(cases, floats_are_read_with_a_point);
  tcase_add_test(cases, whole_numbers_are_all_of_their_text);
  tcase_add_test(cases, a_date_is_shown_in_utc);
  tcase_add_test(cases, characters_have_the_classes_of_ascii);
  suite_add_tcase(suite, cases);
  return suite;
}
