// SPDX-License-Identifier: Apache-2.0
#include "tools/cluster/network_trust.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_runtime/base/log.h"
#include "tests/support/test_main.h"
#include "tools/cluster/key_file.h"

// --- Addresses -----------------------------------------------------------------

static tfrt_status_t check(const char* first, const char* second) {
  tfrt_string_view_t addresses[] = {tfrt_string_view_of(first), tfrt_string_view_of(second)};
  return tfrt_network_trust_check_key(addresses, 2);
}

START_TEST(a_key_may_go_to_this_machine) {
  ck_assert_ptr_null(check("127.0.0.1:7000", "127.1.2.3:7000"));
  ck_assert_ptr_null(check("[::1]:7000", "[::ffff:127.0.0.1]:7000"));
  ck_assert_ptr_null(check("localhost:7000", "unix:/tmp/socket"));
}
END_TEST

START_TEST(a_key_may_not_go_elsewhere) {
  static const char* const others[] = {"10.0.0.1:7000", "[2001:db8::1]:7000",
                                       "[::ffff:10.0.0.1]:7000", "128.0.0.1:7000"};
  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
    tfrt_status_t status = check("127.0.0.1:1", others[i]);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), others[i]));
    ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "--insecure-network"));
    tfrt_status_release(status);
  }
}
END_TEST

// --- Files ---------------------------------------------------------------------

static int all_can_read;
static int others_can_write;

static void count_warning(void* state, tfrt_log_severity_t severity, const char* line,
                          size_t size) {
  (void)state, (void)size;
  ck_assert_int_eq(severity, TFRT_LOG_WARNING);
  if (strstr(line, "all users can read the key")) ++all_can_read;
  if (strstr(line, "other users can write the key")) ++others_can_write;
}

START_TEST(a_key_that_others_reach_is_warned_of) {
  char path[] = "/tmp/tfrt-key-XXXXXX";
  int descriptor = mkstemp(path);
  ck_assert_int_ge(descriptor, 0);
  tfrt_log_sink_t sink = {.write = count_warning};
  tfrt_log_set_sink(&sink);
  tfrt_key_file_check_mode(path);
  ck_assert_int_eq(fchmod(descriptor, 0640), 0);
  tfrt_key_file_check_mode(path);
  tfrt_key_file_check_mode("/dev/null");
  ck_assert_int_eq(all_can_read + others_can_write, 0);
  ck_assert_int_eq(fchmod(descriptor, 0644), 0);
  tfrt_key_file_check_mode(path);
  ck_assert_int_eq(fchmod(descriptor, 0660), 0);
  tfrt_key_file_check_mode(path);
  tfrt_log_set_sink(NULL);
  ck_assert_int_eq(all_can_read, 1);
  ck_assert_int_eq(others_can_write, 1);
  close(descriptor);
  unlink(path);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("network_trust");
  tcase_add_test(tests, a_key_may_go_to_this_machine);
  tcase_add_test(tests, a_key_may_not_go_elsewhere);
  tcase_add_test(tests, a_key_that_others_reach_is_warned_of);
  Suite* suite = suite_create("network_trust");
  suite_add_tcase(suite, tests);
  return suite;
}
