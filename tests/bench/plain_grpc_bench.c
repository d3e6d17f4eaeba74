// SPDX-License-Identifier: Apache-2.0
//
// gRPC by itself between two processes; calls and results of the runtime stand beside it. Measures
// unary calls with 64 on their way, and a message and its echo on one stream. Also measures
// messages one way over one stream, until the other end acknowledges all of them. One completion
// queue and one thread at each end.
#include <limits.h>
#include <stdio.h>

#include "host_runtime/base/macros.h"
#include "tests/bench/bench_cluster.h"
#include "tests/bench/benchmark.h"
#include "tests/distributed/security/certificate_folder.h"
#include "tests/distributed/transport/grpc/plain_grpc_client.h"

typedef tfrt_status_t (*run_fn_t)(plain_grpc_client_t* client, int64_t count);

enum { CALLS, MESSAGES, PING_PONG, PING_PONG_TLS };

static const run_fn_t kRuns[] = {[CALLS] = plain_grpc_client_call,
                                 [MESSAGES] = plain_grpc_client_send,
                                 [PING_PONG] = plain_grpc_client_bounce,
                                 [PING_PONG_TLS] = plain_grpc_client_bounce};

typedef struct state_s {
  run_fn_t run;
  int64_t size;
  tfrt_certificate_folder_t certificates;
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
  (void)tfrt_certificate_folder_remove(&self->certificates);
}

// Makes certificates for both ends and says so in |credentials|.
static tfrt_status_t make_certificates(tfrt_grpc_credentials_t* credentials) {
  tfrt_certificate_folder_t* folder = &current.certificates;
  TFRT_RETURN_IF_ERROR(tfrt_certificate_folder_make(folder));
  credentials->kind = TFRT_GRPC_CREDENTIALS_TLS;
  credentials->files = tfrt_certificate_folder_files(folder, TFRT_BENCH_CLUSTER_HOST);
  return tfrt_certificate_folder_add(folder, TFRT_CERTIFICATE_HOST, TFRT_BENCH_CLUSTER_HOST,
                                     TFRT_A_DAY_S);
}

// Starts the other end and connects to it.
static tfrt_status_t connect_peer(const tfrt_benchmark_files_t* files, bool is_tls) {
  tfrt_grpc_credentials_t credentials = {.kind = TFRT_GRPC_CREDENTIALS_PLAIN_TEXT};
  if (is_tls) TFRT_RETURN_IF_ERROR(make_certificates(&credentials));
  char program[PATH_MAX];
  snprintf(program, sizeof(program), "%s/../tests/bench/plain_grpc_peer", files->tools);
  const char* arguments[] = {program, is_tls ? credentials.files.authorities : NULL,
                             credentials.files.certificate, credentials.files.key, NULL};
  TFRT_RETURN_IF_ERROR(tfrt_bench_process_start(&current.server, arguments));
  return plain_grpc_client_allocate(current.server.address, &credentials, &current.client);
}

static tfrt_status_t open_client(const tfrt_benchmark_t* benchmark,
                                 const tfrt_benchmark_files_t* files, int64_t size,
                                 void** out_state) {
  *out_state = &current;
  current = (state_t){.run = kRuns[benchmark->kind], .size = size};
  tfrt_status_t status = connect_peer(files, benchmark->kind == PING_PONG_TLS);
  if (status) close_client(&current);
  return status;
}

#define BENCHMARK(NAME, KIND, SIZE, SMALL_SIZE, LIMIT)                                             \
  {                                                                                                \
    .name = "transport/" NAME, .unit = "us", .size = SIZE, .small_size = SMALL_SIZE, .kind = KIND, \
    .limit = LIMIT, .open = open_client, .sample = sample, .close = close_client                   \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("unary_of_many", CALLS, 20000, 200, NULL),
    BENCHMARK("one_way_64", MESSAGES, 100000, 200, NULL),
    BENCHMARK("grpc_ping_pong_64", PING_PONG, 5000, 20, NULL),
    {.name = "transport/grpc_ping_pong_64_bound",
     .unit = "us",
     .size = 5000,
     .small_size = 20,
     .kind = PING_PONG,
     .is_bound = true,
     .open = open_client,
     .sample = sample,
     .close = close_client},
    BENCHMARK("grpc_ping_pong_64_tls", PING_PONG_TLS, 5000, 20, "transport/grpc_ping_pong_64"),
};

tfrt_benchmark_group_t tfrt_plain_grpc_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
