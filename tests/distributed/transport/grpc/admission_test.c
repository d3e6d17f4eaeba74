// SPDX-License-Identifier: Apache-2.0
//
// Strangers at a port in plain text.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "distributed/transport/grpc/grpc_transport.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/sync.h"
#include "tests/distributed/transport/grpc/endpoint.h"
#include "tests/support/test_main.h"

#define LIMIT_MS 20000

typedef struct pair_s {
  tfrt_endpoint_host_t host;
  tfrt_transport_t* dialler;
  tfrt_endpoint_t peer;  // connected from the beginning
  uint64_t echoes;
} pair_t;

static tfrt_transport_t* create_transport(void) {
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  tfrt_transport_t* transport;
  ck_assert_ptr_null(tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &transport));
  return transport;
}

static void start(pair_t* pair, const char* address) {
  *pair = (pair_t){.host = {.is_echoing = true}};
  tfrt_transport_t* transport = create_transport();
  tfrt_endpoint_host_listen(&pair->host, transport, address);
  tfrt_transport_release(transport);
  pair->dialler = create_transport();
  tfrt_endpoint_initialize(&pair->peer);
  tfrt_endpoint_dial(&pair->peer, pair->dialler, pair->host.address, TFRT_TRANSPORT_CONTROL, NULL,
                     LIMIT_MS);
}

static void expect_echo(tfrt_endpoint_t* endpoint, uint64_t count) {
  tfrt_transport_connection_receive(endpoint->connection);
  ck_assert_int_eq(tfrt_endpoint_write(endpoint, "hello", 5), TFRT_STATUS_OK);
  tfrt_endpoint_wait_messages(endpoint, count);
}

static void expect_peer_served(pair_t* pair) { expect_echo(&pair->peer, ++pair->echoes); }

static void hang_up(tfrt_endpoint_t* endpoint) {
  tfrt_transport_connection_close(endpoint->connection);
  tfrt_endpoint_wait_closed(endpoint);
  tfrt_endpoint_deinitialize(endpoint);
}

static void expect_next_served(pair_t* pair) {
  tfrt_endpoint_t endpoint;
  tfrt_endpoint_initialize(&endpoint);
  tfrt_endpoint_dial(&endpoint, pair->dialler, pair->host.address, TFRT_TRANSPORT_CONTROL, NULL,
                     LIMIT_MS);
  expect_echo(&endpoint, 1);
  hang_up(&endpoint);
}

static void stop(pair_t* pair) {
  hang_up(&pair->peer);
  tfrt_transport_close(pair->dialler);
  tfrt_transport_drain(pair->dialler);
  tfrt_transport_release(pair->dialler);
  tfrt_endpoint_host_stop(&pair->host);
}

static int connect_to(const pair_t* pair) {
  struct sockaddr_in name = {.sin_family = AF_INET};
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = htons((uint16_t)atoi(strrchr(pair->host.address, ':') + 1));
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ck_assert_int_ge(descriptor, 0);
  ck_assert_int_eq(connect(descriptor, (struct sockaddr*)&name, sizeof(name)), 0);
  return descriptor;
}

// gRPC's settings come first.
static void wait_until_reset(int descriptor) {
  char bytes[256];
  while (recv(descriptor, bytes, sizeof(bytes), 0) > 0) {
  }
}

// --- Silence -------------------------------------------------------------------

START_TEST(strangers_that_say_nothing_make_room) {
  enum { DESCRIPTORS = 256, STRANGERS = 100 };
  struct rlimit limit;
  ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = DESCRIPTORS;
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
  pair_t pair;
  start(&pair, "127.0.0.1:0");
  expect_peer_served(&pair);
  int strangers[STRANGERS];
  for (int i = 0; i < STRANGERS; ++i) strangers[i] = connect_to(&pair);
  expect_next_served(&pair);
  expect_peer_served(&pair);
  wait_until_reset(strangers[0]);
  for (int i = 0; i < STRANGERS; ++i) close(strangers[i]);
  stop(&pair);
}
END_TEST

START_TEST(a_stranger_that_says_nothing_has_a_time) {
  pair_t pair;
  start(&pair, "[::]:0");
  expect_peer_served(&pair);
  int stranger = connect_to(&pair);
  wait_until_reset(stranger);
  close(stranger);
  expect_peer_served(&pair);
  stop(&pair);
}
END_TEST

// --- Streams that are reset ----------------------------------------------------

// A frame of HTTP/2.
static size_t put_frame(char* out, char kind, char flags, uint32_t stream, const char* payload,
                        size_t size) {
  const uint32_t number = htonl(stream);
  const char head[] = {0, (char)(size >> 8), (char)size, kind, flags};
  memcpy(out, head, sizeof(head));
  memcpy(out + 5, &number, 4);
  memcpy(out + 9, payload, size);
  return 9 + size;
}

// The header of a call to the service, in HPACK: POST, http, :path, :authority, content-type, te.
static const char kHeader[] =
    "\x83\x86\x00\x05:path\x1a/tfrt.peer.v1.Peer/Control\x00\x0a:authority\x01x"
    "\x00\x0c"
    "content-type\x10"
    "application/grpc\x00\x02te\x08trailers";

static bool send_all(int descriptor, const char* bytes, size_t size) {
  while (size > 0) {
    ssize_t sent = send(descriptor, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    size -= (size_t)sent;
  }
  return true;
}

// Opens and resets streams until the connection is broken; returns how many.
static uint32_t flood(int descriptor, uint32_t most) {
  static const char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  char bytes[256];
  size_t size = put_frame(bytes, 4, 0, 0, "", 0);
  if (!send_all(descriptor, kPreface, sizeof(kPreface) - 1)) return 0;
  if (!send_all(descriptor, bytes, size)) return 0;
  for (uint32_t count = 0; count < most; ++count) {
    const uint32_t stream = 2 * count + 1;
    size = put_frame(bytes, 1, 4, stream, kHeader, sizeof(kHeader) - 1);
    size += put_frame(bytes + size, 3, 0, stream, "\0\0\0\x08", 4);
    if (!send_all(descriptor, bytes, size)) return count;
  }
  return most;
}

// As flood(), 500 streams at a time, so that there is always something to read; at most for a
// second or so, as one does who comes again.
static uint32_t flood_in_pieces(int descriptor) {
  enum { PIECE = 500, PIECES = 200 };
  static const char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  static _Thread_local char bytes[PIECE * 256];
  size_t size = put_frame(bytes, 4, 0, 0, "", 0);
  if (!send_all(descriptor, kPreface, sizeof(kPreface) - 1)) return 0;
  if (!send_all(descriptor, bytes, size)) return 0;
  uint32_t count = 0;
  for (int piece = 0; piece < PIECES; ++piece) {
    size = 0;
    for (int i = 0; i < PIECE; ++i, ++count) {
      const uint32_t stream = 2 * count + 1;
      size += put_frame(bytes + size, 1, 4, stream, kHeader, sizeof(kHeader) - 1);
      size += put_frame(bytes + size, 3, 0, stream, "\0\0\0\x08", 4);
    }
    if (!send_all(descriptor, bytes, size)) break;
  }
  return count;
}

static long most_memory_kib(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

START_TEST(a_stranger_that_resets_streams_is_reset) {
  enum { MOST = 10000000, TIMES = 5 };
  pair_t pair;
  start(&pair, "127.0.0.1:0");
  expect_peer_served(&pair);
  const long before_kib = most_memory_kib();
  for (int i = 0; i < TIMES; ++i) {
    int stranger = connect_to(&pair);
    ck_assert_uint_lt(flood(stranger, MOST), MOST);
    close(stranger);
    expect_peer_served(&pair);
  }
  expect_next_served(&pair);
#ifndef TFRT_SANITIZED
  ck_assert_int_lt(most_memory_kib() - before_kib, 64 << 10);
#else
  (void)before_kib;
#endif
  stop(&pair);
}
END_TEST

// Floods, one connection after the other, until |pair| has served its peer for a while.
typedef struct flooder_s {
  const pair_t* pair;
  _Atomic bool is_over;
  tfrt_thread_t thread;
} flooder_t;

static void run_flooder(void* argument) {
  flooder_t* flooder = argument;
  // Relaxed: only a wish to end.
  while (!atomic_load_explicit(&flooder->is_over, memory_order_relaxed)) {
    int stranger = connect_to(flooder->pair);
    (void)flood_in_pieces(stranger);
    close(stranger);
  }
}

START_TEST(many_strangers_that_reset_streams_keep_nobody_from_being_reset) {
  enum { FLOODERS = 8, ECHOES = 200 };
  pair_t pair;
  start(&pair, "127.0.0.1:0");
  expect_peer_served(&pair);
  const long before_kib = most_memory_kib();
  flooder_t flooders[FLOODERS];
  for (int i = 0; i < FLOODERS; ++i) {
    flooders[i] = (flooder_t){.pair = &pair};
    ck_assert_ptr_null(
        tfrt_thread_create("flooder", run_flooder, &flooders[i], &flooders[i].thread));
  }
  for (int i = 0; i < ECHOES; ++i) expect_peer_served(&pair);
  for (int i = 0; i < FLOODERS; ++i) {
    atomic_store_explicit(&flooders[i].is_over, true, memory_order_relaxed);
  }
  for (int i = 0; i < FLOODERS; ++i) tfrt_thread_join(&flooders[i].thread);
  expect_next_served(&pair);
#ifndef TFRT_SANITIZED
  ck_assert_int_lt(most_memory_kib() - before_kib, 64 << 10);
#else
  (void)before_kib;
#endif
  stop(&pair);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("admission");
  TCase* tests = tcase_create("admission");
  tcase_add_test(tests, strangers_that_say_nothing_make_room);
  tcase_add_test(tests, a_stranger_that_says_nothing_has_a_time);
  tcase_add_test(tests, a_stranger_that_resets_streams_is_reset);
  tcase_add_test(tests, many_strangers_that_reset_streams_keep_nobody_from_being_reset);
  suite_add_tcase(suite, tests);
  return suite;
}
