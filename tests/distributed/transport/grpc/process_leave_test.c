// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/time.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "distributed/transport/grpc/grpc_library.h"
#include "host_runtime/base/clock.h"
#include "tests/support/test_main.h"

// Each HTTP/2 client sends that first.
#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

static int listen_somewhere(char* target, size_t size) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof(address);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ck_assert_int_ge(listener, 0);
  ck_assert_int_eq(bind(listener, (struct sockaddr*)&address, length), 0);
  ck_assert_int_eq(listen(listener, 1), 0);
  ck_assert_int_eq(getsockname(listener, (struct sockaddr*)&address, &length), 0);
  snprintf(target, size, "ipv4:127.0.0.1:%u", ntohs(address.sin_port));
  return listener;
}

// Lets gRPC work on |queue| until |socket| can be read.
static void attend_until_readable(grpc_completion_queue* queue, int socket) {
  struct pollfd watched = {.fd = socket, .events = POLLIN};
  gpr_timespec moment = gpr_time_from_millis(1, GPR_TIMESPAN);
  while (poll(&watched, 1, 0) == 0) {
    grpc_completion_queue_next(queue, gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), moment), NULL);
  }
}

static int accept_client(grpc_completion_queue* queue, int listener) {
  attend_until_readable(queue, listener);
  int client = accept(listener, NULL, NULL);
  ck_assert_int_ge(client, 0);
  attend_until_readable(queue, client);
  char preface[sizeof(PREFACE) - 1];
  ck_assert_int_eq(recv(client, preface, sizeof(preface), MSG_WAITALL), sizeof(preface));
  ck_assert_mem_eq(preface, PREFACE, sizeof(preface));
  return client;
}

static grpc_call* start_call(grpc_channel* channel, grpc_completion_queue* queue) {
  grpc_call* call = grpc_channel_create_call(channel, NULL, GRPC_PROPAGATE_DEFAULTS, queue,
                                             grpc_slice_from_static_string("/tfrt.test/M"), NULL,
                                             gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
  grpc_op op = {.op = GRPC_OP_SEND_INITIAL_METADATA};
  ck_assert_int_eq(grpc_call_start_batch(call, &op, 1, NULL, NULL), GRPC_CALL_OK);
  return call;
}

static void end_queue(grpc_completion_queue* queue) {
  grpc_completion_queue_shutdown(queue);
  gpr_timespec never = gpr_inf_future(GPR_CLOCK_MONOTONIC);
  while (grpc_completion_queue_next(queue, never, NULL).type != GRPC_QUEUE_SHUTDOWN) continue;
  grpc_completion_queue_destroy(queue);
}

static int64_t processor_time_ns(void) {
  struct timespec time;
  ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time), 0);
  return time.tv_sec * TFRT_NANOSECONDS_PER_SECOND + time.tv_nsec;
}

// gRPC 1.51 keeps what it has of a channel that was destroyed before its peer's first frame.
START_TEST(a_channel_that_was_dropped_while_it_connected_costs_no_processor_time) {
  char target[64];
  ck_assert(tfrt_status_is_ok(tfrt_grpc_process_enter()));
  int listener = listen_somewhere(target, sizeof(target));
  grpc_channel_credentials* credentials = grpc_insecure_credentials_create();
  grpc_channel* channel = grpc_channel_create(target, credentials, NULL);
  grpc_completion_queue* queue = grpc_completion_queue_create_for_next(NULL);
  grpc_call* call = start_call(channel, queue);
  int client = accept_client(queue, listener);
  grpc_call_cancel(call, NULL);
  grpc_call_unref(call);
  end_queue(queue);
  grpc_channel_destroy(channel);
  grpc_channel_credentials_release(credentials);
  int64_t begin_ns = processor_time_ns();
  tfrt_grpc_process_leave();
  ck_assert_int_lt(processor_time_ns() - begin_ns, 5 * TFRT_NANOSECONDS_PER_MILLISECOND);
  // A version that frees it needs no such care.
  ck_assert(grpc_is_initialized());
  close(client);
  close(listener);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* leave = tcase_create("leave");
  tcase_add_test(leave, a_channel_that_was_dropped_while_it_connected_costs_no_processor_time);
  Suite* suite = suite_create("process_leave");
  suite_add_tcase(suite, leave);
  return suite;
}
