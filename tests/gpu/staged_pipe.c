// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/staged_pipe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host_runtime/base/sync.h"

extern char** environ;

// The byte that fills the sender's memory.
#define FILLING 0x5a

// How often a receiver looks whether its sender is still there.
#define TFRT_STAGED_PIPE_LOOK_MS 100

// --- Both ends -----------------------------------------------------------------------------

static void staged_pipe_expect(bool is_ok, const char* what) {
  if (is_ok) return;
  tfrt_device_bench_ok(
      tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "%s: %s", what, strerror(errno)));
}

static void staged_pipe_ok(const tfrt_staged_pipe_t* pipe, tfrt_cuda_result_t result,
                           const char* call) {
  tfrt_device_bench_plain_ok(pipe->bench, result, call);
}

static void staged_pipe_allocate(tfrt_staged_pipe_t* pipe, const tfrt_device_bench_t* bench) {
  const tfrt_cuda_api_t* api = &bench->api;
  *pipe = (tfrt_staged_pipe_t){.bench = bench, .socket = -1};
  pipe->size = bench->library ? TFRT_STAGED_PIPE_SIZE_FOR_SHOW : TFRT_STAGED_PIPE_SIZE;
  staged_pipe_ok(pipe, api->MemAlloc(&pipe->memory, pipe->size), "cuMemAlloc");
  for (int i = 0; i < TFRT_STAGED_PIPE_PIECES; ++i) {
    staged_pipe_ok(pipe, api->MemHostAlloc(&pipe->pieces[i], TFRT_STAGED_PIPE_PIECE_SIZE, 0),
                   "cuMemHostAlloc");
    staged_pipe_ok(pipe, api->EventCreate(&pipe->copied[i], TFRT_CUDA_EVENT_DISABLE_TIMING),
                   "cuEventCreate");
  }
}

static void staged_pipe_free(tfrt_staged_pipe_t* pipe) {
  const tfrt_cuda_api_t* api = &pipe->bench->api;
  if (pipe->socket >= 0) close(pipe->socket);
  for (int i = 0; i < TFRT_STAGED_PIPE_PIECES; ++i) {
    staged_pipe_ok(pipe, api->EventDestroy(pipe->copied[i]), "cuEventDestroy");
    staged_pipe_ok(pipe, api->MemFreeHost(pipe->pieces[i]), "cuMemFreeHost");
  }
  staged_pipe_ok(pipe, api->MemFree(pipe->memory), "cuMemFree");
}

// Copies piece |index| to the device or from it, by way of its place among the pinned ones.
static void staged_pipe_copy(const tfrt_staged_pipe_t* pipe, size_t index, bool is_to_device) {
  const tfrt_cuda_api_t* api = &pipe->bench->api;
  tfrt_cuda_stream_handle_t stream = pipe->bench->plain_streams[0];
  size_t slot = index % TFRT_STAGED_PIPE_PIECES;
  tfrt_cuda_address_t device = pipe->memory + index * TFRT_STAGED_PIPE_PIECE_SIZE;
  tfrt_cuda_address_t host = (tfrt_cuda_address_t)(uintptr_t)pipe->pieces[slot];
  staged_pipe_ok(pipe,
                 api->MemcpyAsync(is_to_device ? device : host, is_to_device ? host : device,
                                  TFRT_STAGED_PIPE_PIECE_SIZE, stream),
                 "cuMemcpyAsync");
  staged_pipe_ok(pipe, api->EventRecord(pipe->copied[slot], stream), "cuEventRecord");
}

// Waits for the last copy of the pinned piece for |index|, by asking again and again.
static void* staged_pipe_await(const tfrt_staged_pipe_t* pipe, size_t index) {
  size_t slot = index % TFRT_STAGED_PIPE_PIECES;
  tfrt_cuda_result_t result;
  do {
    result = pipe->bench->api.EventQuery(pipe->copied[slot]);
    if (pipe->bench->library) tfrt_thread_yield();
  } while (result == TFRT_CUDA_ERROR_NOT_READY);
  staged_pipe_ok(pipe, result, "cuEventQuery");
  return pipe->pieces[slot];
}

static int staged_pipe_socket(void) {
  int on = 1;
  int end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  staged_pipe_expect(end >= 0, "socket");
  staged_pipe_expect(setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0, "setsockopt");
  return end;
}

// Sends or receives |size| bytes; false if the other end is closed.
static bool staged_pipe_move(int end, char* bytes, size_t size, bool is_sent) {
  for (size_t done = 0; done < size;) {
    ssize_t part = is_sent ? send(end, bytes + done, size - done, MSG_NOSIGNAL)
                           : recv(end, bytes + done, size - done, 0);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return false;
    done += (size_t)part;
  }
  return true;
}

// --- The sender ----------------------------------------------------------------------------

static void staged_pipe_send_all(const tfrt_staged_pipe_t* pipe) {
  size_t count = pipe->size / TFRT_STAGED_PIPE_PIECE_SIZE;
  size_t copied = 0;
  for (size_t i = 0; i < count; ++i) {
    // A piece that is sent may be filled again.
    for (; copied < count && copied < i + TFRT_STAGED_PIPE_PIECES; ++copied) {
      staged_pipe_copy(pipe, copied, false);
    }
    char* piece = staged_pipe_await(pipe, i);
    staged_pipe_expect(staged_pipe_move(pipe->socket, piece, TFRT_STAGED_PIPE_PIECE_SIZE, true),
                       "send");
  }
}

void tfrt_staged_pipe_send(const tfrt_device_bench_t* bench, int port) {
  tfrt_staged_pipe_t pipe;
  staged_pipe_allocate(&pipe, bench);
  staged_pipe_ok(&pipe,
                 bench->api.MemsetD8Async(pipe.memory, FILLING, pipe.size, bench->plain_streams[0]),
                 "cuMemsetD8Async");
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  pipe.socket = staged_pipe_socket();
  staged_pipe_expect(connect(pipe.socket, (const struct sockaddr*)&address, sizeof(address)) == 0,
                     "connect");
  char order = 0;
  while (staged_pipe_move(pipe.socket, &order, 1, false)) staged_pipe_send_all(&pipe);
  staged_pipe_free(&pipe);
}

// --- The receiver --------------------------------------------------------------------------

static void staged_pipe_start_sender(tfrt_staged_pipe_t* pipe, int port) {
  char number[16];
  snprintf(number, sizeof(number), "%d", port);
  const char* arguments[] = {"device_bench", "--send", number, pipe->bench->library, NULL};
  int error =
      posix_spawn(&pipe->sender, "/proc/self/exe", NULL, NULL, (char* const*)arguments, environ);
  errno = error;
  staged_pipe_expect(error == 0, "can't start the sender");
}

// Waits until the sender dials |listener|, or has ended, which is an error.
static int staged_pipe_accept(const tfrt_staged_pipe_t* pipe, int listener) {
  struct pollfd dialled = {.fd = listener, .events = POLLIN};
  while (poll(&dialled, 1, TFRT_STAGED_PIPE_LOOK_MS) <= 0) {
    if (waitpid(pipe->sender, NULL, WNOHANG) == 0) continue;
    tfrt_device_bench_ok(tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "a sender ended at once"));
  }
  int end = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  staged_pipe_expect(end >= 0, "accept");
  return end;
}

void tfrt_staged_pipe_open(tfrt_staged_pipe_t* pipe, const tfrt_device_bench_t* bench) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof(address);
  staged_pipe_allocate(pipe, bench);
  int listener = staged_pipe_socket();
  staged_pipe_expect(bind(listener, (const struct sockaddr*)&address, size) == 0, "bind");
  staged_pipe_expect(listen(listener, 1) == 0, "listen");
  staged_pipe_expect(getsockname(listener, (struct sockaddr*)&address, &size) == 0, "getsockname");
  staged_pipe_start_sender(pipe, ntohs(address.sin_port));
  pipe->socket = staged_pipe_accept(pipe, listener);
  close(listener);
}

void tfrt_staged_pipe_run(void* argument) {
  tfrt_staged_pipe_t* pipe = argument;
  size_t count = pipe->size / TFRT_STAGED_PIPE_PIECE_SIZE;
  char order = 1;
  staged_pipe_expect(staged_pipe_move(pipe->socket, &order, 1, true), "send");
  for (size_t i = 0; i < count; ++i) {
    // The piece was copied before, or is new, as its event is then.
    char* piece = staged_pipe_await(pipe, i);
    staged_pipe_expect(staged_pipe_move(pipe->socket, piece, TFRT_STAGED_PIPE_PIECE_SIZE, false),
                       "recv");
    staged_pipe_copy(pipe, i, true);
  }
  staged_pipe_await(pipe, count - 1);
}

// The last byte that has come must be the sender's.
static void staged_pipe_check(const tfrt_staged_pipe_t* pipe) {
  size_t last = pipe->size / TFRT_STAGED_PIPE_PIECE_SIZE - 1;
  memset(pipe->pieces[last % TFRT_STAGED_PIPE_PIECES], 0, TFRT_STAGED_PIPE_PIECE_SIZE);
  staged_pipe_copy(pipe, last, false);
  const char* piece = staged_pipe_await(pipe, last);
  if (piece[TFRT_STAGED_PIPE_PIECE_SIZE - 1] == FILLING) return;
  tfrt_device_bench_ok(
      tfrt_status_create(TFRT_STATUS_DATA_LOSS, "other bytes came than were sent"));
}

void tfrt_staged_pipe_close(tfrt_staged_pipe_t* pipe) {
  staged_pipe_check(pipe);
  staged_pipe_free(pipe);
  while (waitpid(pipe->sender, NULL, 0) < 0 && errno == EINTR) {
  }
}
