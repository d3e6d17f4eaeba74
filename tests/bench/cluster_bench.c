// SPDX-License-Identifier: Apache-2.0
//
// Calls and values between worker processes on this machine, over gRPC on the loopback interface.
// Measures calls with a result that decides about the next one, independent calls, results, and
// chains of calls over several hosts. Also measures payloads that a callee wants, their memory, and
// the time in which a cluster forms.
//
// A chain over N callees is given per N / 2 + 1 round trips, which is what it takes when every
// call is shipped at once and asks for its argument (docs/distributed.md: N + 2 one-way delays, one
// more than without the question); so each such figure stands beside one round trip of the bare
// transport, between two processes, too.
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/file.h"
#include "tests/bench/bench_cluster.h"
#include "tests/bench/benchmark.h"

extern char** environ;

enum {
  CALL,
  CALL_TLS,
  CALLS,
  RESULTS,
  CHAIN,
  PAYLOAD,
  PAYLOAD_MEMORY,
  WORKER_START,
  WORKER_MEMORY,
  RUN
};

#define PAYLOAD_SIZE 64  // of the string that goes with each call

#define RESULTS_OF_CALL 1000

typedef struct state_s {
  const tfrt_benchmark_t* benchmark;
  tfrt_bench_cluster_t cluster;
  int64_t size;
  const char* tools;
  char program_path[64];
} state_t;

static state_t current;

// --- Programs --------------------------------------------------------------------

// |size| turns; each waits for the number that the body returns.
static void append_loop(int64_t size, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(
      out,
      "func.func @main(%%s: !tfrt.string) -> i32 {\n"
      "  %%zero = tfrt.constant.i32 0\n"
      "  %%true = tfrt.constant.i1 1\n"
      "  %%r:2 = tfrt.while %%true @turn(%%zero, %%s) parallel_iterations(1) : (i32, "
      "!tfrt.string) -> (i32, !tfrt.string)\n"
      "  tfrt.return %%r#0 : i32\n"
      "}\n"
      "func.func @turn(%%v0: i32, %%s: !tfrt.string) -> (i32, !tfrt.string, i1) {\n"
      "  %%limit = tfrt.constant.i32 %" PRId64 "\n",
      size - 1);
}

static void append_loop_end(const char* value, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(
      out,
      "  %%again = \"tfrt.lessequal.i32\"(%s, %%limit) : (i32, i32) -> (i1)\n"
      "  tfrt.return %s, %%s, %%again : i32, !tfrt.string, i1\n"
      "}\n",
      value, value);
}

static const char next_text[] =
    "func.func @next(%v: i32, %s: !tfrt.string) -> i32 {\n"
    "  %one = tfrt.constant.i32 1\n"
    "  %w = tfrt.add.i32 %v, %one\n"
    "  tfrt.return %w : i32\n"
    "}\n";

static void append_next(int from, int host, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out,
                                    "  %%v%d = tfrt.call @next(%%v%d, %%s) {host = %d : i32} : "
                                    "(i32, !tfrt.string) -> (i32)\n",
                                    from + 1, from, host);
}

// A turn is a chain of calls over |callees| hosts, each on the result of the one before.
static void append_chains(int64_t size, int callees, tfrt_string_builder_t* out) {
  append_loop(size * callees, out);
  char last[16];
  for (int i = 0; i < callees; ++i) append_next(i, i + 1, out);
  snprintf(last, sizeof(last), "%%v%d", callees);
  append_loop_end(last, out);
  tfrt_string_builder_append_text(out, next_text);
}

// All calls at once; the result is the last one's, and the run ends with all of them.
static void append_calls(int64_t size, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, "func.func @main(%s: !tfrt.string) -> i32 {\n");
  for (int64_t i = 0; i < size; ++i) {
    tfrt_string_builder_append_format(out,
                                      "  %%v%" PRId64 " = tfrt.constant.i32 %" PRId64
                                      "\n"
                                      "  %%w%" PRId64 " = tfrt.call @next(%%v%" PRId64
                                      ", %%s) {host = 1 : i32} : (i32, !tfrt.string) -> (i32)\n",
                                      i, i, i, i);
  }
  tfrt_string_builder_append_format(out, "  tfrt.return %%w%" PRId64 " : i32\n}\n", size - 1);
  tfrt_string_builder_append_text(out, next_text);
}

// |size| turns; one call in each fulfils RESULTS_OF_CALL values of the caller.
static void append_results(int64_t size, tfrt_string_builder_t* out) {
  append_loop(size, out);
  tfrt_string_builder_append_format(
      out, "  %%w:%d = tfrt.call @many(%%v0, %%s) {host = 1 : i32} : (i32, !tfrt.string) -> (i32",
      RESULTS_OF_CALL);
  for (int i = 1; i < RESULTS_OF_CALL; ++i) tfrt_string_builder_append_text(out, ", i32");
  tfrt_string_builder_append_text(out, ")\n");
  char last[16];
  snprintf(last, sizeof(last), "%%w#%d", RESULTS_OF_CALL - 1);
  append_loop_end(last, out);
  tfrt_string_builder_append_text(out, "func.func @many(%v: i32, %s: !tfrt.string) -> (i32");
  for (int i = 1; i < RESULTS_OF_CALL; ++i) tfrt_string_builder_append_text(out, ", i32");
  tfrt_string_builder_append_text(out, ") {\n  %one = tfrt.constant.i32 1\n");
  for (int i = 0; i < RESULTS_OF_CALL; ++i) {
    tfrt_string_builder_append_format(out, "  %%w%d = tfrt.add.i32 %%v, %%one\n", i);
  }
  tfrt_string_builder_append_text(out, "  tfrt.return %w0");
  for (int i = 1; i < RESULTS_OF_CALL; ++i) tfrt_string_builder_append_format(out, ", %%w%d", i);
  tfrt_string_builder_append_text(out, " : i32");
  for (int i = 1; i < RESULTS_OF_CALL; ++i) tfrt_string_builder_append_text(out, ", i32");
  tfrt_string_builder_append_text(out, "\n}\n");
}

// A tensor of |mebibytes| of host 0; host 1 makes a snapshot of it in each turn.
static void append_payloads(int64_t size, int mebibytes, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(
      out,
      "func.func @main(%%s: !tfrt.string) -> i32 {\n"
      "  %%ch0 = tfrt.new.chain\n"
      "  %%t = tfrt_dht.create_uninitialized_tensor.i32.1 [%d : i64]\n"
      "  %%ch1 = tfrt_dht.fill_tensor_with_constant.i32 %%t, %%ch0 7 : i32\n"
      "  %%zero = tfrt.constant.i32 0\n"
      "  %%true = tfrt.constant.i1 1\n"
      "  %%r:3 = tfrt.while %%true @turn(%%zero, %%t, %%ch1) parallel_iterations(1) : (i32, "
      "!tfrt_tensor.tensor, !tfrt.chain) -> (i32, !tfrt_tensor.tensor, !tfrt.chain)\n"
      "  tfrt.return %%r#0 : i32\n"
      "}\n"
      "func.func @turn(%%v: i32, %%t: !tfrt_tensor.tensor, %%ch: !tfrt.chain) -> (i32, "
      "!tfrt_tensor.tensor, !tfrt.chain, i1) {\n"
      "  %%limit = tfrt.constant.i32 %" PRId64
      "\n"
      "  %%w = tfrt.call @use(%%v, %%t, %%ch) {host = 1 : i32} : (i32, !tfrt_tensor.tensor, "
      "!tfrt.chain) -> (i32)\n"
      "  %%again = \"tfrt.lessequal.i32\"(%%w, %%limit) : (i32, i32) -> (i1)\n"
      "  tfrt.return %%w, %%t, %%ch, %%again : i32, !tfrt_tensor.tensor, !tfrt.chain, i1\n"
      "}\n"
      "func.func @use(%%v: i32, %%t: !tfrt_tensor.tensor, %%ch: !tfrt.chain) -> i32 {\n"
      "  %%axis = tfrt_tensor.common_dim %%t, %%t axis 0\n"
      "  %%length = tfrt.constant.i32 %d\n"
      "  %%one, %%rest = tfrt.div.i32 %%axis, %%length\n"
      "  %%w = tfrt.add.i32 %%v, %%one\n"
      "  tfrt.return %%w : i32\n"
      "}\n",
      mebibytes * 262144, size - 1, mebibytes * 262144);
}

static void append_program(const tfrt_benchmark_t* benchmark, int64_t size,
                           tfrt_string_builder_t* out) {
  switch (benchmark->kind) {
    case CALLS:
      append_calls(size, out);
      break;
    case RESULTS:
      append_results(size, out);
      break;
    case PAYLOAD:
    case PAYLOAD_MEMORY:
      append_payloads(size, benchmark->threads, out);
      break;
    default:
      append_chains(size, benchmark->threads, out);
      break;
  }
}

// --- On a cluster ------------------------------------------------------------------

static int32_t expected_result(const state_t* self) {
  return (int32_t)(self->benchmark->kind == CHAIN ? self->size * self->benchmark->threads
                                                  : self->size);
}

// One sample in microseconds: of a call, a payload, or a chain's share of round trips.
static tfrt_status_t sample_cluster(void* state, double* out_figure) {
  state_t* self = state;
  char text[PAYLOAD_SIZE];
  memset(text, 'x', sizeof(text));
  tfrt_async_value_t* argument =
      tfrt_async_value_create_string(tfrt_string_view_make(text, sizeof(text)));
  tfrt_async_value_t* result = NULL;
  int64_t begin = tfrt_benchmark_now_ns();
  tfrt_status_t status = tfrt_bench_cluster_call(&self->cluster, &argument, 1, &result);
  double elapsed = (double)(tfrt_benchmark_now_ns() - begin) / 1e3;
  tfrt_async_value_release(argument);
  if (status) return status;
  int32_t value = *(const int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(result));
  tfrt_async_value_release(result);
  if (value != expected_result(self)) {
    return tfrt_status_create(TFRT_STATUS_INTERNAL, "@main gave %d", value);
  }
  *out_figure = elapsed / (double)self->size;
  if (self->benchmark->kind == CHAIN) *out_figure /= 0.5 * self->benchmark->threads + 1;
  if (self->benchmark->kind == RESULTS) *out_figure /= RESULTS_OF_CALL;
  return NULL;
}

// The most memory that the host has had that payloads came to, in MiB.
static tfrt_status_t sample_memory(void* state, double* out_figure) {
  const state_t* self = state;
  TFRT_RETURN_IF_ERROR(sample_cluster(state, out_figure));
  TFRT_RETURN_IF_ERROR(tfrt_bench_worker_memory(&self->cluster.workers[1], out_figure));
  *out_figure /= 1024;
  return NULL;
}

static tfrt_status_t open_cluster(const tfrt_benchmark_t* benchmark,
                                  const tfrt_benchmark_files_t* files, int64_t size,
                                  void** out_state) {
  *out_state = &current;
  current = (state_t){.benchmark = benchmark, .size = size};
  uint32_t workers = benchmark->kind == CHAIN ? (uint32_t)benchmark->threads + 1 : 2;
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  append_program(benchmark, size, &text);
  tfrt_status_t status = tfrt_string_builder_status(&text);
  if (!status) {
    status = tfrt_bench_cluster_open(&current.cluster, files->tools, workers,
                                     benchmark->kind == CALL_TLS, tfrt_string_builder_view(&text));
  }
  tfrt_string_builder_deinitialize(&text);
  return status;
}

static void close_cluster(void* state) { tfrt_bench_cluster_close(&((state_t*)state)->cluster); }

// --- Starting ------------------------------------------------------------------------

static tfrt_status_t open_start(const tfrt_benchmark_t* benchmark,
                                const tfrt_benchmark_files_t* files, int64_t size,
                                void** out_state) {
  *out_state = &current;
  current = (state_t){.benchmark = benchmark, .size = size, .tools = files->tools};
  if (benchmark->kind != RUN) return NULL;
  static const char kProgram[] =
      "func.func @main() -> i32 {\n"
      "  %v = tfrt.constant.i32 42\n"
      "  %w = tfrt.call @same(%v) {host = 1 : i32} : (i32) -> (i32)\n"
      "  tfrt.return %w : i32\n"
      "}\n"
      "func.func @same(%v: i32) -> i32 {\n"
      "  tfrt.return %v : i32\n"
      "}\n";
  strcpy(current.program_path, "/tmp/tfrt_bench_XXXXXX");
  int file = mkstemp(current.program_path);
  if (file < 0) return tfrt_status_create(TFRT_STATUS_UNKNOWN, "no file in /tmp");
  close(file);
  tfrt_status_t status = tfrt_file_write(current.program_path, kProgram, sizeof(kProgram) - 1);
  if (status) unlink(current.program_path);
  return status;
}

static void close_start(void* state) {
  const state_t* self = state;
  if (self->benchmark->kind == RUN) unlink(self->program_path);
}

// From nothing to a worker that listens, in milliseconds.
static tfrt_status_t sample_worker_start(void* state, double* out_figure) {
  const state_t* self = state;
  tfrt_bench_worker_t worker;
  int64_t begin = tfrt_benchmark_now_ns();
  TFRT_RETURN_IF_ERROR(tfrt_bench_worker_start(&worker, self->tools, NULL));
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / 1e6;
  tfrt_bench_worker_stop(&worker);
  return NULL;
}

// The resident memory of a listening worker, in MiB.
static tfrt_status_t sample_worker_memory(void* state, double* out_figure) {
  const state_t* self = state;
  tfrt_bench_worker_t worker;
  TFRT_RETURN_IF_ERROR(tfrt_bench_worker_start(&worker, self->tools, NULL));
  tfrt_status_t status = tfrt_bench_worker_memory(&worker, out_figure);
  *out_figure /= 1024;
  tfrt_bench_worker_stop(&worker);
  return status;
}

// `tfrt run --local N`, from nothing to the first result, in milliseconds: the line with it is
// what the tool prints.
static tfrt_status_t sample_run(void* state, double* out_figure) {
  const state_t* self = state;
  char tool[PATH_MAX];
  char count[16];
  snprintf(tool, sizeof(tool), "%s/tfrt", self->tools);
  snprintf(count, sizeof(count), "%" PRId64, self->size);
  const char* arguments[] = {tool, "run", self->program_path, "--local", count, NULL};
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0) return tfrt_status_create(TFRT_STATUS_UNKNOWN, "no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  pid_t process = 0;
  int64_t begin = tfrt_benchmark_now_ns();
  int error = posix_spawn(&process, tool, &actions, NULL, (char* const*)arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(output[1]);
  char byte = 0;
  bool is_told = !error && read(output[0], &byte, 1) == 1;
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / 1e6;
  // The rest is taken, so that the tool can end.
  char rest[256];
  while (is_told && read(output[0], rest, sizeof(rest)) > 0) {
  }
  close(output[0]);
  int code = -1;
  if (!error) waitpid(process, &code, 0);
  if (is_told && WIFEXITED(code) && WEXITSTATUS(code) == 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "%s run --local %s failed", tool, count);
}

// --- The table -----------------------------------------------------------------------

// |N|: callees of a chain, MiB of a payload.
#define PLACED(NAME, UNIT, KIND, N, SIZE, SMALL_SIZE, LIMIT, IS_BOUND)                           \
  {                                                                                              \
    .name = "cluster/" NAME, .unit = UNIT, .size = SIZE, .small_size = SMALL_SIZE, .kind = KIND, \
    .threads = N, .is_bound = IS_BOUND, .limit = LIMIT, .open = open_cluster,                    \
    .sample = sample_cluster, .close = close_cluster                                             \
  }
#define BENCHMARK(NAME, UNIT, KIND, N, SIZE, SMALL_SIZE, LIMIT) \
  PLACED(NAME, UNIT, KIND, N, SIZE, SMALL_SIZE, LIMIT, false)
#define BOUND_CHAIN(NAME, N, SIZE, SMALL_SIZE) \
  PLACED(NAME, "us", CHAIN, N, SIZE, SMALL_SIZE, "transport/grpc_ping_pong_64_bound", true)

#define MEMORY(NAME, N)                                                                         \
  {                                                                                             \
    .name = "cluster/" NAME, .unit = "MiB", .size = 5, .small_size = 1, .kind = PAYLOAD_MEMORY, \
    .threads = N, .open = open_cluster, .sample = sample_memory, .close = close_cluster         \
  }

#define START(NAME, UNIT, KIND, SIZE, SMALL_SIZE, SAMPLE)                                        \
  {                                                                                              \
    .name = "cluster/" NAME, .unit = UNIT, .size = SIZE, .small_size = SMALL_SIZE, .kind = KIND, \
    .open = open_start, .sample = SAMPLE, .close = close_start                                   \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("call_64", "us", CALL, 1, 2000, 5, "transport/grpc_ping_pong_64"),
    BENCHMARK("call_64_tls", "us", CALL_TLS, 1, 2000, 5, "transport/grpc_ping_pong_64_tls"),
    BENCHMARK("call_of_many", "us", CALLS, 0, 20000, 20, "transport/unary_of_many"),
    BENCHMARK("result_of_many", "us", RESULTS, 0, 20, 1, "transport/one_way_64"),
    BENCHMARK("chain_over_2", "us", CHAIN, 2, 500, 3, "transport/grpc_ping_pong_64"),
    BENCHMARK("chain_over_4", "us", CHAIN, 4, 250, 2, "transport/grpc_ping_pong_64"),
    BENCHMARK("chain_over_8", "us", CHAIN, 8, 100, 1, "transport/grpc_ping_pong_64"),
    BOUND_CHAIN("chain_over_2_bound", 2, 500, 3),
    BOUND_CHAIN("chain_over_4_bound", 4, 250, 2),
    BOUND_CHAIN("chain_over_8_bound", 8, 100, 1),
    BENCHMARK("payload_1_mib", "us", PAYLOAD, 1, 200, 2, "limit/tcp_1_mib"),
    BENCHMARK("payload_64_mib", "us", PAYLOAD, 64, 5, 1, "limit/tcp_64_mib"),
    MEMORY("memory_of_payload_64_mib", 64),
    START("worker_start", "ms", WORKER_START, 1, 1, sample_worker_start),
    START("worker_memory", "MiB", WORKER_MEMORY, 1, 1, sample_worker_memory),
    START("first_result_of_2", "ms", RUN, 2, 2, sample_run),
    START("first_result_of_8", "ms", RUN, 8, 3, sample_run),
    START("first_result_of_64", "ms", RUN, 64, 4, sample_run),
};

tfrt_benchmark_group_t tfrt_cluster_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
