// SPDX-License-Identifier: Apache-2.0
//
// gRPC by itself between two processes, for calls and results of the runtime to stand beside: unary
// calls with 64 on their way, and messages one way over one stream, until the other end has said
// that it has them all. One completion queue and one thread at each end.
#include <limits.h>
#include <stdio.h>

#include "host_runtime/base/macros.h"
#include "tests/bench/bench_cluster.h"
#include "tests/bench/benchmark.h"
#include "tests/distributed/grpc/plain_grpc_client.h"

typedef tfrt_status_t (*run_fn_t)(plain_grpc_client_t* client, int64_t count);

enum { CALLS, MESSAGES };

typedef struct state_s {
  run_fn_t run;
  int64_t size;
  tfrt_bench_worker_t server;
  plain_grpc_client_t* client;
} state_t;

static state_t current;

static tfrt_status_t sample(void* state, double* out_figure) {
  const state_t* self = state;
  int64_t begin = tfrt_benchmark_now_ns();
  TFRT_RETURN_IF_ERROR(self->run(self->client, self->size));
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / 1e3 / (double)self->size;
  return NULL;
}

static void close_client(void* state) {
  state_t* self = state;
  plain_grpc_client_free(self->client);
  tfrt_bench_worker_stop(&self->server);
}

static tfrt_status_t open_client(const tfrt_benchmark_t* benchmark,
                                 const tfrt_benchmark_files_t* files, int64_t size,
                                 void** out_state) {
  *out_state = &current;
  current =
      (state_t){.run = benchmark->kind == CALLS ? plain_grpc_client_call : plain_grpc_client_send,
                .size = size};
  char program[PATH_MAX];
  snprintf(program, sizeof(program), "%s/../tests/bench/plain_grpc_peer", files->tools);
  const char* arguments[] = {program, NULL};
  TFRT_RETURN_IF_ERROR(tfrt_bench_process_start(&current.server, arguments));
  tfrt_status_t status = plain_grpc_client_allocate(current.server.address, &current.client);
  if (status) close_client(&current);
  return status;
}

#define BENCHMARK(NAME, KIND, SIZE, SMALL_SIZE)                                                    \
  {                                                                                                \
    .name = "transport/" NAME, .unit = "us", .size = SIZE, .small_size = SMALL_SIZE, .kind = KIND, \
    .open = open_client, .sample = sample, .close = close_client                                   \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("unary_of_many", CALLS, 20000, 200),
    BENCHMARK("one_way_64", MESSAGES, 100000, 200),
};

tfrt_benchmark_group_t tfrt_plain_grpc_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
