// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/grpc_transport.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/clock.h"
#include "tests/distributed/transport/grpc/endpoint.h"
#include "tests/support/test_main.h"

#define LIMIT_MS 20000
#define BIG ((size_t)1024 * 1024)

// With a thread of its own for each kind.
static tfrt_transport_t* create_transport(void) {
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  options.bulk_thread_count = 1;
  tfrt_transport_t* transport;
  tfrt_status_t status = tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &transport);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  return transport;
}

// A listening host and a transport that dials it.
typedef struct pair_s {
  tfrt_endpoint_host_t host;
  tfrt_transport_t* dialler;
  tfrt_endpoint_t endpoint;
} pair_t;

static void start_pair(pair_t* pair) {
  tfrt_transport_t* transport = create_transport();
  tfrt_endpoint_host_listen(&pair->host, transport, "127.0.0.1:0");
  tfrt_transport_release(transport);
  pair->dialler = create_transport();
  tfrt_endpoint_initialize(&pair->endpoint);
}

// With a key, as first messages are long here. Returns once the host has seen it: what comes before
// that counts as a stranger's.
static void dial_pair(pair_t* pair, tfrt_transport_kind_t kind) {
  tfrt_endpoint_dial(&pair->endpoint, pair->dialler, pair->host.address, kind, "key", LIMIT_MS);
  (void)tfrt_endpoint_host_wait(&pair->host, 0);
}

static void stop_pair(pair_t* pair) {
  tfrt_transport_close(pair->dialler);
  tfrt_transport_drain(pair->dialler);
  tfrt_endpoint_deinitialize(&pair->endpoint);
  tfrt_transport_release(pair->dialler);
  tfrt_endpoint_host_stop(&pair->host);
}

static char* make_bytes(size_t size) {
  char* bytes = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  ck_assert_ptr_nonnull(bytes);
  for (size_t i = 0; i < size; ++i) bytes[i] = (char)(i * 7 + i / 251);
  return bytes;
}

// --- Messages ----------------------------------------------------------------

START_TEST(what_is_written_comes_back_from_an_echo) {
  pair_t pair = {.host = {.is_echoing = true}};
  start_pair(&pair);
  dial_pair(&pair, TFRT_TRANSPORT_CONTROL);
  tfrt_transport_connection_receive(pair.endpoint.connection);
  ck_assert_int_eq(tfrt_endpoint_write(&pair.endpoint, "hello, host", 11), TFRT_STATUS_OK);
  tfrt_endpoint_wait_messages(&pair.endpoint, 1);
  ck_assert_uint_eq(pair.endpoint.last_size, 11);
  ck_assert_mem_eq(pair.endpoint.last, "hello, host", 11);
  tfrt_transport_connection_close(pair.endpoint.connection);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&pair.endpoint), TFRT_TRANSPORT_ENDED);
  tfrt_endpoint_t* other = tfrt_endpoint_host_wait(&pair.host, 0);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(other), TFRT_TRANSPORT_ENDED);
  stop_pair(&pair);
}
END_TEST

START_TEST(messages_of_the_biggest_size_arrive_whole_over_bulk) {
  pair_t pair = {.host = {.is_echoing = true}};
  start_pair(&pair);
  dial_pair(&pair, TFRT_TRANSPORT_BULK);
  size_t size = TFRT_TRANSPORT_MAX_MESSAGE_SIZE;
  char* bytes = make_bytes(size);
  for (uint64_t i = 1; i <= 8; ++i) {
    bytes[0] = (char)i;
    tfrt_transport_connection_receive(pair.endpoint.connection);
    ck_assert_int_eq(tfrt_endpoint_write(&pair.endpoint, bytes, size), TFRT_STATUS_OK);
    tfrt_endpoint_wait_messages(&pair.endpoint, i);
    ck_assert_uint_eq(pair.endpoint.last_size, size);
    ck_assert_mem_eq(pair.endpoint.last, bytes, size);
  }
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
  stop_pair(&pair);
}
END_TEST

START_TEST(ten_thousand_small_messages_keep_their_order) {
  pair_t pair = {.host = {.is_greedy = true}};
  start_pair(&pair);
  dial_pair(&pair, TFRT_TRANSPORT_CONTROL);
  uint64_t checksum = 0;
  for (uint32_t i = 0; i < 10000; ++i) {
    char text[8];
    int size = snprintf(text, sizeof(text), "%u", i);
    for (int k = 0; k < size; ++k) checksum = checksum * 31 + (unsigned char)text[k];
    ck_assert_int_eq(tfrt_endpoint_write(&pair.endpoint, text, (size_t)size), TFRT_STATUS_OK);
  }
  tfrt_transport_connection_close(pair.endpoint.connection);
  tfrt_endpoint_t* other = tfrt_endpoint_host_wait(&pair.host, 0);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(other), TFRT_TRANSPORT_ENDED);
  ck_assert_uint_eq(other->message_count, 10000);
  ck_assert_uint_eq(other->checksum, checksum);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&pair.endpoint), TFRT_TRANSPORT_ENDED);
  stop_pair(&pair);
}
END_TEST

// The port that |address| ends with.
static uint16_t port_of(const char* address) { return (uint16_t)atoi(strrchr(address, ':') + 1); }

// The bytes that this process has sent over the connections to its |port|, from that end.
static uint64_t bytes_sent_from(uint16_t port) {
  uint64_t sent = 0;
  for (int file = 0; file < 256; ++file) {
    struct sockaddr_in6 name;  // an IPv4 one has its port in the same place
    socklen_t name_size = sizeof(name);
    if (getsockname(file, (struct sockaddr*)&name, &name_size) != 0) continue;
    bool is_internet = name.sin6_family == AF_INET || name.sin6_family == AF_INET6;
    if (!is_internet || ntohs(name.sin6_port) != port) continue;
    struct tcp_info info = {0};
    socklen_t size = sizeof(info);
    if (getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &size) == 0) sent += info.tcpi_bytes_sent;
  }
  return sent;
}

// Messages of one direction bring back no more than two window updates of 13 bytes each: one of a
// stream, and one of the connection.
START_TEST(a_host_that_only_listens_says_little) {
  pair_t pair = {.host = {.is_greedy = true}};
  start_pair(&pair);
  dial_pair(&pair, TFRT_TRANSPORT_CONTROL);
  char message[100] = {0};
  ck_assert_int_eq(tfrt_endpoint_write(&pair.endpoint, message, 1), TFRT_STATUS_OK);
  tfrt_endpoint_t* other = tfrt_endpoint_host_wait(&pair.host, 0);
  tfrt_endpoint_wait_messages(other, 1);
  uint64_t before = bytes_sent_from(port_of(pair.host.address));
  ck_assert_uint_gt(before, 0);
  for (uint64_t i = 2; i <= 201; ++i) {
    ck_assert_int_eq(tfrt_endpoint_write(&pair.endpoint, message, sizeof(message)), TFRT_STATUS_OK);
    tfrt_endpoint_wait_messages(other, i);
  }
  ck_assert_uint_lt(bytes_sent_from(port_of(pair.host.address)) - before, 201 * 2 * 13);
  stop_pair(&pair);
}
END_TEST

START_TEST(a_message_waits_until_it_is_asked_for_and_the_end_waits_behind_it) {
  pair_t pair = {0};
  start_pair(&pair);
  dial_pair(&pair, TFRT_TRANSPORT_CONTROL);
  ck_assert_int_eq(tfrt_endpoint_write(&pair.endpoint, "one", 3), TFRT_STATUS_OK);
  ck_assert_int_eq(tfrt_endpoint_write(&pair.endpoint, "two", 3), TFRT_STATUS_OK);
  tfrt_transport_connection_close(pair.endpoint.connection);
  tfrt_endpoint_t* other = tfrt_endpoint_host_wait(&pair.host, 0);
  ck_assert_uint_eq(other->message_count, 0);
  tfrt_transport_connection_receive(other->connection);
  tfrt_endpoint_wait_messages(other, 1);
  ck_assert_mem_eq(other->last, "one", 3);
  ck_assert(!other->is_closed);
  tfrt_transport_connection_receive(other->connection);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(other), TFRT_TRANSPORT_ENDED);
  ck_assert_uint_eq(other->message_count, 2);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&pair.endpoint), TFRT_TRANSPORT_ENDED);
  stop_pair(&pair);
}
END_TEST

START_TEST(a_listener_that_closes_lets_its_dialler_read_first) {
  pair_t pair = {0};
  start_pair(&pair);
  dial_pair(&pair, TFRT_TRANSPORT_CONTROL);
  tfrt_endpoint_t* other = tfrt_endpoint_host_wait(&pair.host, 0);
  ck_assert_int_eq(tfrt_endpoint_write(other, "one", 3), TFRT_STATUS_OK);
  ck_assert_int_eq(tfrt_endpoint_write(other, "two", 3), TFRT_STATUS_OK);
  tfrt_transport_connection_close(other->connection);
  ck_assert_int_eq(tfrt_endpoint_write(other, "late", 4), TFRT_STATUS_UNAVAILABLE);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(other), TFRT_TRANSPORT_ENDED);
  tfrt_transport_connection_receive(pair.endpoint.connection);
  tfrt_transport_connection_receive(pair.endpoint.connection);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&pair.endpoint), TFRT_TRANSPORT_ENDED);
  ck_assert_uint_eq(pair.endpoint.message_count, 2);
  ck_assert_mem_eq(pair.endpoint.last, "two", 3);
  stop_pair(&pair);
}
END_TEST

// --- Ends --------------------------------------------------------------------

START_TEST(an_abort_in_the_middle_of_a_write_completes_it_and_resets_both) {
  pair_t pair = {0};
  start_pair(&pair);
  dial_pair(&pair, TFRT_TRANSPORT_BULK);
  tfrt_endpoint_t* other = tfrt_endpoint_host_wait(&pair.host, 0);
  // Nobody reads, so the writes soon fill all windows; one is always in flight.
  char* bytes = make_bytes(BIG);
  pair.endpoint.is_pouring = true;
  tfrt_endpoint_begin_write(&pair.endpoint, bytes, BIG);
  tfrt_endpoint_wait_writes(&pair.endpoint, 2);
  tfrt_transport_connection_abort(pair.endpoint.connection);
  tfrt_transport_connection_abort(pair.endpoint.connection);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&pair.endpoint), TFRT_TRANSPORT_RESET);
  ck_assert_int_eq(tfrt_endpoint_wait_written(&pair.endpoint), TFRT_STATUS_UNAVAILABLE);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(other), TFRT_TRANSPORT_RESET);
  pair.endpoint.is_pouring = false;
  ck_assert_int_eq(tfrt_endpoint_write(&pair.endpoint, "late", 4), TFRT_STATUS_UNAVAILABLE);
  tfrt_allocator_free(tfrt_allocator_system(), bytes, BIG);
  stop_pair(&pair);
}
END_TEST

START_TEST(a_listener_that_aborts_resets_its_dialler) {
  pair_t pair = {0};
  start_pair(&pair);
  dial_pair(&pair, TFRT_TRANSPORT_CONTROL);
  tfrt_endpoint_t* other = tfrt_endpoint_host_wait(&pair.host, 0);
  tfrt_transport_connection_abort(other->connection);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(other), TFRT_TRANSPORT_RESET);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&pair.endpoint), TFRT_TRANSPORT_RESET);
  stop_pair(&pair);
}
END_TEST

START_TEST(a_transport_that_closes_in_mid_stream_resets_the_others) {
  pair_t pair = {.host = {.is_echoing = true}};
  start_pair(&pair);
  dial_pair(&pair, TFRT_TRANSPORT_CONTROL);
  tfrt_transport_connection_receive(pair.endpoint.connection);
  ck_assert_int_eq(tfrt_endpoint_write(&pair.endpoint, "x", 1), TFRT_STATUS_OK);
  tfrt_endpoint_wait_messages(&pair.endpoint, 1);
  tfrt_transport_close(pair.host.transport);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&pair.endpoint), TFRT_TRANSPORT_RESET);
  tfrt_transport_drain(pair.host.transport);
  tfrt_endpoint_t again;
  tfrt_endpoint_initialize(&again);
  tfrt_endpoint_dial(&again, pair.dialler, pair.host.address, TFRT_TRANSPORT_CONTROL, NULL,
                     LIMIT_MS);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&again), TFRT_TRANSPORT_REFUSED);
  stop_pair(&pair);
  tfrt_endpoint_deinitialize(&again);
}
END_TEST

START_TEST(an_end_that_is_not_told_is_waited_for_as_long_as_was_said) {
  pair_t pair = {0};
  start_pair(&pair);
  dial_pair(&pair, TFRT_TRANSPORT_CONTROL);
  tfrt_endpoint_host_wait(&pair.host, 0);
  // The handler of the event waits for this lock.
  tfrt_mutex_lock(&pair.endpoint.mutex);
  tfrt_transport_close(pair.dialler);
  ck_assert(!tfrt_grpc_transport_drain_within(pair.dialler, 0));
  ck_assert(!tfrt_grpc_transport_drain_within(pair.dialler, 1));
  tfrt_mutex_unlock(&pair.endpoint.mutex);
  ck_assert(tfrt_grpc_transport_drain_within(pair.dialler, LIMIT_MS));
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&pair.endpoint), TFRT_TRANSPORT_RESET);
  // With nothing to wait for, no time is needed.
  ck_assert(tfrt_grpc_transport_drain_within(pair.dialler, 0));
  stop_pair(&pair);
}
END_TEST

static void serve_until_killed(int address_pipe) {
  tfrt_endpoint_host_t host = {.is_echoing = true};
  tfrt_endpoint_host_listen(&host, create_transport(), "127.0.0.1:0");
  if (write(address_pipe, host.address, sizeof(host.address)) < 0) _exit(1);
  for (;;) pause();
}

// Starts a process that echoes; writes where into |address|.
static pid_t start_process(char address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) serve_until_killed(ends[1]);
  ck_assert_int_eq(read(ends[0], address, TFRT_TRANSPORT_ADDRESS_SIZE),
                   TFRT_TRANSPORT_ADDRESS_SIZE);
  close(ends[0]);
  close(ends[1]);
  return child;
}

static void dial_and_echo(tfrt_endpoint_t* endpoint, tfrt_transport_t* transport,
                          const char* address) {
  tfrt_endpoint_initialize(endpoint);
  tfrt_endpoint_dial(endpoint, transport, address, TFRT_TRANSPORT_BULK, "key", LIMIT_MS);
  tfrt_transport_connection_receive(endpoint->connection);
  ck_assert_int_eq(tfrt_endpoint_write(endpoint, "x", 1), TFRT_STATUS_OK);
  tfrt_endpoint_wait_messages(endpoint, 1);
}

START_TEST(a_process_that_is_killed_resets_its_streams_and_refuses_the_next) {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  pid_t child = start_process(address);
  tfrt_transport_t* transport = create_transport();
  tfrt_endpoint_t first, second;
  dial_and_echo(&first, transport, address);
  ck_assert_int_eq(kill(child, SIGKILL), 0);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&first), TFRT_TRANSPORT_RESET);
  ck_assert_int_eq(waitpid(child, NULL, 0), child);
  tfrt_endpoint_initialize(&second);
  tfrt_endpoint_dial(&second, transport, address, TFRT_TRANSPORT_CONTROL, NULL, LIMIT_MS);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&second), TFRT_TRANSPORT_REFUSED);
  tfrt_transport_release(transport);
  tfrt_endpoint_deinitialize(&first);
  tfrt_endpoint_deinitialize(&second);
}
END_TEST

START_TEST(a_stopped_process_does_not_hold_an_abort) {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  pid_t child = start_process(address);
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  options.stall_limit_ms = 200;
  tfrt_transport_t* transport;
  ck_assert(
      tfrt_status_is_ok(tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &transport)));
  tfrt_endpoint_t endpoint;
  dial_and_echo(&endpoint, transport, address);
  // So much that the windows have opened.
  char* bytes = make_bytes(BIG);
  for (uint64_t i = 2; i <= 20; ++i) {
    tfrt_transport_connection_receive(endpoint.connection);
    ck_assert_int_eq(tfrt_endpoint_write(&endpoint, bytes, BIG), TFRT_STATUS_OK);
    tfrt_endpoint_wait_messages(&endpoint, i);
  }
  ck_assert_int_eq(kill(child, SIGSTOP), 0);
  ck_assert_int_eq(waitpid(child, NULL, WUNTRACED), child);
  // Nobody reads the socket any more: soon a write is stuck.
  endpoint.is_pouring = true;
  tfrt_endpoint_begin_write(&endpoint, bytes, BIG);
  tfrt_transport_connection_abort(endpoint.connection);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&endpoint), TFRT_TRANSPORT_RESET);
  tfrt_allocator_free(tfrt_allocator_system(), bytes, BIG);
  tfrt_transport_release(transport);
  tfrt_endpoint_deinitialize(&endpoint);
  ck_assert_int_eq(kill(child, SIGKILL), 0);
  ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

// --- Dialling ----------------------------------------------------------------

// A socket of our own on a free port: bound only, so that a dial is refused, or listening
// with nobody behind who would answer.
static int make_socket(bool is_listening, char address[64]) {
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof(name);
  ck_assert_int_eq(bind(descriptor, (struct sockaddr*)&name, size), 0);
  if (is_listening) ck_assert_int_eq(listen(descriptor, 8), 0);
  ck_assert_int_eq(getsockname(descriptor, (struct sockaddr*)&name, &size), 0);
  snprintf(address, 64, "127.0.0.1:%d", ntohs(name.sin_port));
  return descriptor;
}

START_TEST(a_refused_dial_is_told_at_once) {
  char address[64];
  int descriptor = make_socket(false, address);
  tfrt_transport_t* transport = create_transport();
  tfrt_endpoint_t endpoint;
  tfrt_endpoint_initialize(&endpoint);
  int64_t start_ns = tfrt_clock_now_ns(tfrt_clock_system());
  tfrt_endpoint_dial(&endpoint, transport, address, TFRT_TRANSPORT_CONTROL, NULL, LIMIT_MS);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&endpoint), TFRT_TRANSPORT_REFUSED);
  int64_t took_ns = tfrt_clock_now_ns(tfrt_clock_system()) - start_ns;
  // Below gRPC's first pause before it tries again, a second. Nothing here waits: it is
  // a bound and not a measurement.
  ck_assert_int_lt(took_ns / TFRT_NANOSECONDS_PER_MILLISECOND, 950);
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(endpoint.status), address));
  tfrt_transport_release(transport);
  tfrt_endpoint_deinitialize(&endpoint);
  close(descriptor);
}
END_TEST

START_TEST(a_dial_that_nobody_answers_ends_with_its_time) {
  char address[64];
  int descriptor = make_socket(true, address);
  tfrt_transport_t* transport = create_transport();
  tfrt_endpoint_t endpoint;
  tfrt_endpoint_initialize(&endpoint);
  tfrt_endpoint_dial(&endpoint, transport, address, TFRT_TRANSPORT_CONTROL, NULL, 50);
  tfrt_endpoint_begin_write(&endpoint, "anybody?", 8);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&endpoint), TFRT_TRANSPORT_NO_ANSWER);
  ck_assert_int_eq(tfrt_endpoint_wait_written(&endpoint), TFRT_STATUS_UNAVAILABLE);
  tfrt_transport_release(transport);
  tfrt_endpoint_deinitialize(&endpoint);
  close(descriptor);
}
END_TEST

START_TEST(a_wrong_key_is_rejected_with_the_words_of_the_acceptor) {
  pair_t pair = {.host = {.key = "right", .is_echoing = true}};
  start_pair(&pair);
  tfrt_endpoint_dial(&pair.endpoint, pair.dialler, pair.host.address, TFRT_TRANSPORT_CONTROL,
                     "wrong", LIMIT_MS);
  tfrt_endpoint_begin_write(&pair.endpoint, "x", 1);
  ck_assert_int_eq(tfrt_endpoint_wait_closed(&pair.endpoint), TFRT_TRANSPORT_REJECTED);
  ck_assert_int_eq(tfrt_status_code(pair.endpoint.status), TFRT_STATUS_UNAUTHENTICATED);
  ck_assert_str_eq(tfrt_status_message(pair.endpoint.status), "the cluster's key is another");
  tfrt_endpoint_wait_written(&pair.endpoint);
  ck_assert_uint_eq(pair.host.accepted_count, 0);

  tfrt_endpoint_t right;
  tfrt_endpoint_initialize(&right);
  tfrt_endpoint_dial(&right, pair.dialler, pair.host.address, TFRT_TRANSPORT_CONTROL, "right",
                     LIMIT_MS);
  tfrt_transport_connection_receive(right.connection);
  tfrt_endpoint_write(&right, "x", 1);
  tfrt_endpoint_wait_messages(&right, 1);
  stop_pair(&pair);
  tfrt_endpoint_deinitialize(&right);
}
END_TEST

START_TEST(a_closed_transport_dials_and_listens_no_more) {
  tfrt_transport_t* transport = create_transport();
  tfrt_transport_close(transport);
  tfrt_endpoint_t endpoint;
  tfrt_endpoint_initialize(&endpoint);
  tfrt_transport_dial_options_t options = {.address = tfrt_string_view_of("127.0.0.1:1"),
                                           .timeout_ns = 1};
  tfrt_status_t status =
      tfrt_transport_dial(transport, &options, &endpoint.handler, &endpoint.connection);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_FAILED_PRECONDITION);
  ck_assert_ptr_null(endpoint.connection);
  tfrt_status_release(status);
  tfrt_transport_acceptor_t acceptor = {0};
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  status = tfrt_transport_listen(transport, tfrt_string_view_of("127.0.0.1:0"), &acceptor, address);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_FAILED_PRECONDITION);
  tfrt_status_release(status);
  tfrt_transport_release(transport);
  tfrt_endpoint_deinitialize(&endpoint);
}
END_TEST

// --- Listening ---------------------------------------------------------------

START_TEST(a_port_in_use_is_an_error_that_names_it_and_does_not_use_up_the_listen) {
  pair_t pair = {0};
  start_pair(&pair);
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_transport_t* second = create_transport();
  tfrt_status_t status = tfrt_transport_listen(second, tfrt_string_view_of(pair.host.address),
                                               &pair.host.acceptor, address);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_ALREADY_EXISTS);
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), pair.host.address));
  ck_assert_ptr_nonnull(strstr(tfrt_status_message(status), "choose another --listen"));
  ck_assert_str_eq(address, "");
  tfrt_status_release(status);
  status = tfrt_transport_listen(second, tfrt_string_view_of("127.0.0.1:0"), &pair.host.acceptor,
                                 address);
  ck_assert_msg(tfrt_status_is_ok(status), "%s", tfrt_status_message(status));
  ck_assert_str_ne(address, pair.host.address);
  status = tfrt_transport_listen(second, tfrt_string_view_of("127.0.0.1:0"), &pair.host.acceptor,
                                 address);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_FAILED_PRECONDITION);
  tfrt_status_release(status);
  tfrt_transport_release(second);
  stop_pair(&pair);
}
END_TEST

START_TEST(options_out_of_range_are_refused) {
  tfrt_transport_t* transport;
  tfrt_grpc_transport_options_t options = tfrt_grpc_transport_default_options();
  options.control_thread_count = 0;
  tfrt_status_t status = tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &transport);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  ck_assert_ptr_null(transport);
  tfrt_status_release(status);
  options = tfrt_grpc_transport_default_options();
  options.stall_limit_ms = 0;
  status = tfrt_grpc_transport_create(&options, tfrt_allocator_system(), &transport);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
  tfrt_status_release(status);
}
END_TEST

START_TEST(a_thousand_connections_echo_at_once) {
  enum { COUNT = 1000 };
  pair_t pair = {.host = {.is_echoing = true}};
  start_pair(&pair);
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_endpoint_t* endpoints = tfrt_allocator_allocate_array(allocator, COUNT, sizeof(*endpoints));
  ck_assert_ptr_nonnull(endpoints);
  for (int i = 0; i < COUNT; ++i) {
    tfrt_endpoint_initialize(&endpoints[i]);
    tfrt_endpoint_dial(&endpoints[i], pair.dialler, pair.host.address,
                       i % 2 ? TFRT_TRANSPORT_BULK : TFRT_TRANSPORT_CONTROL, NULL, LIMIT_MS * 10);
    tfrt_transport_connection_receive(endpoints[i].connection);
    tfrt_endpoint_begin_write(&endpoints[i], &i, sizeof(i));
    tfrt_endpoint_wait_written(&endpoints[i]);
  }
  for (int i = 0; i < COUNT; ++i) {
    tfrt_endpoint_wait_messages(&endpoints[i], 1);
    ck_assert_mem_eq(endpoints[i].last, &i, sizeof(i));
  }
  stop_pair(&pair);
  for (int i = 0; i < COUNT; ++i) {
    ck_assert_int_eq(endpoints[i].end, TFRT_TRANSPORT_RESET);
    tfrt_endpoint_deinitialize(&endpoints[i]);
  }
  tfrt_allocator_free(allocator, endpoints, COUNT * sizeof(*endpoints));
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("grpc_transport");
  TCase* messages = tcase_create("messages");
  tcase_add_test(messages, what_is_written_comes_back_from_an_echo);
  tcase_add_test(messages, messages_of_the_biggest_size_arrive_whole_over_bulk);
  tcase_add_test(messages, ten_thousand_small_messages_keep_their_order);
  tcase_add_test(messages, a_host_that_only_listens_says_little);
  tcase_add_test(messages, a_message_waits_until_it_is_asked_for_and_the_end_waits_behind_it);
  tcase_add_test(messages, a_listener_that_closes_lets_its_dialler_read_first);
  tcase_set_timeout(messages, 60);
  suite_add_tcase(suite, messages);
  TCase* ends = tcase_create("ends");
  tcase_add_test(ends, an_abort_in_the_middle_of_a_write_completes_it_and_resets_both);
  tcase_add_test(ends, a_listener_that_aborts_resets_its_dialler);
  tcase_add_test(ends, a_transport_that_closes_in_mid_stream_resets_the_others);
  tcase_add_test(ends, an_end_that_is_not_told_is_waited_for_as_long_as_was_said);
  tcase_add_test(ends, a_process_that_is_killed_resets_its_streams_and_refuses_the_next);
  tcase_add_test(ends, a_stopped_process_does_not_hold_an_abort);
  tcase_set_timeout(ends, 60);
  suite_add_tcase(suite, ends);
  TCase* dialling = tcase_create("dialling");
  tcase_add_test(dialling, a_refused_dial_is_told_at_once);
  tcase_add_test(dialling, a_dial_that_nobody_answers_ends_with_its_time);
  tcase_add_test(dialling, a_wrong_key_is_rejected_with_the_words_of_the_acceptor);
  tcase_add_test(dialling, a_closed_transport_dials_and_listens_no_more);
  suite_add_tcase(suite, dialling);
  TCase* listening = tcase_create("listening");
  tcase_add_test(listening, a_port_in_use_is_an_error_that_names_it_and_does_not_use_up_the_listen);
  tcase_add_test(listening, options_out_of_range_are_refused);
  tcase_add_test(listening, a_thousand_connections_echo_at_once);
  tcase_set_timeout(listening, 120);
  suite_add_tcase(suite, listening);
  return suite;
}
