// SPDX-License-Identifier: Apache-2.0
//
// The delay of small calls behind much other traffic: null calls, one after the other, from this
// process to a worker while a big tensor goes there, too. The figure is the time that 99 of a
// hundred don't exceed; transport_bench.c has the same of a bare stream beside another one that
// carries as many bytes.
//
// Here the calls are starts of a client, each begun by the thread that has read the result of the
// one before: so they last just as long as the tensor is under way.
#include <stdatomic.h>
#include <string.h>

#include "host_runtime/async/blocking_wait.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/tensor/dense_host_tensor.h"
#include "host_runtime/tensor/tensor_types.h"
#include "tests/bench/bench_cluster.h"
#include "tests/bench/benchmark.h"
#include "tests/bench/round_trips.h"

#define PAYLOAD_SIZE 64  // of the string that goes with each call
#define NUMBERS_OF_MEBIBYTE 262144

// @main is the null call.
static const char kProgram[] =
    "func.func @main(%s: !tfrt.string) -> !tfrt.string {\n"
    "  tfrt.return %s : !tfrt.string\n"
    "}\n"
    "func.func @length(%t: !tfrt_tensor.tensor) -> i32 {\n"
    "  %axis = tfrt_tensor.common_dim %t, %t axis 0\n"
    "  tfrt.return %axis : i32\n"
    "}\n";

typedef struct state_s {
  tfrt_bench_cluster_t cluster;
  int64_t size;  // of the tensor, in MiB
  uint32_t length;
  tfrt_async_value_t* tensor;  // +1, like all values
  tfrt_async_value_t* text;
  tfrt_async_value_t* answer;  // of the call that is away
  tfrt_task_t on_answer;
  tfrt_async_value_t* over;  // a chain: the last call is back, or an error
  atomic_bool is_moved;      // the call that is away is the last one
  tfrt_bench_round_trips_t calls;
} state_t;

static state_t current;

// --- Calls -----------------------------------------------------------------------

static void start(uint32_t function, tfrt_async_value_t* argument,
                  tfrt_async_value_t** out_result) {
  size_t size = 0;
  const char* bytes = tfrt_bef_file_bytes(current.cluster.file, &size);
  const tfrt_client_start_t options = {.program = tfrt_string_view_make(bytes, size),
                                       .function = function,
                                       .arguments = &argument,
                                       .argument_count = 1,
                                       .result_count = 1};
  tfrt_client_start(current.cluster.client, &options, out_result);
}

static void call(void) {
  tfrt_bench_round_trips_leave(&current.calls);
  start(current.cluster.main, current.text, &current.answer);
  tfrt_async_value_and_then(current.answer, &current.on_answer);
}

static void on_answer(tfrt_task_t* task) {
  (void)task;
  tfrt_bench_round_trips_come_back(&current.calls);
  tfrt_async_value_t* answer = current.answer;
  // Relaxed: a call more or less.
  bool is_last = atomic_load_explicit(&current.is_moved, memory_order_relaxed);
  if (tfrt_async_value_is_error(answer)) {
    tfrt_async_value_set_error(current.over, tfrt_async_value_error(answer));
  } else if (is_last) {
    tfrt_async_value_set_available(current.over);
  } else {
    call();
  }
  tfrt_async_value_release(answer);
}

// Moves the tensor and returns its length, or the error.
static tfrt_status_t move_tensor(int32_t* out_length) {
  tfrt_async_value_t* length = NULL;
  start(current.length, current.tensor, &length);
  tfrt_blocking_wait(&length, 1);
  tfrt_status_t status = NULL;
  if (tfrt_async_value_is_error(length)) {
    status = tfrt_status_retain(tfrt_async_value_error(length));
  } else {
    *out_length = *(const int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(length));
  }
  tfrt_async_value_release(length);
  return status;
}

// One sample: the 99th percentile in microseconds.
static tfrt_status_t sample(void* state, double* out_figure) {
  (void)state;
  current.calls.count = 0;
  atomic_store_explicit(&current.is_moved, false, memory_order_relaxed);
  tfrt_task_initialize(&current.on_answer, on_answer);
  current.over = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  call();
  int32_t length = 0;
  tfrt_status_t status = move_tensor(&length);
  atomic_store_explicit(&current.is_moved, true, memory_order_relaxed);
  tfrt_blocking_wait(&current.over, 1);
  if (!status && tfrt_async_value_is_error(current.over)) {
    status = tfrt_status_retain(tfrt_async_value_error(current.over));
  }
  tfrt_async_value_release(current.over);
  if (status) return status;
  if (length != current.size * NUMBERS_OF_MEBIBYTE) {
    return tfrt_status_create(TFRT_STATUS_INTERNAL, "@length gave %d", length);
  }
  *out_figure = tfrt_bench_round_trips_percentile(&current.calls, 99);
  return NULL;
}

// --- Life ------------------------------------------------------------------------

static tfrt_status_t make_tensor(int64_t mebibytes, tfrt_async_value_t** out_tensor) {
  const int64_t dims[1] = {mebibytes * NUMBERS_OF_MEBIBYTE};
  const int32_t seven = 7;
  tfrt_shape_t shape;
  tfrt_dense_host_tensor_t tensor;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, 1, &shape));
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_I32, &shape, tfrt_allocator_system(), &tensor));
  tfrt_dense_host_tensor_fill(&tensor, &seven);
  *out_tensor = tfrt_async_value_create_tensor_take(&tensor);
  return NULL;
}

static void close_crowd(void* state) {
  (void)state;
  tfrt_async_value_release(current.text);
  tfrt_async_value_release(current.tensor);
  tfrt_bench_cluster_close(&current.cluster);
}

static tfrt_status_t open_crowd(const tfrt_benchmark_t* benchmark,
                                const tfrt_benchmark_files_t* files, int64_t size,
                                void** out_state) {
  (void)benchmark;
  *out_state = &current;
  memset(&current, 0, sizeof(current));
  current.size = size;
  TFRT_RETURN_IF_ERROR(tfrt_bench_cluster_open(&current.cluster, files->tools, 1, false,
                                               tfrt_string_view_of(kProgram)));
  current.length = current.cluster.main == 0;
  char text[PAYLOAD_SIZE];
  memset(text, 'x', sizeof(text));
  current.text = tfrt_async_value_create_string(tfrt_string_view_make(text, sizeof(text)));
  tfrt_status_t status = make_tensor(size, &current.tensor);
  if (status) close_crowd(NULL);
  return status;
}

static const tfrt_benchmark_t benchmarks[] = {
    {.name = "cluster/call_p99_beside_4_gib",
     .unit = "us",
     .size = 4096,
     .small_size = 2,
     .limit = "transport/ping_pong_64_p99_beside_4_gib",
     .open = open_crowd,
     .sample = sample,
     .close = close_crowd},
};

tfrt_benchmark_group_t tfrt_crowd_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
