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
  tcase_add_test(tests, a_view_starts_with_its_prefixes_only);
  Suite* suite = suite_create("string_view");
  suite_add_tcase(suite, tests);
  return suite;
}
