// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/host_list.h"

#include <string.h>

#include "tests/support/test_main.h"

static void expect_error(const char* text, const char* message) {
  static tfrt_host_list_t list;
  tfrt_status_t status = tfrt_host_list_parse(text, &list);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), message));
  tfrt_status_release(status);
}

START_TEST(hosts_are_separated_by_commas) {
  static tfrt_host_list_t list;
  ck_assert_ptr_null(tfrt_host_list_parse("a:1", &list));
  ck_assert_uint_eq(list.count, 1);
  ck_assert_ptr_null(tfrt_host_list_parse("a:1,[::1]:2,unix:/x", &list));
  ck_assert_uint_eq(list.count, 3);
  ck_assert(tfrt_string_view_equal(list.addresses[1], tfrt_string_view_of("[::1]:2")));
  ck_assert(tfrt_string_view_equal(list.addresses[2], tfrt_string_view_of("unix:/x")));
}
END_TEST

START_TEST(a_host_without_an_address_is_named_by_its_rank) {
  expect_error("", "host 0 has no address");
  expect_error(",a:1", "host 0 has no address");
  expect_error("a:1,,b:2", "host 1 has no address");
  expect_error("a:1,b:2,", "host 2 has no address");
}
END_TEST

START_TEST(there_is_a_limit) {
  static char text[2 * TFRT_HOST_LIST_MAX + 8];
  static tfrt_host_list_t list;
  for (int i = 0; i < TFRT_HOST_LIST_MAX; ++i) strcat(text, i > 0 ? ",a" : "a");
  ck_assert_ptr_null(tfrt_host_list_parse(text, &list));
  ck_assert_uint_eq(list.count, TFRT_HOST_LIST_MAX);
  strcat(text, ",b");
  expect_error(text, "more than 1024 hosts");
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("host_list");
  TCase* tests = tcase_create("host_list");
  tcase_add_test(tests, hosts_are_separated_by_commas);
  tcase_add_test(tests, a_host_without_an_address_is_named_by_its_rank);
  tcase_add_test(tests, there_is_a_limit);
  suite_add_tcase(suite, tests);
  return suite;
}
