// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/grpc_library.h"

#include <string.h>

#include "distributed/transport/grpc/dial.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/log.h"
#include "tests/support/test_main.h"

static void expect(tfrt_grpc_log_text_t text, const char* words) {
  char reason[256];
  tfrt_grpc_refused_handshake_describe(text, tfrt_string_view_of("cause"), reason, sizeof(reason));
  ck_assert_msg(strstr(reason, words), "'%s' is not about '%s'", reason, words);
}

START_TEST(a_refused_handshake_has_a_reason) {
  expect(TFRT_GRPC_LOG_TEXT_NO_CERTIFICATE, "it shows no certificate");
  expect(TFRT_GRPC_LOG_TEXT_UNTRUSTED, "another cluster's authority");
  expect(TFRT_GRPC_LOG_TEXT_PLAIN_TEXT, "it does not speak TLS");
  expect(TFRT_GRPC_LOG_TEXT_OLD_TLS, "TLS 1.3 is needed");
  expect(TFRT_GRPC_LOG_TEXT_NO_TLS, "no TLS: cause");
}
END_TEST

// A starved machine is not taken for a lack of trust.
START_TEST(a_connection_that_is_closed_late_was_too_slow) {
  const tfrt_grpc_credential_set_t plain = {.is_encrypted = false};
  tfrt_status_t status =
      tfrt_grpc_dial_turned_away(&plain, "a:1", TFRT_NANOSECONDS_PER_SECOND / 10);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_UNAUTHENTICATED);
  tfrt_status_release(status);
  const int64_t limit_ns = TFRT_TUNING_GRPC_HANDSHAKE_MS * TFRT_NANOSECONDS_PER_MILLISECOND;
  status = tfrt_grpc_dial_turned_away(&plain, "a:1", limit_ns);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_UNAVAILABLE);
  ck_assert_ptr_nonnull(
      strstr(tfrt_status_message(status), "a:1 closed the connection after 3.0 s"));
  tfrt_status_release(status);
}
END_TEST

static char logged[4096];

static void note(void* self, tfrt_log_severity_t severity, const char* line, size_t size) {
  (void)self;
  ck_assert_int_eq(severity, TFRT_LOG_WARNING);
  strncat(logged, line, size);
}

START_TEST(there_is_a_line_at_once_and_then_at_most_one_a_second) {
  static const tfrt_log_sink_t sink = {.write = note};
  tfrt_log_set_sink(&sink);
  for (int i = 0; i < 1000; ++i) tfrt_grpc_refused_handshake_log("no reason");
  tfrt_log_set_sink(NULL);
  const char* first = strstr(logged, "warning: refused a connection: no reason\n");
  ck_assert_ptr_nonnull(first);
  // A thousand are not logged in less than a second by as many lines.
  size_t count = 0;
  for (const char* line = logged; (line = strchr(line, '\n')); ++line) ++count;
  ck_assert_uint_lt(count, 10);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("refused handshakes");
  tcase_add_test(tests, a_refused_handshake_has_a_reason);
  tcase_add_test(tests, a_connection_that_is_closed_late_was_too_slow);
  tcase_add_test(tests, there_is_a_line_at_once_and_then_at_most_one_a_second);
  Suite* suite = suite_create("refused handshakes");
  suite_add_tcase(suite, tests);
  return suite;
}
