// SPDX-License-Identifier: Apache-2.0
//
// The digits' network of examples/mnist as a program, beside the maths library's primitives for
// it in a plain loop: what is more than that is the runtime's.
#include <math.h>

#include "host_runtime/tensor/tensor_types.h"
#include "tests/bench/bench_host.h"
#include "tests/bench/benchmark.h"
#include "tests/kernels/tensor/onednn/plain_network.h"

enum { PLAIN, PROGRAM };

#define T "!tfrt_tensor.tensor"

static const char network_text[] =
    "func.func @main(%x: " T ", %w1: " T ", %b1: " T ", %w2: " T ", %b2: " T ", %w3: " T ", %b3: " T
    ", %w4: " T ", %b4: " T ") -> " T
    " {\n"
    "  %conv1 = tfrt_tensor.conv2d %x, %w1, %b1 {relu = true}\n"
    "  %pool1 = tfrt_tensor.max_pool2d %conv1 {strides = [2 : i64, 2 : i64], window = [2 : i64, 2 "
    ": i64]}\n"
    "  %conv2 = tfrt_tensor.conv2d %pool1, %w2, %b2 {relu = true}\n"
    "  %pool2 = tfrt_tensor.max_pool2d %conv2 {strides = [2 : i64, 2 : i64], window = [2 : i64, 2 "
    ": i64]}\n"
    "  %flat = tfrt_tensor.reshape %pool2 [-1 : i64, 512 : i64]\n"
    "  %dense1 = tfrt_tensor.linear %flat, %w3, %b3 {relu = true}\n"
    "  %scores = tfrt_tensor.linear %dense1, %w4, %b4\n"
    "  tfrt.return %scores : " T
    "\n"
    "}\n";

// The shapes of the arguments of @main: pixels, then weights; 0 is the number of digits.
static const int64_t shapes[1 + PLAIN_NETWORK_WEIGHT_COUNT][4] = {
    {0, 1, 28, 28}, {16, 1, 5, 5}, {16}, {32, 16, 5, 5}, {32}, {512, 128}, {128}, {128, 10}, {10}};
static const int ranks[] = {4, 4, 1, 4, 1, 2, 1, 2, 1};

typedef struct state_s {
  const tfrt_benchmark_t* benchmark;
  int64_t digits;  // in a batch
  int64_t rounds;  // of one sample
  tfrt_async_value_t* arguments[TFRT_ARRAY_SIZE(ranks)];
  const float* data[TFRT_ARRAY_SIZE(ranks)];
  plain_network_t* plain;
  tfrt_bench_host_t host;
} state_t;

static state_t current;

// --- Samples -----------------------------------------------------------------

// Whether |value| is the scores |expected|.
static tfrt_status_t compare(const state_t* self, tfrt_async_value_t* value,
                             const float* expected) {
  const tfrt_host_tensor_t* tensor = tfrt_async_value_payload(value);
  const float* scores = tfrt_dense_host_tensor_data(&tensor->dense);
  for (int64_t i = 0; i < self->digits * PLAIN_NETWORK_SCORES; ++i) {
    if (fabsf(scores[i] - expected[i]) <= 1e-3f) continue;
    return tfrt_status_create(TFRT_STATUS_INTERNAL, "score %lld is %g, not %g", (long long)i,
                              (double)scores[i], (double)expected[i]);
  }
  return NULL;
}

// Runs the program; its scores are |expected|, unless that is NULL: then nobody looks.
static tfrt_status_t run_program(state_t* self, const float* expected) {
  tfrt_async_value_t* result = NULL;
  tfrt_bench_host_call(&self->host, self->arguments, &result, 1);
  tfrt_async_value_t* value = tfrt_async_value_resolved(result);
  tfrt_status_t status = NULL;
  if (tfrt_async_value_is_error(value)) {
    status = tfrt_status_retain(tfrt_async_value_error(value));
  } else if (expected) {
    status = compare(self, value, expected);
  }
  tfrt_async_value_release(result);
  return status;
}

static tfrt_status_t sample(void* state, double* out_figure) {
  state_t* self = state;
  const float* scores = NULL;
  int64_t begin = tfrt_benchmark_now_ns();
  for (int64_t i = 0; i < self->rounds; ++i) {
    tfrt_status_t status = self->benchmark->kind == PLAIN
                               ? plain_network_run(self->plain, self->data[0], &scores)
                               : run_program(self, NULL);
    TFRT_RETURN_IF_ERROR(status);
  }
  int64_t elapsed = tfrt_benchmark_now_ns() - begin;
  *out_figure = (double)elapsed / 1e3 / (double)(self->rounds * self->digits);
  TFRT_RETURN_IF_ERROR(plain_network_run(self->plain, self->data[0], &scores));
  return run_program(self, scores);
}

// --- Arguments ---------------------------------------------------------------

// Numbers that are as big as trained weights, and the same in each run.
static void fill(float* data, int64_t count, int64_t fan_in) {
  uint32_t random = 1;
  for (int64_t i = 0; i < count; ++i) {
    random = random * 1664525u + 1013904223u;
    data[i] = ((float)(random >> 8) / (float)(1 << 24) - 0.5f) / sqrtf((float)fan_in);
  }
}

static tfrt_status_t make_argument(state_t* self, size_t index) {
  int64_t dims[4];
  for (int i = 0; i < ranks[index]; ++i) {
    dims[i] = shapes[index][i] == 0 ? self->digits : shapes[index][i];
  }
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make(dims, ranks[index], &shape));
  tfrt_dense_host_tensor_t tensor;
  TFRT_RETURN_IF_ERROR(
      tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, &shape, tfrt_allocator_system(), &tensor));
  float* data = tfrt_dense_host_tensor_data(&tensor);
  int64_t count = tfrt_shape_element_count(&shape);
  fill(data, count, ranks[index] == 1 ? 16 : count / dims[index < 5 ? 0 : 1]);
  self->data[index] = data;
  self->arguments[index] = tfrt_async_value_create_tensor_take(&tensor);
  return NULL;
}

static void close_network(void* state) {
  state_t* self = state;
  plain_network_free(self->plain);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(ranks); ++i) tfrt_async_value_release(self->arguments[i]);
  tfrt_bench_host_close(&self->host);
}

static tfrt_status_t open_network(const tfrt_benchmark_t* benchmark,
                                  const tfrt_benchmark_files_t* files, int64_t size,
                                  void** out_state) {
  (void)files;
  *out_state = &current;
  current = (state_t){.benchmark = benchmark, .digits = size < 50 ? 1 : 50};
  current.rounds = size / current.digits;
  // First, because it makes the type of tensors known.
  tfrt_status_t status = tfrt_bench_host_open(&current.host, 0, tfrt_string_view_of(network_text));
  for (size_t i = 0; !status && i < TFRT_ARRAY_SIZE(ranks); ++i) {
    status = make_argument(&current, i);
  }
  if (!status) status = plain_network_allocate(current.digits, current.data + 1, &current.plain);
  if (status) close_network(&current);
  return status;
}

// --- The table ---------------------------------------------------------------

#define BENCHMARK(NAME, KIND, SIZE, LIMIT)                                               \
  {                                                                                      \
    .name = "digits/" NAME, .unit = "us", .size = SIZE, .small_size = 2, .limit = LIMIT, \
    .kind = KIND, .open = open_network, .sample = sample, .close = close_network         \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("onednn_one_by_one", PLAIN, 49, NULL),
    BENCHMARK("network_one_by_one", PROGRAM, 49, "digits/onednn_one_by_one"),
    BENCHMARK("onednn_by_50", PLAIN, 500, NULL),
    BENCHMARK("network_by_50", PROGRAM, 500, "digits/onednn_by_50"),
};

tfrt_benchmark_group_t tfrt_digits_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
