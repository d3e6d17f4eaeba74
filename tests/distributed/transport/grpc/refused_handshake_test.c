// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/refused_handshake.h"

#include <string.h>

#include "host_runtime/base/log.h"
#include "tests/support/test_main.h"

#define FILE_OF_GRPC "./src/core/ext/transport/chttp2/server/chttp2_server.cc"
#define FAILED "Handshaking failed: UNKNOWN:Tls handshake failed: SSL_ERROR_SSL: error:"

static void expect(const char* line, const char* words) {
  char reason[256];
  ck_assert(tfrt_grpc_refused_handshake_find(FILE_OF_GRPC, line, reason, sizeof(reason)));
  ck_assert_msg(strstr(reason, words), "'%s' is not about '%s'", reason, words);
  ck_assert_msg(!strstr(reason, "tsi_code"), "%s", reason);
}

static void expect_nothing(const char* file, const char* line) {
  char reason[256];
  ck_assert(!tfrt_grpc_refused_handshake_find(file, line, reason, sizeof(reason)));
}

START_TEST(a_refused_handshake_has_a_reason) {
  expect(FAILED "0A0000C7:SSL routines::peer did not return a certificate {tsi_code:10}",
         "it shows no certificate");
  expect(FAILED "0A000086:SSL routines::certificate verify failed {tsi_code:10}",
         "another cluster's authority");
  expect(FAILED "0A00010B:SSL routines::wrong version number {tsi_code:10}",
         "it does not speak TLS");
  expect(FAILED "0A000102:SSL routines::unsupported protocol {tsi_code:10}",
         "no TLS: SSL_ERROR_SSL: error:0A000102:SSL routines::unsupported protocol");
}
END_TEST

START_TEST(other_lines_say_nothing) {
  // One who hangs up.
  expect_nothing(FILE_OF_GRPC, "Handshaking failed: UNKNOWN:Handshake read failed {fd:16}");
  // This process as the dialler.
  expect_nothing("./src/core/lib/security/transport/security_handshaker.cc",
                 "Security handshake failed: UNKNOWN:Tls handshake failed: certificate verify");
  expect_nothing(FILE_OF_GRPC, "Tls handshake failed: certificate verify failed");
  expect_nothing("chttp2_server", FAILED "certificate verify failed");
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
  const char* first = strstr(logged, "warning: refused who dialled: no reason\n");
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
  tcase_add_test(tests, other_lines_say_nothing);
  tcase_add_test(tests, there_is_a_line_at_once_and_then_at_most_one_a_second);
  Suite* suite = suite_create("refused handshakes");
  suite_add_tcase(suite, tests);
  return suite;
}
