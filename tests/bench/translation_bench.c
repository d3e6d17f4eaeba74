// SPDX-License-Identifier: Apache-2.0
//
// Text to BEF, and BEF to a program that can be run: time and memory for each op.
#include "host_runtime/base/counting_allocator.h"
#include "tests/bench/bench_host.h"
#include "tests/bench/bench_program.h"
#include "tests/bench/benchmark.h"

enum { TRANSLATE, TRANSLATE_UNCHAINED, LOAD, LOADED_BYTES };

// Tensors of the program without chains.
#define TENSORS 1000

typedef struct state_s {
  const tfrt_benchmark_t* benchmark;
  int64_t size;
  tfrt_string_builder_t text;
  tfrt_bench_host_t host;
  void* bytes;  // the program as BEF
  size_t byte_count;
} state_t;

static state_t current;

// Appends a program of |size| ops without chains that fill, add and read tensors in turn.
static void append_unchained(int64_t size, tfrt_string_builder_t* text) {
  tfrt_string_builder_append_text(text, "func.func @main() {\n");
  for (int i = 0; i < TENSORS; ++i) {
    tfrt_string_builder_append_format(
        text, "  %%t%d = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]\n", i);
  }
  for (int64_t i = 0; i < size; ++i) {
    // Steps without a common divisor with the number of tensors.
    int first = (int)(i * 7 % TENSORS);
    int second = (int)(i * 13 % TENSORS);
    if (i % 3 == 0) {
      tfrt_string_builder_append_format(
          text, "  tfrt_dht.fill_tensor_with_constant.f32 %%t%d 1.0 : f32\n", first);
    } else if (i % 3 == 1) {
      tfrt_string_builder_append_format(
          text,
          "  \"tfrt_test.add_inplace.f32\"(%%t%d, %%t%d) : (!tfrt_tensor.tensor, "
          "!tfrt_tensor.tensor) -> ()\n",
          first, second);
    } else {
      tfrt_string_builder_append_format(text, "  tfrt_dht.print_tensor %%t%d\n", second);
    }
  }
  tfrt_string_builder_append_text(text, "  tfrt.return\n}\n");
}

static tfrt_status_t sample_translate(void* state, double* out_figure) {
  state_t* self = state;
  void* bytes = NULL;
  size_t size = 0;
  int64_t begin = tfrt_benchmark_now_ns();
  TFRT_RETURN_IF_ERROR(tfrt_bench_translate(tfrt_string_builder_view(&self->text), &bytes, &size));
  *out_figure = (double)(tfrt_benchmark_now_ns() - begin) / (double)self->size;
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
  if (size == self->byte_count) return NULL;
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "%zu bytes came out, not %zu", size,
                            self->byte_count);
}

static tfrt_status_t sample_load(void* state, double* out_figure) {
  state_t* self = state;
  tfrt_counting_allocator_t counts;
  tfrt_counting_allocator_initialize(&counts, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_allocator_t allocator = tfrt_counting_allocator_interface(&counts);
  tfrt_bef_file_t* file = NULL;
  tfrt_program_t* program = NULL;
  int64_t begin = tfrt_benchmark_now_ns();
  TFRT_RETURN_IF_ERROR(tfrt_bef_file_create(self->bytes, self->byte_count, allocator, &file));
  tfrt_status_t status = tfrt_program_create(file, self->host.host->registry, allocator, &program);
  tfrt_bef_file_release(file);
  TFRT_RETURN_IF_ERROR(status);
  int64_t elapsed = tfrt_benchmark_now_ns() - begin;
  int64_t bytes = tfrt_counting_allocator_counts(&counts).current_bytes;
  bool found = tfrt_program_find_function(program, "main");
  tfrt_program_release(program);
  double figure = self->benchmark->kind == LOAD ? (double)elapsed : (double)bytes;
  *out_figure = figure / (double)self->size;
  return found ? NULL : tfrt_status_create(TFRT_STATUS_INTERNAL, "'main' was not found");
}

static void close_text(void* state) {
  state_t* self = state;
  tfrt_bench_host_close(&self->host);
  tfrt_allocator_free(tfrt_allocator_system(), self->bytes, self->byte_count);
  tfrt_string_builder_deinitialize(&self->text);
}

static tfrt_status_t open_text(const tfrt_benchmark_t* benchmark,
                               const tfrt_benchmark_files_t* files, int64_t size,
                               void** out_state) {
  (void)files;
  *out_state = &current;
  current = (state_t){.benchmark = benchmark, .size = size};
  tfrt_string_builder_initialize(&current.text, tfrt_allocator_system());
  if (benchmark->kind == TRANSLATE_UNCHAINED) {
    append_unchained(size, &current.text);
  } else {
    tfrt_bench_program_append(TFRT_BENCH_CHAIN, size, &current.text);
  }
  tfrt_status_t status = tfrt_string_builder_status(&current.text);
  if (!status) status = tfrt_bench_host_open(&current.host, 0, tfrt_string_view_make(NULL, 0));
  if (!status) {
    status = tfrt_bench_translate(tfrt_string_builder_view(&current.text), &current.bytes,
                                  &current.byte_count);
  }
  if (status) close_text(&current);
  return status;
}

#define BENCHMARK(NAME, UNIT, KIND, SIZE, TFRT, SAMPLE)                                      \
  {                                                                                          \
    .name = "translation/" NAME, .unit = UNIT, .size = SIZE, .small_size = 20, .tfrt = TFRT, \
    .kind = KIND, .open = open_text, .sample = SAMPLE, .close = close_text                   \
  }

static const tfrt_benchmark_t benchmarks[] = {
    // TFRT's are of whole processes, less what a trivial program takes.
    BENCHMARK("translate_op_of_10k", "ns", TRANSLATE, 10000, 2100, sample_translate),
    BENCHMARK("translate_op_of_100k", "ns", TRANSLATE, 100000, 3270, sample_translate),
    BENCHMARK("translate_unchained_op_of_100k", "ns", TRANSLATE_UNCHAINED, 100000, 0,
              sample_translate),
    BENCHMARK("load_op_of_10k", "ns", LOAD, 10000, 0, sample_load),
    BENCHMARK("load_op_of_100k", "ns", LOAD, 100000, 0, sample_load),
    BENCHMARK("memory_of_loaded_op", "byte", LOADED_BYTES, 100000, 0, sample_load),
};

tfrt_benchmark_group_t tfrt_translation_benchmarks(void) {
  return (tfrt_benchmark_group_t){benchmarks, TFRT_ARRAY_SIZE(benchmarks)};
}
