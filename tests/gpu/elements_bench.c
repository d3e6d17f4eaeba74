// SPDX-License-Identifier: Apache-2.0
//
// The bytes per second of kernels that come with the runtime and make little of each element,
// beside those of a copy by the driver: each element read once, each result written once.
#include <stdio.h>
#include <string.h>

#include "tests/gpu/device_bench.h"

extern const char tfrt_standard_kernels_image[];
extern const char tfrt_f16_sm80_kernels_image[];

// More than what any cache has.
#define SIZE ((size_t)256 << 20)
#define SIZE_FOR_SHOW ((size_t)64 << 10)
#define COLUMNS 4096u
#define CALLS 40

typedef enum tfrt_elements_kind_e {
  TFRT_ELEMENTS_FILL,
  TFRT_ELEMENTS_COPY,
  TFRT_ELEMENTS_OF_TWO,
  TFRT_ELEMENTS_ROWS,
} tfrt_elements_kind_t;

typedef struct tfrt_elements_line_s {
  const char* what;
  const char* kernel;  // without its type
  tfrt_elements_kind_t kind;
  int passes;  // over SIZE bytes
} tfrt_elements_line_t;

static const tfrt_elements_line_t lines[] = {
    {"fill", "tfrt_fill", TFRT_ELEMENTS_FILL, 1},
    {"copy", "tfrt_copy", TFRT_ELEMENTS_COPY, 2},
    {"sums of elements", "tfrt_add", TFRT_ELEMENTS_OF_TWO, 3},
    {"products of elements", "tfrt_multiply", TFRT_ELEMENTS_OF_TWO, 3},
    {"sums of rows", "tfrt_sum_rows", TFRT_ELEMENTS_ROWS, 1},
    {"softmax of rows", "tfrt_softmax_rows", TFRT_ELEMENTS_ROWS, 2},
};

typedef struct tfrt_elements_bench_s {
  tfrt_device_bench_t* bench;
  const tfrt_elements_line_t* line;
  tfrt_device_function_t* function;
  tfrt_device_buffer_t* buffers[3];
  size_t size;
  uint32_t element_size;
  int calls;
} tfrt_elements_bench_t;

static void elements_bench_copy(void* argument) {
  tfrt_elements_bench_t* state = argument;
  const tfrt_device_bench_t* bench = state->bench;
  for (int i = 0; i < state->calls; ++i) {
    tfrt_device_bench_plain_ok(
        bench,
        bench->api.MemcpyAsync(state->buffers[1]->address, state->buffers[0]->address, state->size,
                               bench->plain_streams[0]),
        "cuMemcpyAsync");
  }
  tfrt_device_bench_finish_plain(state->bench, 0);
}

static void elements_bench_call(void* argument) {
  tfrt_elements_bench_t* state = argument;
  uint32_t count = (uint32_t)(state->size / state->element_size);
  uint32_t columns = COLUMNS;
  uint32_t zero = 0;
  tfrt_device_argument_t number = {.bytes = &count, .size = sizeof(count)};
  tfrt_device_argument_t row = {.bytes = &columns, .size = sizeof(columns)};
  tfrt_device_argument_t value = {.bytes = &zero, .size = state->element_size};
  tfrt_device_argument_t a = {.buffer = state->buffers[0]};
  tfrt_device_argument_t b = {.buffer = state->buffers[1]};
  tfrt_device_argument_t target = {.buffer = state->buffers[2]};
  const tfrt_device_argument_t arguments[][4] = {[TFRT_ELEMENTS_FILL] = {target, value, number},
                                                 [TFRT_ELEMENTS_COPY] = {a, target, number},
                                                 [TFRT_ELEMENTS_OF_TWO] = {a, b, target, number},
                                                 [TFRT_ELEMENTS_ROWS] = {a, target, row}};
  tfrt_elements_kind_t kind = state->line->kind;
  uint32_t blocks = 16 * state->bench->device->properties.multiprocessor_count;
  tfrt_device_launch_t launch = {
      .grid = {kind == TFRT_ELEMENTS_ROWS ? count / columns : blocks, 1, 1}, .block = {256, 1, 1}};
  for (int i = 0; i < state->calls; ++i) {
    tfrt_device_bench_ok(tfrt_device_stream_launch(state->bench->streams[0], state->function,
                                                   &launch, arguments[kind],
                                                   kind == TFRT_ELEMENTS_OF_TWO ? 4 : 3));
  }
  tfrt_device_bench_finish(state->bench, 0);
}

// Measures all kernels of |image|, whose names end in |type|.
static void elements_bench_run(tfrt_elements_bench_t* state, const char* image, const char* type) {
  tfrt_device_module_t* module;
  tfrt_device_bench_ok(
      tfrt_device_load_module(state->bench->device, image, strlen(image), &module));
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(lines); ++i) {
    char name[64];
    state->line = &lines[i];
    snprintf(name, sizeof(name), "%s_%s", lines[i].kernel, type);
    tfrt_device_bench_ok(tfrt_device_module_function(module, name, &state->function));
    double bytes = (double)state->size * state->calls;
    tfrt_device_bench_pair_t pair =
        tfrt_device_bench_measure_pair(elements_bench_copy, elements_bench_call, state);
    double copied = 2 * bytes / pair.plain;
    double found = bytes * lines[i].passes / pair.layer;
    printf("| %s, %s, beside a copy | %.0f GB/s | %.0f GB/s | %.2f |\n", lines[i].what, type,
           copied, found, found / copied);
    tfrt_device_function_release(state->function);
  }
  tfrt_device_module_release(module);
}

void tfrt_device_bench_run_elements(tfrt_device_bench_t* bench) {
  tfrt_elements_bench_t state = {.bench = bench,
                                 .size = bench->library ? SIZE_FOR_SHOW : SIZE,
                                 .calls = bench->library ? 1 : CALLS};
  for (int i = 0; i < 3; ++i) {
    tfrt_device_bench_ok(tfrt_device_allocator_allocate(bench->allocator, bench->streams[0],
                                                        state.size, &state.buffers[i]));
    tfrt_device_bench_ok(tfrt_device_bench_fill(bench, state.buffers[i], 4));
  }
  tfrt_device_bench_finish(bench, 0);
  state.element_size = 4;
  elements_bench_run(&state, tfrt_standard_kernels_image, "f32");
  if (bench->device->properties.architecture >= 80) {
    state.element_size = 2;
    for (int i = 0; i < 2; ++i) {
      tfrt_device_bench_ok(tfrt_device_bench_fill(bench, state.buffers[i], 2));
    }
    elements_bench_run(&state, tfrt_f16_sm80_kernels_image, "f16");
  }
  for (int i = 0; i < 3; ++i) tfrt_device_buffer_release(state.buffers[i]);
}
