// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/string_view.h"

#include "tests/support/test_main.h"

static tfrt_string_view_t view(const char* text) { return tfrt_string_view_of(text); }

START_TEST(views_compare_by_bytes_then_length) {
  ck_assert(tfrt_string_view_equal(view("ab"), view("ab")));
  ck_assert(tfrt_string_view_equal(view(NULL), view("")));
  ck_assert(!tfrt_string_view_equal(view("ab"), view("abc")));
  ck_assert_int_lt(tfrt_string_view_compare(view("ab"), view("abc")), 0);
  ck_assert_int_gt(tfrt_string_view_compare(view("b"), view("abc")), 0);
  ck_assert_int_eq(tfrt_string_view_compare(view(NULL), view("")), 0);
}
END_TEST

// A difference at any place of texts of any length is seen.
START_TEST(short_views_compare_by_all_of_their_bytes) {
  char a[24];
  char b[24];
  for (size_t size = 0; size < sizeof(a); ++size) {
    memset(a, 'x', sizeof(a));
    memset(b, 'x', sizeof(b));
    tfrt_string_view_t first = tfrt_string_view_make(a, size);
    tfrt_string_view_t second = tfrt_string_view_make(b, size);
    ck_assert(tfrt_string_view_equal_short(first, second));
    ck_assert(!tfrt_string_view_equal_short(first, tfrt_string_view_make(b, size + 1)));
    for (size_t i = 0; i < size; ++i) {
      b[i] = 'y';
      ck_assert_msg(!tfrt_string_view_equal_short(first, second), "byte %zu of %zu", i, size);
      b[i] = 'x';
    }
  }
}
END_TEST

START_TEST(a_short_copy_is_all_of_the_text_and_nothing_more) {
  static const char kText[] = "0123456789abcdefghijklmn";
  for (size_t size = 0; size < sizeof(kText); ++size) {
    char copy[sizeof(kText) + 1];
    memset(copy, '.', sizeof(copy));
    tfrt_string_view_copy_short(copy, tfrt_string_view_make(kText, size));
    ck_assert_mem_eq(copy, kText, size);
    ck_assert_int_eq(copy[size], '.');
  }
}
END_TEST

START_TEST(a_view_starts_with_its_prefixes_only) {
  ck_assert(tfrt_string_view_starts_with(view("tfrt.call"), view("tfrt.")));
  ck_assert(tfrt_string_view_starts_with(view("tfrt.call"), view("")));
  ck_assert(!tfrt_string_view_starts_with(view("tf"), view("tfrt.")));
  ck_assert(!tfrt_string_view_starts_with(view("tfxt."), view("tfrt.")));
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("string_view");
  tcase_add_test(tests, views_compare_by_bytes_then_length);
  tcase_add_test(tests, short_views_compare_by_all_of_their_bytes);
  tcase_add_test(tests, a_short_copy_is_all_of_the_text_and_nothing_more);
  tcase_add_test(tests, a_view_starts_with_its_prefixes_only);
  Suite* suite = suite_create("string_view");
  suite_add_tcase(suite, tests);
  return suite;
}
