// SPDX-License-Identifier: Apache-2.0
//
// tfrt_test.benchmark: runs a region again and again and prints how long that took, in
// eleven lines that begin with `BM:NAME:`. Private to this room.
//
//   runs: warm-up ... | measured ... until max_count or duration_secs --> lines, chain
//
// A run ends when the region's result is there; the next one starts then. In synchronous
// functions, tfrt_test.sync_benchmark does the same with a function that gives nothing, whose
// name is the benchmark's; its runs follow one another on the calling thread.
//
// Thread rule: one thread at a time; frame's thread, then the thread that resolves the result.
// Failure rule: a run whose result is an error ends the benchmark with that error.
#ifndef TFRT_KERNELS_TEST_BENCHMARK_H_
#define TFRT_KERNELS_TEST_BENCHMARK_H_

#include "host_runtime/executor/kernel/kernel_frame.h"
#include "host_runtime/executor/kernel/sync_frame.h"

// Runs a tfrt_test.benchmark. Frame's thread only.
void tfrt_test_benchmark(tfrt_kernel_frame_t* frame);

// Runs a tfrt_test.sync_benchmark. Frame's thread only.
void tfrt_test_sync_benchmark(tfrt_sync_frame_t* frame);

#endif  // TFRT_KERNELS_TEST_BENCHMARK_H_
