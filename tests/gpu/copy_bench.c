// SPDX-License-Identifier: Apache-2.0
//
// Copies in all directions, and copies beside kernels. The ideal of these is the longer of the two
// alone.
#include <stdio.h>

#include "tests/gpu/device_bench.h"

#define SIZE TFRT_DEVICE_BENCH_COPY_SIZE
#define MAX_KERNELS 5000

typedef struct tfrt_copy_bench_s {
  tfrt_device_bench_t* bench;
  tfrt_device_buffer_t* target;
  tfrt_device_buffer_t* source;
  int kernels;
} tfrt_copy_bench_t;

// --- Work of either side -------------------------------------------------------------------

static void copy_bench_give_plain(tfrt_copy_bench_t* state) {
  const tfrt_device_bench_t* bench = state->bench;
  for (int i = 0; i < bench->copies; ++i) {
    tfrt_device_bench_plain_ok(
        bench,
        bench->api.MemcpyAsync(state->target->address, state->source->address, SIZE,
                               bench->plain_streams[0]),
        "cuMemcpyAsync");
  }
}

static void copy_bench_give(tfrt_copy_bench_t* state) {
  const tfrt_device_bench_t* bench = state->bench;
  for (int i = 0; i < bench->copies; ++i) {
    tfrt_device_bench_ok(
        tfrt_device_stream_copy(bench->streams[0], state->target, 0, state->source, 0, SIZE));
  }
}

// Kernels over all of a buffer that isn't copied, in the other stream.
static void copy_bench_compute_plain(tfrt_copy_bench_t* state) {
  const tfrt_device_bench_t* bench = state->bench;
  uint32_t count = SIZE / sizeof(uint32_t);
  void* parameters[] = {&bench->buffers[1]->address, &count};
  for (int i = 0; i < state->kernels; ++i) {
    tfrt_device_bench_plain_ok(
        bench,
        bench->api.LaunchKernel(bench->plain_function, (count + 255) / 256, 1, 1, 256, 1, 1, 0,
                                bench->plain_streams[1], parameters, NULL),
        "cuLaunchKernel");
  }
}

static void copy_bench_compute(tfrt_copy_bench_t* state) {
  const tfrt_device_bench_t* bench = state->bench;
  uint32_t count = SIZE / sizeof(uint32_t);
  tfrt_device_launch_t launch = {.grid = {(count + 255) / 256, 1, 1}, .block = {256, 1, 1}};
  tfrt_device_argument_t arguments[] = {{.buffer = bench->buffers[1]},
                                        {.bytes = &count, .size = sizeof(count)}};
  for (int i = 0; i < state->kernels; ++i) {
    tfrt_device_bench_ok(
        tfrt_device_stream_launch(bench->streams[1], bench->function, &launch, arguments, 2));
  }
}

// --- What is measured ----------------------------------------------------------------------

static void copy_bench_copy_plain(void* state) {
  copy_bench_give_plain(state);
  tfrt_device_bench_finish_plain(((tfrt_copy_bench_t*)state)->bench, 0);
}

static void copy_bench_copy(void* state) {
  copy_bench_give(state);
  tfrt_device_bench_finish(((tfrt_copy_bench_t*)state)->bench, 0);
}

static void copy_bench_kernels_plain(void* state) {
  copy_bench_compute_plain(state);
  tfrt_device_bench_finish_plain(((tfrt_copy_bench_t*)state)->bench, 1);
}

static void copy_bench_both_plain(void* state) {
  copy_bench_give_plain(state);
  copy_bench_compute_plain(state);
  tfrt_device_bench_finish_plain(((tfrt_copy_bench_t*)state)->bench, 0);
  tfrt_device_bench_finish_plain(((tfrt_copy_bench_t*)state)->bench, 1);
}

static void copy_bench_both(void* state) {
  copy_bench_give(state);
  copy_bench_compute(state);
  tfrt_device_bench_finish(((tfrt_copy_bench_t*)state)->bench, 0);
  tfrt_device_bench_finish(((tfrt_copy_bench_t*)state)->bench, 1);
}

// Prints the line of one direction; returns the time of the plain copies, in nanoseconds.
static double copy_bench_run(tfrt_copy_bench_t* state, const char* what) {
  double bytes = (double)SIZE * state->bench->copies;
  double time = tfrt_device_bench_measure(copy_bench_copy_plain, state);
  double plain = bytes / time;
  double layer = bytes / tfrt_device_bench_measure(copy_bench_copy, state);
  printf("| %s, 16 MiB each | %.1f GB/s | %.1f GB/s | %.2f |\n", what, plain, layer, layer / plain);
  return time;
}

// |copies|: their time alone, in nanoseconds.
static void copy_bench_run_overlap(tfrt_copy_bench_t* state, double copies) {
  state->kernels = 1;
  double kernels = copies / tfrt_device_bench_measure(copy_bench_kernels_plain, state);
  state->kernels = kernels < 1 ? 1 : kernels > MAX_KERNELS ? MAX_KERNELS : (int)kernels;
  if (state->bench->library) state->kernels = 1;
  double ideal = tfrt_device_bench_measure(copy_bench_kernels_plain, state);
  if (ideal < copies) ideal = copies;
  double plain = 100 * ideal / tfrt_device_bench_measure(copy_bench_both_plain, state);
  double layer = 100 * ideal / tfrt_device_bench_measure(copy_bench_both, state);
  printf("| copies beside kernels, of the ideal | %.0f %% | %.0f %% | %.2f |\n", plain, layer,
         layer / plain);
}

void tfrt_device_bench_run_copies(tfrt_device_bench_t* bench) {
  tfrt_copy_bench_t out = {.bench = bench, .target = bench->host, .source = bench->buffers[0]};
  tfrt_copy_bench_t across = {
      .bench = bench, .target = bench->buffers[1], .source = bench->buffers[0]};
  tfrt_copy_bench_t in = {.bench = bench, .target = bench->buffers[0], .source = bench->host};
  copy_bench_run(&out, "the device to pinned memory");
  copy_bench_run(&across, "the device to itself");
  double copies = copy_bench_run(&in, "pinned memory to the device");
  copy_bench_run_overlap(&in, copies);
}
