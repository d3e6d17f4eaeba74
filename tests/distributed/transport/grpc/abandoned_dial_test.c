// SPDX-License-Identifier: Apache-2.0
//
// Dials of listeners that do not answer as they should: when all is over, this process has as many
// descriptors as before.

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "distributed/transport/grpc/grpc_transport.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/clock.h"
#include "tests/distributed/transport/grpc/endpoint.h"
#include "tests/support/test_main.h"

#define DIALS 24
#define SHORT_MS 50
#define LONG_MS 20000
#define PATIENCE_S 10

// Each HTTP/2 client sends that first.
#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// An empty frame SETTINGS: all that a dialler of HTTP/2 waits for.
static const unsigned char kSettings[] = {0, 0, 0, 4, 0, 0, 0, 0, 0};

static size_t count_descriptors(void) {
  DIR* folder = opendir("/proc/self/fd");
  ck_assert_ptr_nonnull(folder);
  size_t count = 0;
  while (readdir(folder)) ++count;
  closedir(folder);
  return count;
}

// gRPC closes a socket on a thread of its own, a moment later.
static void expect_descriptors(size_t count) {
  const tfrt_clock_t clock = tfrt_clock_system();
  const int64_t end_ns =
      tfrt_deadline_after(tfrt_clock_now_ns(clock), PATIENCE_S * TFRT_NANOSECONDS_PER_SECOND);
  while (count_descriptors() > count && tfrt_clock_now_ns(clock) < end_ns) poll(NULL, 0, 10);
  ck_assert_uint_le(count_descriptors(), count);
}

// A listener in the kernel, which lets in all that dial.
static int listen_somewhere(char address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof(name);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ck_assert_int_ge(listener, 0);
  ck_assert_int_eq(bind(listener, (struct sockaddr*)&name, length), 0);
  ck_assert_int_eq(listen(listener, 4 * DIALS), 0);
  ck_assert_int_eq(getsockname(listener, (struct sockaddr*)&name, &length), 0);
  snprintf(address, TFRT_TRANSPORT_ADDRESS_SIZE, "127.0.0.1:%u", ntohs(name.sin_port));
  return listener;
}

static tfrt_transport_t* create_transport(void) {
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  tfrt_transport_t* transport;
  ck_assert_ptr_null(tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &transport));
  return transport;
}

static void release_transport(tfrt_transport_t* transport) {
  tfrt_transport_close(transport);
  tfrt_transport_drain(transport);
  tfrt_transport_release(transport);
}

static void dial_all(tfrt_endpoint_t* endpoints, tfrt_transport_t* transport, const char* address,
                     int64_t timeout_ms) {
  for (int i = 0; i < DIALS; ++i) {
    tfrt_endpoint_initialize(&endpoints[i]);
    tfrt_endpoint_dial(&endpoints[i], transport, address, TFRT_TRANSPORT_CONTROL, NULL, timeout_ms);
  }
}

static void await_ends(tfrt_endpoint_t* endpoints, tfrt_transport_end_t end) {
  for (int i = 0; i < DIALS; ++i) {
    ck_assert_int_eq(tfrt_endpoint_wait_closed(&endpoints[i]), end);
    tfrt_endpoint_deinitialize(&endpoints[i]);
  }
}

static void abort_all(tfrt_endpoint_t* endpoints) {
  for (int i = 0; i < DIALS; ++i) tfrt_transport_connection_abort(endpoints[i].connection);
  await_ends(endpoints, TFRT_TRANSPORT_RESET);
}

// Accepts all dials, and waits until they speak HTTP/2.
static void accept_all(int listener, int* clients) {
  for (int i = 0; i < DIALS; ++i) {
    char preface[sizeof(PREFACE) - 1];
    clients[i] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    ck_assert_int_ge(clients[i], 0);
    ck_assert_int_eq(recv(clients[i], preface, sizeof(preface), MSG_WAITALL), sizeof(preface));
  }
}

START_TEST(a_listener_that_never_speaks_costs_no_descriptor) {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  const int listener = listen_somewhere(address);
  tfrt_transport_t* transport = create_transport();
  const size_t before = count_descriptors();
  tfrt_endpoint_t endpoints[DIALS];
  dial_all(endpoints, transport, address, SHORT_MS);
  await_ends(endpoints, TFRT_TRANSPORT_NO_ANSWER);
  expect_descriptors(before);
  release_transport(transport);
  close(listener);
}
END_TEST

// It answers HTTP/2 after the dials are over.
START_TEST(a_listener_that_speaks_too_late_costs_no_descriptor) {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  const int listener = listen_somewhere(address);
  tfrt_transport_t* transport = create_transport();
  const size_t before = count_descriptors();
  tfrt_endpoint_t endpoints[DIALS];
  int clients[DIALS];
  dial_all(endpoints, transport, address, LONG_MS);
  accept_all(listener, clients);
  abort_all(endpoints);
  for (int i = 0; i < DIALS; ++i) {
    ck_assert_int_eq(send(clients[i], kSettings, sizeof(kSettings), MSG_NOSIGNAL),
                     sizeof(kSettings));
  }
  expect_descriptors(before + DIALS);
  for (int i = 0; i < DIALS; ++i) close(clients[i]);
  expect_descriptors(before);
  release_transport(transport);
  close(listener);
}
END_TEST

START_TEST(a_listener_that_resets_costs_no_descriptor) {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  const int listener = listen_somewhere(address);
  tfrt_transport_t* transport = create_transport();
  const size_t before = count_descriptors();
  tfrt_endpoint_t endpoints[DIALS];
  int clients[DIALS];
  dial_all(endpoints, transport, address, LONG_MS);
  accept_all(listener, clients);
  for (int i = 0; i < DIALS; ++i) {
    const struct linger reset = {.l_onoff = 1};
    ck_assert_int_eq(setsockopt(clients[i], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
    close(clients[i]);
  }
  await_ends(endpoints, TFRT_TRANSPORT_RESET);
  expect_descriptors(before);
  release_transport(transport);
  close(listener);
}
END_TEST

START_TEST(a_transport_that_closes_does_not_wait_for_abandoned_dials) {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  const int listener = listen_somewhere(address);
  tfrt_transport_t* transport = create_transport();
  tfrt_endpoint_t aborted[DIALS];
  tfrt_endpoint_t dialled[DIALS];
  dial_all(aborted, transport, address, LONG_MS);
  dial_all(dialled, transport, address, LONG_MS);
  abort_all(aborted);
  const tfrt_clock_t clock = tfrt_clock_system();
  const int64_t begin_ns = tfrt_clock_now_ns(clock);
  tfrt_transport_close(transport);
  tfrt_transport_drain(transport);
  await_ends(dialled, TFRT_TRANSPORT_RESET);
  tfrt_transport_release(transport);
  ck_assert_int_lt(tfrt_clock_now_ns(clock) - begin_ns,
                   LONG_MS / 2 * TFRT_NANOSECONDS_PER_MILLISECOND);
  close(listener);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("abandoned dial");
  tcase_add_test(tests, a_listener_that_never_speaks_costs_no_descriptor);
  tcase_add_test(tests, a_listener_that_speaks_too_late_costs_no_descriptor);
  tcase_add_test(tests, a_listener_that_resets_costs_no_descriptor);
  tcase_add_test(tests, a_transport_that_closes_does_not_wait_for_abandoned_dials);
  Suite* suite = suite_create("abandoned dial");
  suite_add_tcase(suite, tests);
  return suite;
}
