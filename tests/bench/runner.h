// SPDX-License-Identifier: Apache-2.0
//
// Runs benchmarks and tells what came out, as a table for people or as JSON for
// compare.py.
//
// The median of many short samples is the figure: what else runs on the machine moves some
// of the samples, and seldom half of them. The least and the greatest show how much.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: the first benchmark that fails ends the run, and the error names it.
#ifndef TFRT_TESTS_BENCH_RUNNER_H_
#define TFRT_TESTS_BENCH_RUNNER_H_

#include <stdbool.h>

#include "host_runtime/base/string_builder.h"
#include "tests/bench/benchmark.h"

#define TFRT_BENCH_MAX_BENCHMARKS 160
#define TFRT_BENCH_MAX_REPEATS 1000

typedef struct tfrt_bench_options_s {
  const char* filter;  // run those whose names contain this; "": all; "=NAME": only that one
  int repeats;         // counted samples of each, at least 1
  bool small;          // small sizes, and nothing untimed before: for tests
  bool quiet;          // no line as soon as a benchmark is done
  tfrt_benchmark_files_t files;
} tfrt_bench_options_t;

typedef struct tfrt_bench_result_s {
  const tfrt_benchmark_t* benchmark;
  double median;
  double least;
  double greatest;
  double limit;  // the median of its limit, right before and after; 0: it has none
  double
      scale;  // this machine's time over that of TFRT's (yardstick.h); 1 where no figure is known
} tfrt_bench_result_t;

typedef struct tfrt_bench_results_s {
  tfrt_bench_result_t values[TFRT_BENCH_MAX_BENCHMARKS];
  size_t count;
} tfrt_bench_results_t;

// The |index|-th group of benchmarks, in the order in which they run; an empty one after the last.
// Thread-safe.
tfrt_benchmark_group_t tfrt_bench_group(size_t index);

// Runs the chosen benchmarks of all groups; what was measured before an error is in
// |out_results|, too. Thread-compatible.
tfrt_status_t tfrt_bench_run(const tfrt_bench_options_t* options, tfrt_bench_results_t* out_results)
    TFRT_MUST_USE;

// Appends |results| to |out|, as a table or as one JSON object. Thread-compatible.
void tfrt_bench_append_table(const tfrt_bench_results_t* results, tfrt_string_builder_t* out);
void tfrt_bench_append_json(const tfrt_bench_results_t* results, tfrt_string_builder_t* out);

#endif  // TFRT_TESTS_BENCH_RUNNER_H_
