// SPDX-License-Identifier: Apache-2.0
//
// A port over TLS, whose listener is gRPC's, when this process has no descriptor left.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "distributed/transport/grpc/grpc_transport.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/log.h"
#include "tests/distributed/security/checked_certificate_folder.h"
#include "tests/distributed/transport/grpc/endpoint.h"
#include "tests/support/test_main.h"

#define LIMIT_MS 20000
#define STRANGERS 4

static tfrt_mutex_t mutex = TFRT_MUTEX_INITIALIZER;
static tfrt_condition_t changed;
static bool has_said_so;  // guarded by |mutex|: that there is no descriptor

static void note(void* self, tfrt_log_severity_t severity, const char* line, size_t size) {
  (void)self;
  (void)severity;
  if (!memmem(line, size, "no descriptor is left", 21)) return;
  tfrt_mutex_lock(&mutex);
  has_said_so = true;
  tfrt_condition_broadcast(&changed);
  tfrt_mutex_unlock(&mutex);
}

static void wait_until_said(void) {
  tfrt_mutex_lock(&mutex);
  while (!has_said_so) tfrt_condition_wait(&changed, &mutex);
  tfrt_mutex_unlock(&mutex);
}

static tfrt_transport_t* create_transport(tfrt_certificate_folder_t* folder) {
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  options.credentials.kind = TFRT_GRPC_CREDENTIALS_TLS;
  options.credentials.files = tfrt_certificate_folder_files(folder, "127.0.0.1");
  tfrt_transport_t* transport;
  ck_assert_ptr_null(tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &transport));
  return transport;
}

// Says a word on |endpoint|, and waits for the echo number |count|.
static void expect_echo(tfrt_endpoint_t* endpoint, uint64_t count) {
  tfrt_transport_connection_receive(endpoint->connection);
  ck_assert_int_eq(tfrt_endpoint_write(endpoint, "hello", 5), TFRT_STATUS_OK);
  tfrt_endpoint_wait_messages(endpoint, count);
}

static void dial(tfrt_endpoint_t* endpoint, tfrt_transport_t* transport, const char* address) {
  tfrt_endpoint_initialize(endpoint);
  tfrt_endpoint_dial(endpoint, transport, address, TFRT_TRANSPORT_CONTROL, NULL, LIMIT_MS);
}

static void hang_up(tfrt_endpoint_t* endpoint) {
  tfrt_transport_connection_close(endpoint->connection);
  tfrt_endpoint_wait_closed(endpoint);
  tfrt_endpoint_deinitialize(endpoint);
}

// One that is reset while the port changes hands comes again, as sessions do.
static void expect_served(tfrt_transport_t* transport, const char* address) {
  for (int i = 0; i < 1000; ++i) {
    tfrt_endpoint_t endpoint;
    dial(&endpoint, transport, address);
    tfrt_transport_connection_receive(endpoint.connection);
    const bool is_served = tfrt_endpoint_write(&endpoint, "hello", 5) == TFRT_STATUS_OK;
    if (is_served) tfrt_endpoint_wait_messages(&endpoint, 1);
    hang_up(&endpoint);
    if (is_served) return;
  }
  ck_abort_msg("nobody is served");
}

START_TEST(a_port_without_descriptors_opens_again_and_keeps_its_calls) {
  static const tfrt_log_sink_t sink = {.write = note};
  tfrt_condition_initialize(&changed);
  tfrt_log_set_sink(&sink);
  tfrt_certificate_folder_t folder;
  tfrt_certificate_folder_initialize(&folder);
  tfrt_certificate_folder_issue(&folder, TFRT_CERTIFICATE_HOST, "127.0.0.1", TFRT_A_DAY_S);
  tfrt_endpoint_host_t host = {.is_echoing = true};
  tfrt_transport_t* listening = create_transport(&folder);
  tfrt_endpoint_host_listen(&host, listening, "127.0.0.1:0");
  tfrt_transport_release(listening);
  tfrt_transport_t* transport = create_transport(&folder);
  tfrt_endpoint_t early;
  dial(&early, transport, host.address);
  expect_echo(&early, 1);

  struct sockaddr_in name = {.sin_family = AF_INET};
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = htons((uint16_t)atoi(strrchr(host.address, ':') + 1));
  int strangers[STRANGERS];
  for (int i = 0; i < STRANGERS; ++i) {
    strangers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(strangers[i], 0);
  }
  struct rlimit limit;
  ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
  for (int i = 0; i < STRANGERS; ++i) {
    ck_assert_int_eq(connect(strangers[i], (struct sockaddr*)&name, sizeof(name)), 0);
  }
  wait_until_said();
  expect_echo(&early, 2);
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
  for (int i = 0; i < STRANGERS; ++i) close(strangers[i]);
  expect_served(transport, host.address);
  expect_echo(&early, 3);
  hang_up(&early);
  tfrt_transport_close(transport);
  tfrt_transport_drain(transport);
  tfrt_transport_release(transport);
  tfrt_endpoint_host_stop(&host);
  tfrt_certificate_folder_deinitialize(&folder);
  tfrt_log_set_sink(NULL);
  tfrt_condition_deinitialize(&changed);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("open port");
  TCase* tests = tcase_create("open port");
  tcase_add_test(tests, a_port_without_descriptors_opens_again_and_keeps_its_calls);
  suite_add_tcase(suite, tests);
  return suite;
}
