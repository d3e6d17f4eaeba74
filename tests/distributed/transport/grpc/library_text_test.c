// SPDX-License-Identifier: Apache-2.0
//
// Provokes each text that grpc_library.h knows, with the libraries that are installed: a version
// that says it otherwise fails here.
#include "distributed/transport/grpc/grpc_library.h"

#include <arpa/inet.h>
#include <grpc/support/log.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "distributed/transport/grpc/grpc_transport.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/sync.h"
#include "tests/distributed/security/checked_certificate_folder.h"
#include "tests/distributed/security/tls_dialler.h"
#include "tests/distributed/transport/grpc/endpoint.h"
#include "tests/support/test_main.h"

#define LIMIT_MS 20000

static tfrt_certificate_folder_t ours;
static tfrt_certificate_folder_t theirs;

static tfrt_mutex_t mutex = TFRT_MUTEX_INITIALIZER;
static tfrt_condition_t changed;
static tfrt_grpc_log_text_t heard;  // guarded by |mutex|: the last that was no OTHER

static void set_up(void) {
  tfrt_condition_initialize(&changed);
  tfrt_certificate_folder_initialize(&ours);
  tfrt_certificate_folder_issue(&ours, TFRT_CERTIFICATE_HOST, "127.0.0.1", TFRT_A_DAY_S);
  tfrt_certificate_folder_initialize(&theirs);
  tfrt_certificate_folder_issue(&theirs, TFRT_CERTIFICATE_HOST, "127.0.0.1", TFRT_A_DAY_S);
}

static void tear_down(void) {
  tfrt_condition_deinitialize(&changed);
  tfrt_certificate_folder_deinitialize(&ours);
  tfrt_certificate_folder_deinitialize(&theirs);
}

// --- The log of a listener -----------------------------------------------------

static void hear(gpr_log_func_args* line) {
  tfrt_string_view_t words;
  tfrt_grpc_log_text_t text = tfrt_grpc_library_text_of_log(line->file, line->message, &words);
  if (text == TFRT_GRPC_LOG_TEXT_OTHER) return;
  tfrt_mutex_lock(&mutex);
  heard = text;
  tfrt_condition_broadcast(&changed);
  tfrt_mutex_unlock(&mutex);
}

static void expect_heard(tfrt_grpc_log_text_t text) {
  const int64_t deadline_ns = tfrt_deadline_after(tfrt_clock_now_ns(tfrt_clock_system()),
                                                  LIMIT_MS * TFRT_NANOSECONDS_PER_MILLISECOND);
  tfrt_mutex_lock(&mutex);
  while (heard == TFRT_GRPC_LOG_TEXT_OTHER) {
    ck_assert(tfrt_condition_wait_until(&changed, &mutex, deadline_ns));
  }
  ck_assert_int_eq(heard, text);
  heard = TFRT_GRPC_LOG_TEXT_OTHER;
  tfrt_mutex_unlock(&mutex);
}

static tfrt_transport_t* create_transport(tfrt_certificate_folder_t* folder) {
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  if (folder) {
    options.credentials.kind = TFRT_GRPC_CREDENTIALS_TLS;
    options.credentials.files = tfrt_certificate_folder_files(folder, "127.0.0.1");
  }
  tfrt_transport_t* transport;
  ck_assert_ptr_null(tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &transport));
  return transport;
}

// A listener over TLS whose log is heard.
static void start_host(tfrt_endpoint_host_t* host) {
  *host = (tfrt_endpoint_host_t){.is_greedy = false};
  tfrt_transport_t* transport = create_transport(&ours);
  gpr_set_log_function(hear);
  tfrt_endpoint_host_listen(host, transport, "127.0.0.1:0");
  tfrt_transport_release(transport);
}

static int connect_to(const char* address) {
  struct sockaddr_in name = {.sin_family = AF_INET};
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1));
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ck_assert_int_ge(descriptor, 0);
  ck_assert_int_eq(connect(descriptor, (struct sockaddr*)&name, sizeof(name)), 0);
  return descriptor;
}

static void say(const char* address, const char* bytes) {
  int descriptor = connect_to(address);
  ck_assert_int_eq(send(descriptor, bytes, strlen(bytes), MSG_NOSIGNAL), (ssize_t)strlen(bytes));
  char answer[64];
  (void)!recv(descriptor, answer, sizeof(answer), 0);
  close(descriptor);
}

static void shake_hands(const char* address, tfrt_tls_dialler_version_t version,
                        tfrt_certificate_folder_t* folder) {
  tfrt_certificate_files_t files = {0};
  if (folder) files = tfrt_certificate_folder_files(folder, "127.0.0.1");
  const uint16_t port = (uint16_t)atoi(strrchr(address, ':') + 1);
  ck_assert(tfrt_tls_dialler_shake_hands(port, version, folder ? &files : NULL));
}

START_TEST(a_listener_says_why_it_lets_nobody_in) {
  tfrt_endpoint_host_t host;
  start_host(&host);
  shake_hands(host.address, TFRT_TLS_DIALLER_1_3, NULL);
  expect_heard(TFRT_GRPC_LOG_TEXT_NO_CERTIFICATE);
  shake_hands(host.address, TFRT_TLS_DIALLER_1_3, &theirs);
  expect_heard(TFRT_GRPC_LOG_TEXT_UNTRUSTED);
  shake_hands(host.address, TFRT_TLS_DIALLER_1_2, &ours);
  expect_heard(TFRT_GRPC_LOG_TEXT_OLD_TLS);
  say(host.address, "GET / HTTP/1.1\r\nHost: worker\r\n\r\n");
  expect_heard(TFRT_GRPC_LOG_TEXT_PLAIN_TEXT);
  say(host.address, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  expect_heard(TFRT_GRPC_LOG_TEXT_PLAIN_TEXT);
  tfrt_endpoint_host_stop(&host);
}
END_TEST

START_TEST(a_listener_says_that_it_is_deaf) {
  tfrt_endpoint_host_t host;
  start_host(&host);
  struct rlimit limit;
  ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in name = {.sin_family = AF_INET};
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = htons((uint16_t)atoi(strrchr(host.address, ':') + 1));
  const struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
  ck_assert_int_eq(connect(descriptor, (struct sockaddr*)&name, sizeof(name)), 0);
  expect_heard(TFRT_GRPC_LOG_TEXT_DEAF);
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
  close(descriptor);
  tfrt_endpoint_host_stop(&host);
}
END_TEST

// --- The status of a dial ------------------------------------------------------

// The other texts of a dial are provoked in tls_test.c, by the error that each leads to.
static void expect_end(const char* address, tfrt_transport_end_t end) {
  tfrt_transport_t* transport = create_transport(NULL);
  tfrt_endpoint_t endpoint;
  tfrt_endpoint_initialize(&endpoint);
  tfrt_endpoint_dial(&endpoint, transport, address, TFRT_TRANSPORT_CONTROL, NULL, LIMIT_MS);
  tfrt_transport_end_t found = tfrt_endpoint_wait_closed(&endpoint);
  ck_assert_msg(found == end, "%s: %d: %s", address, (int)found,
                tfrt_status_message(endpoint.status));
  tfrt_endpoint_deinitialize(&endpoint);
  tfrt_transport_close(transport);
  tfrt_transport_drain(transport);
  tfrt_transport_release(transport);
}

START_TEST(a_dial_says_that_nobody_listens) {
  expect_end("127.0.0.1:1", TFRT_TRANSPORT_REFUSED);
  expect_end("unix:/nowhere/socket", TFRT_TRANSPORT_REFUSED);
}
END_TEST

START_TEST(a_dial_says_that_no_descriptor_is_left) {
  tfrt_transport_t* transport = create_transport(NULL);
  struct rlimit limit;
  ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
  tfrt_endpoint_t endpoint;
  // The first one takes what gRPC needs once.
  for (int i = 0; i < 2; ++i) {
    if (i == 1) ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    tfrt_endpoint_initialize(&endpoint);
    tfrt_endpoint_dial(&endpoint, transport, "127.0.0.1:1", TFRT_TRANSPORT_CONTROL, NULL, LIMIT_MS);
    ck_assert_int_eq(tfrt_endpoint_wait_closed(&endpoint),
                     i == 0 ? TFRT_TRANSPORT_REFUSED : TFRT_TRANSPORT_RESET);
    if (i == 0) tfrt_endpoint_deinitialize(&endpoint);
  }
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
  ck_assert_int_eq(tfrt_status_code(endpoint.status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  ck_assert_str_eq(
      tfrt_status_message(endpoint.status),
      "no descriptor is left for a connection to 127.0.0.1:1; the limit is 0, raise it "
      "(ulimit -n)");
  tfrt_endpoint_deinitialize(&endpoint);
  tfrt_transport_close(transport);
  tfrt_transport_drain(transport);
  tfrt_transport_release(transport);
}
END_TEST

START_TEST(a_dial_says_that_there_is_no_such_name) {
  expect_end("no-such-host.invalid:1", TFRT_TRANSPORT_NO_ANSWER);
}
END_TEST

static void expect_nothing(const char* file, const char* line) {
  tfrt_string_view_t words;
  ck_assert_int_eq(tfrt_grpc_library_text_of_log(file, line, &words), TFRT_GRPC_LOG_TEXT_OTHER);
}

START_TEST(other_lines_say_nothing) {
  // A dialler that hangs up.
  expect_nothing("./src/core/ext/transport/chttp2/server/chttp2_server.cc",
                 "Handshaking failed: UNKNOWN:Handshake read failed {fd:16}");
  // This process as the dialler.
  expect_nothing("./src/core/lib/security/transport/security_handshaker.cc",
                 "Security handshake failed: UNKNOWN:Tls handshake failed: certificate verify");
  expect_nothing("./src/core/ext/transport/chttp2/server/chttp2_server.cc",
                 "Tls handshake failed: certificate verify failed");
}
END_TEST

// The words of the system stand in gRPC's, whichever they are: that is provoked above.
START_TEST(words_of_the_system_are_known) {
  static const struct {
    const char* details;
    tfrt_grpc_dial_text_t text;
  } kTexts[] = {
      {"failed to connect: No route to host", TFRT_GRPC_DIAL_TEXT_NO_WAY},
      {"failed to connect: Network is unreachable", TFRT_GRPC_DIAL_TEXT_NO_WAY},
      {"failed to connect: Connection timed out", TFRT_GRPC_DIAL_TEXT_NO_WAY},
      {"failed to connect: Connection refused", TFRT_GRPC_DIAL_TEXT_REFUSED},
      {"", TFRT_GRPC_DIAL_TEXT_OTHER},
      {"something else", TFRT_GRPC_DIAL_TEXT_OTHER},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kTexts); ++i) {
    ck_assert_int_eq(tfrt_grpc_library_text_of_dial(tfrt_string_view_of(kTexts[i].details)),
                     kTexts[i].text);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("library text");
  TCase* tests = tcase_create("library text");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, a_listener_says_why_it_lets_nobody_in);
  tcase_add_test(tests, a_listener_says_that_it_is_deaf);
  tcase_add_test(tests, a_dial_says_that_nobody_listens);
  tcase_add_test(tests, a_dial_says_that_no_descriptor_is_left);
  tcase_add_test(tests, a_dial_says_that_there_is_no_such_name);
  tcase_add_test(tests, other_lines_say_nothing);
  tcase_add_test(tests, words_of_the_system_are_known);
  suite_add_tcase(suite, tests);
  return suite;
}
