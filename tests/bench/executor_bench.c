// SPDX-License-Identifier: Apache-2.0
//
// Programs that are loaded already: what the executor needs for a kernel, a call, a turn.
#include "tests/bench/bench_host.h"
#include "tests/bench/bench_program.h"
#include "tests/bench/benchmark.h"

typedef struct state_s {
  tfrt_bench_host_t host;
  int32_t expected;
  int64_t units;
} state_t;

static state_t current;

static tfrt_status_t sample(void* state, double* out_figure) {
  state_t* self = state;
  tfrt_async_value_t* result = NULL;
  int64_t begin = tfrt_benchmark_now_ns();
  tfrt_bench_host_call(&self->host, NULL, &result, 1);
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / (double)self->units;
  tfrt_async_value_t* value = tfrt_async_value_resolved(result);
  tfrt_status_t status = NULL;
  if (tfrt_async_value_is_error(value)) {
    status = tfrt_status_retain(tfrt_async_value_error(value));
  } else if (*(const int32_t*)tfrt_async_value_payload(value) != self->expected) {
    status = tfrt_status_create(TFRT_STATUS_INTERNAL, "%d came out, not %d",
                                *(const int32_t*)tfrt_async_value_payload(value), self->expected);
  }
  tfrt_async_value_release(result);
  return status;
}

static tfrt_status_t open_program(const tfrt_benchmark_t* benchmark,
                                  const tfrt_benchmark_files_t* files, int64_t size,
                                  void** out_state) {
  (void)files;
  tfrt_bench_program_t program = (tfrt_bench_program_t)benchmark->kind;
  *out_state = &current;
  current.expected = tfrt_bench_program_result(program, size);
  current.units = tfrt_bench_program_units(program, size);
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_bench_program_append(program, size, &text);
  tfrt_status_t status = tfrt_string_builder_status(&text);
  if (!status) {
    status =
        tfrt_bench_host_open(&current.host, benchmark->threads, tfrt_string_builder_view(&text));
  }
  tfrt_string_builder_deinitialize(&text);
  return status;
}

static void close_program(void* state) { tfrt_bench_host_close(&((state_t*)state)->host); }

#define BENCHMARK(NAME, PROGRAM, SIZE, SMALL_SIZE, THREADS, TFRT)                                 \
  {                                                                                               \
    .name = "executor/" NAME, .unit = "ns", .size = SIZE, .small_size = SMALL_SIZE, .tfrt = TFRT, \
    .kind = PROGRAM, .threads = THREADS, .open = open_program, .sample = sample,                  \
    .close = close_program                                                                        \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("chain_1k", TFRT_BENCH_CHAIN, 1000, 10, 0, 32.0),
    BENCHMARK("chain_10k", TFRT_BENCH_CHAIN, 10000, 20, 0, 30.0),
    BENCHMARK("chain_100k", TFRT_BENCH_CHAIN, 100000, 30, 0, 29.9),
    BENCHMARK("chain_1m", TFRT_BENCH_CHAIN, 1000000, 40, 0, 0),
    // The cost of a kernel must not grow with the number of kernels. The translation takes the
    // memory.
    {.name = "executor/chain_10m",
     .unit = "ns",
     .size = 10000000,
     .small_size = 40,
     .memory = INT64_C(10) << 30,
     .limit = "executor/chain_1k",
     .kind = TFRT_BENCH_CHAIN,
     .open = open_program,
     .sample = sample,
     .close = close_program},
    BENCHMARK("chain_100k_2_threads", TFRT_BENCH_CHAIN, 100000, 30, 2, 34.6),
    BENCHMARK("wide_100k", TFRT_BENCH_WIDE, 100000, 30, 0, 89.3),
    BENCHMARK("wide_100k_2_threads", TFRT_BENCH_WIDE, 100000, 30, 2, 633),
    BENCHMARK("lanes_2x50k", TFRT_BENCH_LANES, 100000, 30, 0, 30.4),
    BENCHMARK("lanes_2x50k_2_threads", TFRT_BENCH_LANES, 100000, 30, 2, 45.8),
    BENCHMARK("tree_100k", TFRT_BENCH_TREE, 50000, 30, 0, 55.8),
    BENCHMARK("late_chain_100k", TFRT_BENCH_LATE_CHAIN, 100000, 30, 0, 30.2),
    BENCHMARK("late_wide_100k", TFRT_BENCH_LATE_WIDE, 100000, 30, 0, 88.7),
    BENCHMARK("late_wide_100k_2_threads", TFRT_BENCH_LATE_WIDE, 100000, 30, 2, 252),
    BENCHMARK("async_tree_100k", TFRT_BENCH_ASYNC_TREE, 50000, 30, 0, 158),
    BENCHMARK("async_tree_100k_1_thread", TFRT_BENCH_ASYNC_TREE, 50000, 30, 1, 0),
    BENCHMARK("async_tree_100k_2_threads", TFRT_BENCH_ASYNC_TREE, 50000, 30, 2, 256),
    BENCHMARK("async_chain_100k", TFRT_BENCH_ASYNC_CHAIN, 100000, 30, 0, 151),
    BENCHMARK("async_chain_100k_1_thread", TFRT_BENCH_ASYNC_CHAIN, 100000, 30, 1, 146),
    BENCHMARK("async_chain_100k_2_threads", TFRT_BENCH_ASYNC_CHAIN, 100000, 30, 2, 430),
    BENCHMARK("async_chain_100k_16_threads", TFRT_BENCH_ASYNC_CHAIN, 100000, 30, 16, 0),
    BENCHMARK("async_chain_100k_64_threads", TFRT_BENCH_ASYNC_CHAIN, 100000, 30, 64, 0),
    BENCHMARK("async_wide_100k", TFRT_BENCH_ASYNC_WIDE, 100000, 30, 0, 191),
    BENCHMARK("async_wide_100k_1_thread", TFRT_BENCH_ASYNC_WIDE, 100000, 30, 1, 475),
    BENCHMARK("async_wide_100k_2_threads", TFRT_BENCH_ASYNC_WIDE, 100000, 30, 2, 902),
    BENCHMARK("async_wide_100k_64_threads", TFRT_BENCH_ASYNC_WIDE, 100000, 30, 64, 0),
    // Empty regions of async.execute, by a loop. docs/mlir_async.md has figures of stock MLIR.
    BENCHMARK("region_group_100k", TFRT_BENCH_REGION_GROUP, 100000, 30, 0, 0),
    BENCHMARK("region_group_100k_2_threads", TFRT_BENCH_REGION_GROUP, 100000, 30, 2, 0),
    BENCHMARK("region_chain_100k", TFRT_BENCH_REGION_CHAIN, 100000, 30, 0, 0),
    BENCHMARK("region_chain_100k_2_threads", TFRT_BENCH_REGION_CHAIN, 100000, 30, 2, 0),
    BENCHMARK("call_chain_100k", TFRT_BENCH_CALL_CHAIN, 100000, 30, 0, 171),
    BENCHMARK("fib_25", TFRT_BENCH_FIB, 25, 8, 0, 1430),
    BENCHMARK("fib_25_2_threads", TFRT_BENCH_FIB, 25, 8, 2, 830),
    BENCHMARK("repeat_1m", TFRT_BENCH_REPEAT, 1000000, 50, 0, 165),
    BENCHMARK("while_1m", TFRT_BENCH_WHILE, 1000000, 50, 0, 227),
};

tfrt_benchmark_group_t tfrt_executor_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
