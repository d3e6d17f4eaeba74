// SPDX-License-Identifier: Apache-2.0
//
// The memory of calls that wait: how much the heap grows for each while its argument is late.
#include <malloc.h>

#include "tests/bench/bench_host.h"
#include "tests/bench/benchmark.h"

enum { FIVE_KERNELS, FIFTY_KERNELS };

typedef struct state_s {
  tfrt_bench_host_t host;
  int64_t size;
  int32_t kernels;
  tfrt_async_value_t** results;  // [size]
} state_t;

static state_t current;

// Starts all calls with |argument|, which is late, and returns by how many bytes the heap grew.
static int64_t start_calls(state_t* self, tfrt_async_value_t* argument) {
  tfrt_execution_context_t context =
      tfrt_host_context_execution(self->host.host, self->host.request);
  size_t before = mallinfo2().uordblks;
  for (int64_t i = 0; i < self->size; ++i) {
    tfrt_function_execute(self->host.main, &context, &argument, &self->results[i]);
  }
  return (int64_t)(mallinfo2().uordblks - before);
}

static tfrt_status_t finish_calls(state_t* self) {
  tfrt_work_queue_await(self->host.host->work_queue, self->results, (size_t)self->size);
  tfrt_work_queue_quiesce(self->host.host->work_queue);
  int64_t right = 0;
  for (int64_t i = 0; i < self->size; ++i) {
    tfrt_async_value_t* value = tfrt_async_value_resolved(self->results[i]);
    right += !tfrt_async_value_is_error(value) &&
             *(const int32_t*)tfrt_async_value_payload(value) == self->kernels;
    tfrt_async_value_release(self->results[i]);
  }
  if (right == self->size) return NULL;
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "%lld calls gave the right result, not %lld",
                            (long long)right, (long long)self->size);
}

static tfrt_status_t sample(void* state, double* out_figure) {
  state_t* self = state;
  tfrt_async_value_t* argument = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  if (!argument) return tfrt_status_out_of_memory();
  *out_figure = (double)start_calls(self, argument) / (double)self->size;
  *(int32_t*)tfrt_async_value_payload(argument) = 0;
  tfrt_async_value_set_available(argument);
  tfrt_status_t status = finish_calls(self);
  tfrt_async_value_release(argument);
  return status;
}

static void append_text(int32_t kernels, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out,
                                  "func.func @main(%v0: i32) -> i32 {\n"
                                  "  %c = tfrt.constant.i32 1\n");
  for (int32_t i = 0; i < kernels; ++i) {
    tfrt_string_builder_append_format(out, "  %%v%d = tfrt.add.i32 %%v%d, %%c\n", i + 1, i);
  }
  tfrt_string_builder_append_format(out, "  tfrt.return %%v%d : i32\n}\n", kernels);
}

static void close_calls(void* state) {
  state_t* self = state;
  tfrt_bench_host_close(&self->host);
  tfrt_allocator_free(tfrt_allocator_system(), self->results,
                      (size_t)self->size * sizeof(*self->results));
}

static tfrt_status_t open_calls(const tfrt_benchmark_t* benchmark,
                                const tfrt_benchmark_files_t* files, int64_t size,
                                void** out_state) {
  (void)files;
  *out_state = &current;
  current = (state_t){.size = size, .kernels = benchmark->kind == FIVE_KERNELS ? 5 : 50};
  current.results = tfrt_allocator_allocate_array(tfrt_allocator_system(), (size_t)size,
                                                  sizeof(*current.results));
  if (!current.results) return tfrt_status_out_of_memory();
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  append_text(current.kernels, &text);
  tfrt_status_t status = tfrt_string_builder_status(&text);
  if (!status) status = tfrt_bench_host_open(&current.host, 0, tfrt_string_builder_view(&text));
  tfrt_string_builder_deinitialize(&text);
  if (status) close_calls(&current);
  return status;
}

// --- The table ---------------------------------------------------------------

#define BENCHMARK(NAME, KIND)                                                                \
  {                                                                                          \
    .name = "memory/" NAME, .unit = "byte", .size = 10000, .small_size = 1000, .kind = KIND, \
    .open = open_calls, .sample = sample, .close = close_calls                               \
  }

static const tfrt_benchmark_t benchmarks[] = {
    BENCHMARK("call_in_flight_of_5_kernels", FIVE_KERNELS),
    BENCHMARK("call_in_flight_of_50_kernels", FIFTY_KERNELS),
};

tfrt_benchmark_group_t tfrt_memory_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
