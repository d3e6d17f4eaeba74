// SPDX-License-Identifier: Apache-2.0
//
// The clock of a benchmark op: how long each run took, which runs count, when it is enough,
// and the lines that tell of it. Private to this room.
//
// Life:
//  1. Initialised with what the op says.
//  2. Before each run tfrt_test_benchmark_times_start(), behind it
//     tfrt_test_benchmark_times_end(), until that says that it was the last one.
//  3. Reported; deinitialised.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: initialising fails when memory is out; nothing else does.
#ifndef TFRT_KERNELS_TEST_BENCHMARK_TIMES_H_
#define TFRT_KERNELS_TEST_BENCHMARK_TIMES_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/clock.h"
#include "host_runtime/base/string_builder.h"

typedef struct tfrt_test_benchmark_times_s {
  tfrt_clock_t clock;
  int64_t warm_up;  // runs left that don't count
  int64_t max_count;
  int64_t limit_ns;  // of the clock: no new run after that
  int64_t duration_ns;
  int64_t count;  // runs measured
  int64_t started_ns;
  int64_t begin_ns;  // of the current run
  int64_t begin_cpu_ns;
  int64_t* wall_ns;  // [max_count]
  int64_t* cpu_ns;   // [max_count]
} tfrt_test_benchmark_times_t;

// Makes room for |max_count| runs, at least one, within |duration_secs| behind |warm_up| runs
// that don't count. Returns false, with nothing to deinitialise, when memory is out.
// Thread-compatible.
bool tfrt_test_benchmark_times_initialize(tfrt_test_benchmark_times_t* times, tfrt_clock_t clock,
                                          int32_t duration_secs, int32_t max_count,
                                          int32_t warm_up);

// Gives back the room. Thread-compatible.
void tfrt_test_benchmark_times_deinitialize(tfrt_test_benchmark_times_t* times);

// A run begins. Thread-compatible.
void tfrt_test_benchmark_times_start(tfrt_test_benchmark_times_t* times);

// The run has ended; returns whether there is to be another one. Thread-compatible.
bool tfrt_test_benchmark_times_end(tfrt_test_benchmark_times_t* times);

// Appends the lines about the benchmark |name| to |text|, without the last newline.
// Thread-compatible.
void tfrt_test_benchmark_times_append(tfrt_test_benchmark_times_t* times, tfrt_string_view_t name,
                                      tfrt_string_builder_t* text);

#endif  // TFRT_KERNELS_TEST_BENCHMARK_TIMES_H_
