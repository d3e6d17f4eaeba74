// SPDX-License-Identifier: Apache-2.0
//
// The limit of this machine for an all_reduce at the time of the run: a ring of four processes with
// bare TCP sockets on the loopback interface. Each sends as much as a ring has to, in the same
// turns, receives into its final place, and adds; a turn is a chunk at a time, sent and received
// together.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host_runtime/base/allocator.h"
#include "tests/bench/benchmark.h"

enum { MEMBERS = 4, CHUNK = 128 * 1024 };

typedef struct state_s {
  const tfrt_benchmark_t* benchmark;
  int64_t size;
  int to_next[MEMBERS];
  int from_last[MEMBERS];
  size_t bytes;    // of an operand; in a test there are fewer
  int orders[2];   // a byte for each member and sample
  int answers[2];  // likewise
  pid_t processes[MEMBERS];
} state_t;

static state_t current;

// --- A member ----------------------------------------------------------------------

// Moves what one call can; returns the bytes that are left, or -1.
static ssize_t move_some(int end, char** bytes, size_t size, bool is_sent) {
  ssize_t part = is_sent ? send(end, *bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT)
                         : recv(end, *bytes, size, MSG_DONTWAIT);
  if (part == 0 || (part < 0 && errno != EAGAIN && errno != EINTR)) return -1;
  if (part > 0) *bytes += part;
  return (ssize_t)size - (part > 0 ? part : 0);
}

// Sends |size| bytes at |sent| to the next member while |size| bytes come in at |received|.
static bool exchange(const state_t* self, int member, char* sent, char* received, size_t size) {
  ssize_t to_send = (ssize_t)size;
  ssize_t to_receive = (ssize_t)size;
  while (to_send > 0 || to_receive > 0) {
    struct pollfd ends[2] = {
        {.fd = to_send > 0 ? self->to_next[member] : -1, .events = POLLOUT},
        {.fd = to_receive > 0 ? self->from_last[member] : -1, .events = POLLIN}};
    if (poll(ends, 2, -1) < 0 && errno != EINTR) return false;
    if (ends[0].revents) {
      to_send = move_some(self->to_next[member], &sent, (size_t)to_send, true);
    }
    if (ends[1].revents) {
      to_receive = move_some(self->from_last[member], &received, (size_t)to_receive, false);
    }
    if (to_send < 0 || to_receive < 0) return false;
  }
  return true;
}

static void add(float* sum, const float* a, const float* b, size_t count) {
  for (size_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

// One all_reduce of |bytes| bytes at |operand| into |result|.
static bool reduce(const state_t* self, int member, char* operand, char* result, char* scratch) {
  size_t part = self->bytes / MEMBERS;
  for (int turn = 0; turn < 2 * (MEMBERS - 1); ++turn) {
    bool adds = turn < MEMBERS - 1;
    size_t out =
        (size_t)((member - turn + 2 * MEMBERS - (adds ? 1 : 1 - MEMBERS)) % MEMBERS) * part;
    size_t in = (size_t)((member - turn + 2 * MEMBERS - (adds ? 2 : 2 - MEMBERS)) % MEMBERS) * part;
    for (size_t at = 0; at < part; at += CHUNK) {
      size_t size = part - at < CHUNK ? part - at : CHUNK;
      char* sent = (turn == 0 ? operand : result) + out + at;
      if (!exchange(self, member, sent, adds ? scratch : result + in + at, size)) return false;
      if (!adds) continue;
      add((float*)(result + in + at), (const float*)scratch, (const float*)(operand + in + at),
          size / sizeof(float));
    }
  }
  return true;
}

// Reduces once for each request; never returns.
static void be_member(const state_t* self, int member) {
  size_t bytes = self->bytes;
  char* operand = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), bytes);
  char* result = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), bytes);
  char* scratch = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), CHUNK);
  bool is_ok = operand && result && scratch;
  char byte = 0;
  while (is_ok && read(self->orders[0], &byte, 1) == 1) {
    for (int64_t i = 0; i < self->size && is_ok; ++i) {
      is_ok = reduce(self, member, operand, result, scratch);
    }
    if (is_ok) is_ok = write(self->answers[1], &byte, 1) == 1;
  }
  _exit(0);
}

// --- Life --------------------------------------------------------------------------

// Sets |*out_from| and |*out_to| to the ends of a connection.
static bool connect_pair(int* out_from, int* out_to) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof(address);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  *out_to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool is_ok = listener >= 0 && *out_to >= 0 &&
               bind(listener, (struct sockaddr*)&address, size) == 0 && listen(listener, 1) == 0 &&
               getsockname(listener, (struct sockaddr*)&address, &size) == 0 &&
               connect(*out_to, (struct sockaddr*)&address, size) == 0;
  if (is_ok) *out_from = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (listener >= 0) close(listener);
  return is_ok && *out_from >= 0;
}

static void close_end(int* end) {
  if (*end >= 0) close(*end);
  *end = -1;
}

static void close_ring(void* state) {
  state_t* self = state;
  for (int i = 0; i < MEMBERS; ++i) {
    close_end(&self->to_next[i]);
    close_end(&self->from_last[i]);
  }
  for (int i = 0; i < 2; ++i) {
    close_end(&self->orders[i]);
    close_end(&self->answers[i]);
  }
  for (int i = 0; i < MEMBERS; ++i) {
    if (self->processes[i] <= 0) continue;
    kill(self->processes[i], SIGKILL);
    waitpid(self->processes[i], NULL, 0);
  }
}

static tfrt_status_t open_ring(const tfrt_benchmark_t* benchmark,
                               const tfrt_benchmark_files_t* files, int64_t size,
                               void** out_state) {
  (void)files;
  *out_state = &current;
  current = (state_t){.benchmark = benchmark, .size = size, .bytes = (size_t)benchmark->kind};
  if (size != benchmark->size) current.bytes /= 64;
  memset(current.to_next, -1, sizeof(current.to_next));
  memset(current.from_last, -1, sizeof(current.from_last));
  memset(current.orders, -1, sizeof(current.orders));
  memset(current.answers, -1, sizeof(current.answers));
  bool is_ok = pipe2(current.orders, O_CLOEXEC) == 0 && pipe2(current.answers, O_CLOEXEC) == 0;
  for (int i = 0; i < MEMBERS && is_ok; ++i) {
    is_ok = connect_pair(&current.from_last[(i + 1) % MEMBERS], &current.to_next[i]);
  }
  for (int i = 0; i < MEMBERS && is_ok; ++i) {
    current.processes[i] = fork();
    if (current.processes[i] == 0) be_member(&current, i);
    is_ok = current.processes[i] > 0;
  }
  if (is_ok) return NULL;
  close_ring(&current);
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "no ring of sockets");
}

// One all_reduce, in microseconds.
static tfrt_status_t sample(void* state, double* out_figure) {
  const state_t* self = state;
  static const char kOrders[MEMBERS] = {0};
  char answers[MEMBERS];
  int64_t begin = tfrt_benchmark_now_ns();
  bool is_ok = write(self->orders[1], kOrders, MEMBERS) == MEMBERS;
  for (int i = 0; i < MEMBERS && is_ok; ++i) is_ok = read(self->answers[0], answers, 1) == 1;
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / (double)self->size / 1e3;
  return is_ok ? NULL : tfrt_status_create(TFRT_STATUS_INTERNAL, "the ring broke");
}

// |kind| is the size of an operand.
#define BENCHMARK(NAME, BYTES, SIZE, SMALL_SIZE)                                                \
  {                                                                                             \
    .name = "limit/" NAME, .unit = "us", .size = SIZE, .small_size = SMALL_SIZE, .kind = BYTES, \
    .open = open_ring, .sample = sample, .close = close_ring                                    \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("tcp_ring_1_mib", 1 << 20, 100, 2),
    BENCHMARK("tcp_ring_64_mib", 64 << 20, 3, 1),
};

tfrt_benchmark_group_t tfrt_ring_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
