// SPDX-License-Identifier: Apache-2.0
//
// The two sides of the device benchmarks: the plain driver and the device layer, in one process on
// one GPU, with one primary context between them.
//
// Life:
//  1. Opened, with the driver or, to show that it runs, another library with its entry points.
//  2. Each part measures and prints lines of a Markdown table:
//     | what | plain driver | this runtime | ratio |
//  3. The process ends.
//
// Thread rule: one thread. Failure rule: an error ends the process, with one line.
#ifndef TFRT_TESTS_GPU_DEVICE_BENCH_H_
#define TFRT_TESTS_GPU_DEVICE_BENCH_H_

#include "devices/cuda/cuda_library.h"
#include "devices/cuda/cuda_platform.h"
#include "devices/device_allocator.h"
#include "devices/device_graph.h"

#define TFRT_DEVICE_BENCH_COPY_SIZE ((size_t)16 << 20)

typedef struct tfrt_device_bench_s {
  const char* library;  // for show; NULL: the driver
  int launches;
  int copies;
  tfrt_cuda_api_t api;
  tfrt_cuda_context_t context;
  tfrt_cuda_stream_handle_t plain_streams[2];
  tfrt_cuda_module_handle_t plain_module;      // the test kernels
  tfrt_cuda_function_handle_t plain_function;  // test_increment
  tfrt_work_queue_t* work_queue;
  tfrt_device_platform_t* platform;
  tfrt_device_t* device;
  tfrt_device_allocator_t* allocator;
  tfrt_device_stream_t* streams[2];
  tfrt_device_module_t* module;      // the test kernels
  tfrt_device_function_t* function;  // test_increment
  tfrt_device_buffer_t* buffers[2];  // of TFRT_DEVICE_BENCH_COPY_SIZE bytes
  tfrt_device_buffer_t* host;        // likewise, pinned
  tfrt_device_graph_t* graph;        // of |launches| launches
} tfrt_device_bench_t;

// Ends the process if |status| is an error, or if |result| of the driver's |call| is.
void tfrt_device_bench_ok(tfrt_status_t status);
void tfrt_device_bench_plain_ok(const tfrt_device_bench_t* bench, tfrt_cuda_result_t result,
                                const char* call);

// Waits until the layer's, or the driver's, stream |index| has done what it has.
void tfrt_device_bench_finish(tfrt_device_bench_t* bench, int index);
void tfrt_device_bench_finish_plain(tfrt_device_bench_t* bench, int index);

// The least time of several runs of |work|, in nanoseconds: everything else makes it longer. It
// runs once before.
double tfrt_device_bench_measure(void (*work)(void* state), void* state);

// The same for two that take turns, so that both find the GPU as warm: |plain| and |layer|.
typedef struct tfrt_device_bench_pair_s {
  double plain;
  double layer;
} tfrt_device_bench_pair_t;
tfrt_device_bench_pair_t tfrt_device_bench_measure_pair(void (*plain)(void* state),
                                                        void (*layer)(void* state), void* state);

// Fills |buffer|, in the layer's stream 0, with numbers of |width| bytes (2: f16 or bf16, 4: f32),
// from -1 to 1, at random: what is all alike takes less power to compute with, and less time.
tfrt_status_t tfrt_device_bench_fill(tfrt_device_bench_t* bench, tfrt_device_buffer_t* buffer,
                                     uint32_t width) TFRT_MUST_USE;

// Waits for |value| (consumed).
void tfrt_device_bench_await_take(tfrt_async_value_t* value);

// The parts, by file.
void tfrt_device_bench_run_program(tfrt_device_bench_t* bench, double plain_launch);
void tfrt_device_bench_run_lateness(tfrt_device_bench_t* bench);
void tfrt_device_bench_run_elements(tfrt_device_bench_t* bench);
void tfrt_device_bench_run_copies(tfrt_device_bench_t* bench);
void tfrt_device_bench_run_transfers(tfrt_device_bench_t* bench);
void tfrt_device_bench_run_matmul(tfrt_device_bench_t* bench);

#endif  // TFRT_TESTS_GPU_DEVICE_BENCH_H_
