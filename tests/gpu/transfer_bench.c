// SPDX-License-Identifier: Apache-2.0
//
// A tensor of one process's device, used on another one's, through the distributed layer: two
// workers on this machine, each with the first GPU. First its memory is lent: beside one copy
// within the device, which is the least that this takes. Then it is sent, which workers can be
// told: beside the least that the way through the memory of the host takes (staged_pipe.h).
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/bench_cluster.h"
#include "tests/gpu/staged_pipe.h"

// Uses per call: all but the first begin when everything is set up.
#define USES 4

// The value of each number of the tensor.
#define NUMBER 7

typedef struct tfrt_transfer_bench_s {
  tfrt_bench_cluster_t cluster;
} tfrt_transfer_bench_t;

// Host 0 makes a tensor; host 1 uses it again and again, each time with a copy of its own, and
// adds its last number.
static void transfer_bench_append_main(tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(
      out,
      "func.func @main() -> i32 {\n"
      "  %%ch0 = tfrt.new.chain\n"
      "  %%t, %%ch1 = tfrt.call @make(%%ch0) {host = 0 : i32, device = \"cuda:0\"} : "
      "(!tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain)\n"
      "  %%zero = tfrt.constant.i32 0\n"
      "  %%true = tfrt.constant.i1 1\n"
      "  %%r:3 = tfrt.while %%true @turn(%%zero, %%t, %%ch1) parallel_iterations(1) : (i32, "
      "!tfrt_gpu.tensor, !tfrt.chain) -> (i32, !tfrt_gpu.tensor, !tfrt.chain)\n"
      "  tfrt.return %%r#0 : i32\n"
      "}\n"
      "func.func @turn(%%v: i32, %%t: !tfrt_gpu.tensor, %%ch: !tfrt.chain) -> (i32, "
      "!tfrt_gpu.tensor, !tfrt.chain, i1) {\n"
      "  %%limit = tfrt.constant.i32 %d\n"
      "  %%w = tfrt.call @use(%%v, %%t, %%ch) {host = 1 : i32, device = \"cuda:0\"} : (i32, "
      "!tfrt_gpu.tensor, !tfrt.chain) -> (i32)\n"
      "  %%again = \"tfrt.lessequal.i32\"(%%w, %%limit) : (i32, i32) -> (i1)\n"
      "  tfrt.return %%w, %%t, %%ch, %%again : i32, !tfrt_gpu.tensor, !tfrt.chain, i1\n"
      "}\n",
      NUMBER * (USES - 1));
}

#define ON_CURRENT_DEVICE                             \
  "  %%device = tfrt_gpu.device.current\n"            \
  "  %%context = tfrt_gpu.context.primary %%device\n" \
  "  %%stream = tfrt_gpu.stream.create %%context\n"

static void transfer_bench_append_make(tfrt_string_builder_t* out, size_t size) {
  tfrt_string_builder_append_format(
      out,
      "func.func @make(%%ch0: !tfrt.chain) -> (!tfrt_gpu.tensor, !tfrt.chain) {\n" ON_CURRENT_DEVICE
      "  %%allocator = tfrt_gpu.allocator.create %%context\n"
      "  %%size = tfrt.constant.i64 %zu\n"
      "  %%buffer = tfrt_gpu.mem.allocate %%allocator, %%stream, %%size, %%ch0\n"
      "  %%number = tfrt.constant.i32 %d\n"
      "  %%ch1 = tfrt_gpu.mem.set %%buffer, %%number, %%stream, %%ch0 : !tfrt_gpu.buffer, i32\n"
      "  %%shape = ts.build_shape [%zu : i64]\n"
      "  %%t = tfrt_gpu.tensor.make.i32 %%buffer, %%shape, %%ch1\n"
      "  tfrt.return %%t, %%ch1 : !tfrt_gpu.tensor, !tfrt.chain\n"
      "}\n",
      size, NUMBER, size / 4);
}

static void transfer_bench_append_use(tfrt_string_builder_t* out, size_t size) {
  tfrt_string_builder_append_format(
      out,
      "func.func @use(%%v: i32, %%t: !tfrt_gpu.tensor, %%ch0: !tfrt.chain) -> i32 "
      "{\n" ON_CURRENT_DEVICE
      "  %%buffer = tfrt_gpu.tensor.get_buffer %%t\n"
      "  %%offset = tfrt.constant.ui64 %zu\n"
      "  %%four = tfrt.constant.ui64 4\n"
      "  %%last = tfrt_gpu.mem.view %%buffer, %%offset, %%four\n"
      "  %%size = tfrt.constant.i64 4\n"
      "  %%here = tfrt_gpu.mem.allocate_host %%context, %%size, %%ch0\n"
      "  %%ch1 = tfrt_gpu.mem.copy %%here, %%last, %%stream, %%ch0 : !tfrt_gpu.buffer, "
      "!tfrt_gpu.buffer\n"
      "  %%ch2 = tfrt_gpu.stream.synchronize %%stream, %%ch1\n"
      "  %%number = tfrt_gpu.mem.load %%here, %%ch2 : i32\n"
      "  %%w = tfrt.add.i32 %%v, %%number\n"
      "  tfrt.return %%w : i32\n"
      "}\n",
      size - 4);
}

// The folder with tfrt_worker: the one named by TFRT_BENCH_TOOLS, or this program's own.
static const char* transfer_bench_tools(void) {
  static char self[PATH_MAX];
  const char* tools = getenv("TFRT_BENCH_TOOLS");
  if (tools) return tools;
  ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
  if (size < 0) return ".";
  self[size] = '\0';
  return dirname(self);
}

static void transfer_bench_open(tfrt_transfer_bench_t* state, size_t size) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  transfer_bench_append_main(&text);
  transfer_bench_append_make(&text, size);
  transfer_bench_append_use(&text, size);
  tfrt_device_bench_ok(tfrt_string_builder_status(&text));
  tfrt_device_bench_ok(tfrt_bench_cluster_open(&state->cluster, transfer_bench_tools(), 2, false,
                                               tfrt_string_builder_view(&text)));
  tfrt_string_builder_deinitialize(&text);
}

static void transfer_bench_call(void* argument) {
  tfrt_transfer_bench_t* state = argument;
  tfrt_async_value_t* result;
  tfrt_device_bench_ok(tfrt_bench_cluster_call(&state->cluster, NULL, 0, &result));
  int32_t sum = *(const int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(result));
  tfrt_async_value_release(result);
  if (sum == NUMBER * USES) return;
  tfrt_device_bench_ok(tfrt_status_create(TFRT_STATUS_DATA_LOSS, "the uses saw %d", sum));
}

// The bytes per nanosecond of a tensor of |size| bytes from worker to worker, which get |flag|.
static double transfer_bench_run(size_t size, const char* flag) {
  tfrt_transfer_bench_t state;
  tfrt_bench_worker_set_flag(flag);
  transfer_bench_open(&state, size);
  double time = tfrt_device_bench_measure(transfer_bench_call, &state) / USES;
  tfrt_bench_cluster_close(&state.cluster);
  tfrt_bench_worker_set_flag(NULL);
  return (double)size / time;
}

// One copy within the device, by the plain driver.
typedef struct tfrt_transfer_bench_copy_s {
  tfrt_device_bench_t* bench;
  tfrt_cuda_address_t target;
  tfrt_cuda_address_t source;
  size_t size;
} tfrt_transfer_bench_copy_t;

static void transfer_bench_copy(void* argument) {
  const tfrt_transfer_bench_copy_t* copy = argument;
  tfrt_device_bench_plain_ok(copy->bench,
                             copy->bench->api.MemcpyAsync(copy->target, copy->source, copy->size,
                                                          copy->bench->plain_streams[0]),
                             "cuMemcpyAsync");
  tfrt_device_bench_finish_plain(copy->bench, 0);
}

static double transfer_bench_run_plain_copy(tfrt_device_bench_t* bench, size_t size) {
  tfrt_transfer_bench_copy_t copy = {.bench = bench, .size = size};
  tfrt_device_bench_plain_ok(bench, bench->api.MemAlloc(&copy.target, size), "cuMemAlloc");
  tfrt_device_bench_plain_ok(bench, bench->api.MemAlloc(&copy.source, size), "cuMemAlloc");
  double time = tfrt_device_bench_measure(transfer_bench_copy, &copy);
  tfrt_device_bench_plain_ok(bench, bench->api.MemFree(copy.target), "cuMemFree");
  tfrt_device_bench_plain_ok(bench, bench->api.MemFree(copy.source), "cuMemFree");
  return (double)size / time;
}

static void transfer_bench_print(const char* way, double plain, double layer) {
  printf("| the device to that of another process, 256 MiB, %s | %.2f GB/s | %.2f GB/s | %.2f |\n",
         way, plain, layer, layer / plain);
}

void tfrt_device_bench_run_transfers(tfrt_device_bench_t* bench) {
  tfrt_staged_pipe_t pipe;
  tfrt_staged_pipe_open(&pipe, bench);
  double plain = (double)pipe.size / tfrt_device_bench_measure(tfrt_staged_pipe_run, &pipe);
  tfrt_staged_pipe_close(&pipe);
  double copied = transfer_bench_run_plain_copy(bench, pipe.size);
  transfer_bench_print("lent", copied, transfer_bench_run(pipe.size, NULL));
  transfer_bench_print("sent", plain, transfer_bench_run(pipe.size, "--lend-memory=false"));
}
