// SPDX-License-Identifier: Apache-2.0
#include "tools/worker/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "tests/support/test_main.h"
#include "tools/cluster/network_trust.h"

static tfrt_listen_address_t judged(const char* text) {
  tfrt_listen_address_t address;
  tfrt_status_t status = tfrt_listen_address_judge(text, &address);
  ck_assert_msg(!status, "%s: %s", text, tfrt_status_message(status));
  return address;
}

static void expect_error(const char* text, tfrt_status_code_t code, const char* part) {
  tfrt_listen_address_t address;
  tfrt_status_t status = tfrt_listen_address_judge(text, &address);
  ck_assert_msg(tfrt_status_code(status) == code, "%s: %s", text, tfrt_status_message(status));
  ck_assert_msg(strstr(tfrt_status_message(status), part) != NULL, "%s",
                tfrt_status_message(status));
  tfrt_status_release(status);
}

START_TEST(loopback_addresses_and_unix_sockets_are_local) {
  static const char* const texts[] = {"127.0.0.1:0", "127.255.3.4:65535", "[::1]:8000",
                                      "[::ffff:127.0.0.1]:1", "unix:/tmp/x"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(texts); ++i) {
    ck_assert_msg(judged(texts[i]).is_local, "%s", texts[i]);
  }
}
END_TEST

START_TEST(wildcards_and_addresses_of_networks_are_not_local) {
  static const char* const texts[] = {
      "0.0.0.0:0", "[::]:0",       "10.0.0.1:80",         "128.0.0.1:80", "[fe80::1]:80",
      "[::2]:80",  "126.0.0.1:80", "[::ffff:10.0.0.1]:1", "0:80"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(texts); ++i) {
    ck_assert_msg(!judged(texts[i]).is_local, "%s", texts[i]);
  }
}
END_TEST

START_TEST(a_local_address_is_listened_on_as_it_was_resolved) {
  ck_assert_str_eq(judged("127.0.0.1:4001").text, "127.0.0.1:4001");
  ck_assert_str_eq(judged("[::1]:4001").text, "[::1]:4001");
  ck_assert_str_eq(judged("unix:/tmp/x").text, "unix:/tmp/x");
  // The old way to write it, which the resolver knows.
  ck_assert_str_eq(judged("127.1:4001").text, "127.0.0.1:4001");
}
END_TEST

START_TEST(an_address_of_a_network_stays_as_it_was_written) {
  ck_assert_str_eq(judged("0.0.0.0:4001").text, "0.0.0.0:4001");
  ck_assert_str_eq(judged("[::]:4001").text, "[::]:4001");
}
END_TEST

START_TEST(what_is_no_address_is_told_with_what_would_be_one) {
  static const char* const texts[] = {
      "",          "localhost",        ":80",         "::1:80",
      "[::1]",     "127.0.0.1:",       "127.0.0.1:x", "127.0.0.1:65536",
      "1:2:3:4:5", "127.0.0.1:123456", "127.0.0.1:-1"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(texts); ++i) {
    expect_error(texts[i], TFRT_STATUS_INVALID_ARGUMENT, "write HOST:PORT");
  }
}
END_TEST

START_TEST(a_text_that_is_too_long_is_an_error) {
  char text[TFRT_TRANSPORT_ADDRESS_SIZE + 10];
  memset(text, '1', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  expect_error(text, TFRT_STATUS_INVALID_ARGUMENT, "at most 255 characters");
}
END_TEST

START_TEST(a_name_that_nobody_knows_is_an_error) {
  // No name server is asked for a label of more than 63 characters.
  char text[80];
  memset(text, 'a', 70);
  strcpy(text + 70, ":80");
  expect_error(text, TFRT_STATUS_NOT_FOUND, "is no host that this machine knows");
}
END_TEST

START_TEST(other_families_are_not_loopback) {
  const struct sockaddr unknown = {.sa_family = AF_UNSPEC};
  ck_assert(!tfrt_network_address_is_loopback(&unknown));
  const struct sockaddr_in ipv4 = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  ck_assert(tfrt_network_address_is_loopback((const struct sockaddr*)(const void*)&ipv4));
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("listen_address");
  tcase_add_test(cases, loopback_addresses_and_unix_sockets_are_local);
  tcase_add_test(cases, wildcards_and_addresses_of_networks_are_not_local);
  tcase_add_test(cases, a_local_address_is_listened_on_as_it_was_resolved);
  tcase_add_test(cases, an_address_of_a_network_stays_as_it_was_written);
  tcase_add_test(cases, what_is_no_address_is_told_with_what_would_be_one);
  tcase_add_test(cases, a_text_that_is_too_long_is_an_error);
  tcase_add_test(cases, a_name_that_nobody_knows_is_an_error);
  tcase_add_test(cases, other_families_are_not_loopback);
  Suite* suite = suite_create("listen_address");
  suite_add_tcase(suite, cases);
  return suite;
}
