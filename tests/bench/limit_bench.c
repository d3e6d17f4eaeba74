// SPDX-License-Identifier: Apache-2.0
//
// The limits of this machine at the time of the run: bare TCP sockets on the loopback interface,
// between two threads of this process. The figures between hosts stand beside these. A message of
// 64 bytes and its echo; and messages of one and of 64 MiB, each into the same buffer, each
// acknowledged with a byte.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/sync.h"
#include "tests/bench/benchmark.h"

#define SMALL 64

typedef struct state_s {
  const tfrt_benchmark_t* benchmark;
  int64_t size;
  size_t bytes;  // of a message
  int ends[2];
  char* buffers[2];
  tfrt_thread_t echo;
  bool has_echo;
} state_t;

static state_t current = {.ends = {-1, -1}};

static bool move(int end, char* bytes, size_t size, bool is_sent) {
  for (size_t done = 0; done < size;) {
    ssize_t part = is_sent ? send(end, bytes + done, size - done, MSG_NOSIGNAL)
                           : recv(end, bytes + done, size - done, 0);
    if (part <= 0) return false;
    done += (size_t)part;
  }
  return true;
}

// The size of an answer: small messages come back whole, others as one byte.
static size_t answer_size(const state_t* self) { return self->bytes == SMALL ? SMALL : 1; }

static void echo(void* argument) {
  const state_t* self = argument;
  while (move(self->ends[1], self->buffers[1], self->bytes, false) &&
         move(self->ends[1], self->buffers[1], answer_size(self), true)) {
  }
}

static tfrt_status_t sample(void* state, double* out_figure) {
  const state_t* self = state;
  int64_t begin = tfrt_benchmark_now_ns();
  for (int64_t i = 0; i < self->size; ++i) {
    if (!move(self->ends[0], self->buffers[0], self->bytes, true) ||
        !move(self->ends[0], self->buffers[0], answer_size(self), false)) {
      return tfrt_status_create(TFRT_STATUS_INTERNAL, "the socket broke");
    }
  }
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / (double)self->size / 1e3;
  return NULL;
}

static bool connect_ends(state_t* self) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof(address);
  int on = 1;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  self->ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool is_ok = listener >= 0 && self->ends[0] >= 0 &&
               bind(listener, (struct sockaddr*)&address, size) == 0 && listen(listener, 1) == 0 &&
               getsockname(listener, (struct sockaddr*)&address, &size) == 0 &&
               connect(self->ends[0], (struct sockaddr*)&address, size) == 0;
  if (is_ok) self->ends[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (listener >= 0) close(listener);
  for (int i = 0; i < 2; ++i) {
    is_ok = is_ok && setsockopt(self->ends[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0;
  }
  return is_ok;
}

static void close_socket(void* state) {
  state_t* self = state;
  if (self->ends[0] >= 0) shutdown(self->ends[0], SHUT_RDWR);
  if (self->has_echo) tfrt_thread_join(&self->echo);
  for (int i = 0; i < 2; ++i) {
    if (self->ends[i] >= 0) close(self->ends[i]);
    self->ends[i] = -1;
    tfrt_allocator_free(tfrt_allocator_system(), self->buffers[i], self->bytes);
    self->buffers[i] = NULL;
  }
}

static tfrt_status_t open_socket(const tfrt_benchmark_t* benchmark,
                                 const tfrt_benchmark_files_t* files, int64_t size,
                                 void** out_state) {
  (void)files;
  *out_state = &current;
  current = (state_t){.benchmark = benchmark, .size = size, .bytes = (size_t)benchmark->kind};
  current.ends[0] = current.ends[1] = -1;
  bool is_ok = true;
  for (int i = 0; i < 2; ++i) {
    current.buffers[i] = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), current.bytes);
    is_ok = is_ok && current.buffers[i];
  }
  tfrt_status_t status = is_ok && connect_ends(&current)
                             ? tfrt_thread_create("echo", echo, &current, &current.echo)
                             : tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no socket");
  current.has_echo = !status;
  if (status) close_socket(&current);
  return status;
}

#define MEBIBYTE (1024 * 1024)

// |kind| is the size of a message.
#define BENCHMARK(NAME, BYTES, SIZE, SMALL_SIZE)                                                \
  {                                                                                             \
    .name = "limit/" NAME, .unit = "us", .size = SIZE, .small_size = SMALL_SIZE, .kind = BYTES, \
    .open = open_socket, .sample = sample, .close = close_socket                                \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("tcp_ping_pong_64", SMALL, 5000, 20),
    BENCHMARK("tcp_1_mib", MEBIBYTE, 500, 2),
    BENCHMARK("tcp_64_mib", 64 * MEBIBYTE, 5, 1),
};

tfrt_benchmark_group_t tfrt_limit_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
