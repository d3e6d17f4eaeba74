// SPDX-License-Identifier: Apache-2.0
//
// Collectives of worker processes on this machine, over gRPC on the loopback interface: each worker
// runs the same collective many times, each after the one before it.
//
// An all_reduce of many elements stands beside the same ring over bare TCP sockets (ring_bench.c).
// A barrier stands beside round trips of the bare transport: each of its log2 n rounds takes half a
// round trip.
#include <inttypes.h>
#include <stdio.h>

#include "host_runtime/async/builtin_types.h"
#include "tests/bench/bench_cluster.h"
#include "tests/bench/benchmark.h"

enum { BARRIER, ALL_REDUCE, ALL_GATHER, BROADCAST };

typedef struct state_s {
  tfrt_bench_cluster_t cluster;
  const tfrt_benchmark_t* benchmark;
  int64_t size;
} state_t;

static state_t current;

// Workers and operand of a benchmark share its |kind|.
#define KIND(WHAT, ELEMENTS) ((int)(WHAT) << 28 | (int)(ELEMENTS))

static int what(const tfrt_benchmark_t* benchmark) { return benchmark->kind >> 28; }

// In a test there are fewer.
static int elements(const tfrt_benchmark_t* benchmark, int64_t size) {
  int all = benchmark->kind & 0xfffffff;
  return size == benchmark->size ? all : all / 64 + 1;
}

static const char* op_text(const tfrt_benchmark_t* benchmark) {
  switch (what(benchmark)) {
    case BARRIER:
      return "%ch = tfrt_dist.barrier %g, %c";
    case ALL_GATHER:
      return "%x, %ch = tfrt_dist.all_gather %g, %t, %c";
    case BROADCAST:
      return "%x, %ch = tfrt_dist.broadcast %g, %t, %c {root = 0 : i32}";
    default:
      return "%x, %ch = tfrt_dist.all_reduce %g, %t, %c {reduction = \"sum\"}";
  }
}

static void append_program(const tfrt_benchmark_t* benchmark, int64_t size,
                           tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(
      out,
      "func.func @main() -> i32 {\n"
      "  %%ch = tfrt.new.chain\n"
      "  %%l = tfrt_dist.call_all @turns(%%ch) : (!tfrt.chain) -> (!tfrt_dist.list)\n"
      "  %%s = tfrt_dist.list.sum %%l : i32\n"
      "  tfrt.return %%s : i32\n"
      "}\n"
      "func.func @turns(%%ch: !tfrt.chain) -> i32 {\n"
      "  %%g = tfrt_dist.world\n"
      "  %%t = tfrt_dht.create_uninitialized_tensor.f32.1 [%d : i64]\n"
      "  %%c = tfrt_dht.fill_tensor_with_constant.f32 %%t, %%ch 1.0 : f32\n"
      "  %%count = tfrt.constant.i32 %" PRId64
      "\n"
      "  %%r:3 = tfrt.repeat.i32 %%count, %%g, %%t, %%c : !tfrt_dist.group, "
      "!tfrt_tensor.tensor, !tfrt.chain {\n",
      elements(benchmark, size), size);
  tfrt_string_builder_append_format(out,
                                    "    %s\n"
                                    "    tfrt.return %%g, %%t, %%ch : !tfrt_dist.group, "
                                    "!tfrt_tensor.tensor, !tfrt.chain\n"
                                    "  }\n"
                                    "  %%done = \"tfrt_test.identity\"(%%r#2, %%count) : "
                                    "(!tfrt.chain, i32) -> i32\n"
                                    "  tfrt.return %%done : i32\n"
                                    "}\n",
                                    op_text(benchmark));
}

// One collective, in microseconds.
static tfrt_status_t sample_cluster(void* state, double* out_figure) {
  state_t* self = state;
  tfrt_async_value_t* result = NULL;
  int64_t begin = tfrt_benchmark_now_ns();
  TFRT_RETURN_IF_ERROR(tfrt_bench_cluster_call(&self->cluster, NULL, 0, &result));
  double elapsed = (double)(tfrt_benchmark_now_ns() - begin) / 1e3;
  int32_t sum = *(const int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(result));
  tfrt_async_value_release(result);
  if (sum != self->size * self->benchmark->threads) {
    return tfrt_status_create(TFRT_STATUS_INTERNAL, "@main gave %d", sum);
  }
  *out_figure = elapsed / (double)self->size;
  return NULL;
}

static tfrt_status_t open_cluster(const tfrt_benchmark_t* benchmark,
                                  const tfrt_benchmark_files_t* files, int64_t size,
                                  void** out_state) {
  *out_state = &current;
  current = (state_t){.benchmark = benchmark, .size = size};
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  append_program(benchmark, size, &text);
  tfrt_status_t status = tfrt_string_builder_status(&text);
  if (!status) {
    status = tfrt_bench_cluster_open(&current.cluster, files->tools, (uint32_t)benchmark->threads,
                                     false, tfrt_string_builder_view(&text));
  }
  tfrt_string_builder_deinitialize(&text);
  return status;
}

static void close_cluster(void* state) { tfrt_bench_cluster_close(&((state_t*)state)->cluster); }

#define MEBIBYTE (1024 * 1024 / 4)  // in elements

// On |N| workers, with |ELEMENTS| f32 each.
#define BENCHMARK(NAME, WHAT, N, ELEMENTS, SIZE, SMALL_SIZE, LIMIT)                   \
  {                                                                                   \
    .name = "collective/" NAME, .unit = "us", .size = SIZE, .small_size = SMALL_SIZE, \
    .kind = KIND(WHAT, ELEMENTS), .threads = N, .limit = LIMIT, .open = open_cluster, \
    .sample = sample_cluster, .close = close_cluster                                  \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("barrier_of_2", BARRIER, 2, 1, 1000, 3, "transport/ping_pong_64"),
    BENCHMARK("barrier_of_4", BARRIER, 4, 1, 1000, 3, "transport/ping_pong_64"),
    BENCHMARK("barrier_of_8", BARRIER, 8, 1, 500, 2, "transport/ping_pong_64"),
    BENCHMARK("all_reduce_64_b_of_4", ALL_REDUCE, 4, 16, 1000, 3, NULL),
    BENCHMARK("all_reduce_4_kib_of_4", ALL_REDUCE, 4, 1024, 1000, 3, NULL),
    BENCHMARK("all_reduce_16_kib_of_4", ALL_REDUCE, 4, 4096, 500, 3, NULL),
    BENCHMARK("all_reduce_64_kib_of_4", ALL_REDUCE, 4, 16384, 500, 3, NULL),
    BENCHMARK("all_reduce_256_kib_of_4", ALL_REDUCE, 4, 65536, 200, 2, NULL),
    BENCHMARK("all_reduce_1_mib_of_4", ALL_REDUCE, 4, MEBIBYTE, 100, 2, "limit/tcp_ring_1_mib"),
    BENCHMARK("all_reduce_64_mib_of_4", ALL_REDUCE, 4, 64 * MEBIBYTE, 10, 1,
              "limit/tcp_ring_64_mib"),
    BENCHMARK("all_gather_16_mib_of_4", ALL_GATHER, 4, 16 * MEBIBYTE, 3, 1, NULL),
    BENCHMARK("broadcast_256_mib_to_7", BROADCAST, 8, 256 * MEBIBYTE, 2, 1, NULL),
};

tfrt_benchmark_group_t tfrt_collective_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
