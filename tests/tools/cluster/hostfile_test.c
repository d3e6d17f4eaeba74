// SPDX-License-Identifier: Apache-2.0
#include "tools/cluster/hostfile.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/macros.h"
#include "tests/support/test_main.h"

static tfrt_hostfile_t hostfile;

static void expect(const char* text, const char* const* addresses, uint32_t count) {
  tfrt_status_t status = tfrt_hostfile_parse("f", tfrt_string_view_of(text), &hostfile);
  ck_assert_msg(!status, "%s", tfrt_status_message(status));
  ck_assert_uint_eq(hostfile.count, count);
  for (uint32_t i = 0; i < count; ++i) ck_assert_str_eq(hostfile.addresses[i], addresses[i]);
}

static void expect_error(const char* text, const char* message) {
  tfrt_status_t status = tfrt_hostfile_parse("f", tfrt_string_view_of(text), &hostfile);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tfrt_status_message(status), message), "%s", tfrt_status_message(status));
  tfrt_status_release(status);
}

START_TEST(lines_are_ranks) {
  static const char* const addresses[] = {"a:1", "[::1]:2"};
  expect("a:1\n[::1]:2", addresses, 2);
  expect("\n# none\n  a:1  # one\r\n\t[::1]:2 slots=1\n\n", addresses, 2);
  ck_assert_uint_eq(hostfile.lines[1], 4);
}
END_TEST

START_TEST(a_byte_order_mark_in_front_is_passed_over) {
  static const char* const addresses[] = {"a:1", "b:2"};
  expect(
      "\xef\xbb\xbf"
      "a:1\nb:2\n",
      addresses, 2);
  expect("\xef\xbb\xbf# two\na:1\nb:2\n", addresses, 2);
  ck_assert_uint_eq(hostfile.lines[0], 2);
  expect_error("\xef\xbb\xbf", "f: no worker is named");
  expect_error(
      "\xef\xbb\xbf"
      "b\n",
      "f:1: 'b' is no HOST:PORT");
}
END_TEST

START_TEST(brackets_stand_around_an_ipv6_address) {
  static const char* const wrong[] = {"[::1:4", "::1]:4", "::1:4", "[]:4", "[[::1]:4", "[a]b:4"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(wrong); ++i) {
    char text[64];
    char message[128];
    snprintf(text, sizeof(text), "a:1\n%s\n", wrong[i]);
    snprintf(message, sizeof(message), "f:2: '%s': brackets stand around an IPv6 address",
             wrong[i]);
    expect_error(text, message);
  }
}
END_TEST

START_TEST(slots_are_ports_behind_each_other) {
  static const char* const addresses[] = {"a:7000", "a:7001", "a:7002", "unix:/x", "b:65535"};
  expect("a:7000 slots=3\nunix:/x\nb:65535 slots=1", addresses, 5);
}
END_TEST

START_TEST(what_is_wrong_is_said_with_its_line) {
  expect_error("", "f: no worker is named");
  expect_error("# only\n", "f: no worker is named");
  expect_error("a:1\nb\n", "f:2: 'b' is no HOST:PORT");
  expect_error("a:0", "f:1: 'a:0' is no HOST:PORT with a port from 1 to 65535");
  expect_error("a:65536", "f:1: 'a:65536'");
  expect_error(":1", "f:1: ':1' is no HOST:PORT");
  expect_error("a:1x", "f:1: 'a:1x'");
  expect_error("a:1 slots=0", "f:1: 'slots=0'");
  expect_error("a:1 slots=", "f:1: 'slots='");
  expect_error("a:1 slots=1025", "slots=1 to slots=1024");
  expect_error("a:1 max_slots=2", "f:1: 'max_slots=2'");
  expect_error("a:1 2", "f:1: '2'");
  expect_error("a:1 slots=2 slots=1", "f:1: 'slots=1': behind the slots there is nothing more");
  expect_error("a:65535 slots=2", "f:1: 2 slots from port 65535 on go beyond port 65535");
  expect_error("unix:/x slots=2", "f:1: unix:/x has no port");
  expect_error("a:1\n\na:1", "f:3: a:1 stands in line 1 already");
  expect_error("a:1 slots=2\na:2", "f:2: a:2 stands in line 1 already");
  expect_error("a:1 slots=1024\nb:1", "f:2: these are more than 1024 workers");
}
END_TEST

START_TEST(an_address_that_is_no_text_is_refused) {
  static char text[TFRT_TRANSPORT_ADDRESS_SIZE + 8];
  memset(text, 'a', TFRT_TRANSPORT_ADDRESS_SIZE);
  strcpy(text + TFRT_TRANSPORT_ADDRESS_SIZE, ":1");
  expect_error(text, "f:1: this is no address");
  tfrt_status_t status = tfrt_hostfile_parse("f", tfrt_string_view_make("a\0b:1", 5), &hostfile);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_status_release(status);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_named) {
  tfrt_status_t status = tfrt_hostfile_read("/nowhere/hosts", &hostfile);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "/nowhere/hosts"));
  tfrt_status_release(status);
}
END_TEST

START_TEST(a_device_without_an_end_is_refused) {
  tfrt_status_t status = tfrt_hostfile_read("/dev/zero", &hostfile);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status),
                               "/dev/zero: it has more than 4194304 bytes, the most that a file "
                               "for this may have; name another"));
  tfrt_status_release(status);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* hostfiles = tcase_create("hostfiles");
  tcase_add_test(hostfiles, lines_are_ranks);
  tcase_add_test(hostfiles, a_byte_order_mark_in_front_is_passed_over);
  tcase_add_test(hostfiles, brackets_stand_around_an_ipv6_address);
  tcase_add_test(hostfiles, slots_are_ports_behind_each_other);
  tcase_add_test(hostfiles, what_is_wrong_is_said_with_its_line);
  tcase_add_test(hostfiles, an_address_that_is_no_text_is_refused);
  tcase_add_test(hostfiles, a_file_that_is_not_there_is_named);
  tcase_add_test(hostfiles, a_device_without_an_end_is_refused);
  Suite* suite = suite_create("hostfile");
  suite_add_tcase(suite, hostfiles);
  return suite;
}
