// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/runner.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host_runtime/base/clock.h"
#include "tests/bench/placement.h"
#include "tests/bench/yardstick.h"
#include "tools/output/json.h"

// Before the samples of a benchmark, and again after them: as often for any number of samples, so
// that the difference of two runs is that of their samples.
enum { YARDSTICK_READINGS = 5 };

int64_t tfrt_benchmark_now_ns(void) { return tfrt_clock_now_ns(tfrt_clock_system()); }

tfrt_benchmark_group_t tfrt_bench_group(size_t index) {
  static tfrt_benchmark_group_t (*const kGroups[])(void) = {
      tfrt_yardstick_benchmarks,  tfrt_async_value_benchmarks,   tfrt_work_queue_benchmarks,
      tfrt_executor_benchmarks,   tfrt_memory_benchmarks,        tfrt_eager_benchmarks,
      tfrt_digits_benchmarks,     tfrt_translation_benchmarks,   tfrt_transport_benchmarks,
      tfrt_plain_grpc_benchmarks, tfrt_relayed_chain_benchmarks, tfrt_process_benchmarks,
      tfrt_limit_benchmarks,      tfrt_ring_benchmarks,          tfrt_cluster_benchmarks,
      tfrt_crowd_benchmarks,      tfrt_collective_benchmarks,    tfrt_pass_benchmarks,
  };
  if (index >= TFRT_ARRAY_SIZE(kGroups)) return (tfrt_benchmark_group_t){0};
  return kGroups[index]();
}

// --- Measuring ---------------------------------------------------------------

static int compare_figures(const void* a, const void* b) {
  double left = *(const double*)a;
  double right = *(const double*)b;
  return (left > right) - (left < right);
}

// Takes the samples of the opened |state| into |figures|.
static tfrt_status_t take_samples(const tfrt_benchmark_t* benchmark, void* state,
                                  const tfrt_bench_options_t* options, double* figures) {
  double untimed = 0;
  if (!options->small) TFRT_RETURN_IF_ERROR(benchmark->sample(state, &untimed));
  for (int i = 0; i < options->repeats; ++i) {
    TFRT_RETURN_IF_ERROR(benchmark->sample(state, &figures[i]));
  }
  return NULL;
}

// Reads the yardstick several times, and lowers |*scale| to the least reading: what else runs only
// adds to it.
static tfrt_status_t read_yardstick(double* scale) {
  for (int i = 0; i < YARDSTICK_READINGS; ++i) {
    double reading = 0;
    TFRT_RETURN_IF_ERROR(tfrt_bench_yardstick_read(&reading));
    *scale = fmin(*scale, reading);
  }
  return NULL;
}

// Takes the samples of the opened |state| into |figures|, and sets |*out_scale| to what the
// yardstick says before and after them.
static tfrt_status_t take_all(const tfrt_benchmark_t* benchmark, void* state,
                              const tfrt_bench_options_t* options, double* figures,
                              double* out_scale) {
  bool is_scaled = benchmark->tfrt > 0 && !benchmark->is_unscaled;
  *out_scale = is_scaled ? INFINITY : 1;
  if (is_scaled) TFRT_RETURN_IF_ERROR(read_yardstick(out_scale));
  TFRT_RETURN_IF_ERROR(take_samples(benchmark, state, options, figures));
  return is_scaled ? read_yardstick(out_scale) : NULL;
}

// Opens |benchmark| and takes its samples into |figures|, and *|out_scale| as take_all() does.
static tfrt_status_t sample_benchmark(const tfrt_benchmark_t* benchmark,
                                      const tfrt_bench_options_t* options, double* figures,
                                      double* out_scale) {
  void* state = NULL;
  int64_t size = options->small ? benchmark->small_size : benchmark->size;
  tfrt_bench_placement_begin(benchmark->is_bound);
  tfrt_status_t status = benchmark->open(benchmark, &options->files, size, &state);
  if (!status) {
    status = tfrt_bench_placement_settle();
    if (!status) status = take_all(benchmark, state, options, figures, out_scale);
    benchmark->close(state);
  }
  tfrt_bench_placement_end();
  return status ? tfrt_status_take_annotate(status, "%s", benchmark->name) : NULL;
}

// The benchmark |name|; NULL where there is none, or |name| is NULL.
static const tfrt_benchmark_t* find_benchmark(const char* name) {
  tfrt_benchmark_group_t group;
  for (size_t i = 0; name && (group = tfrt_bench_group(i)).count > 0; ++i) {
    for (size_t j = 0; j < group.count; ++j) {
      if (strcmp(group.benchmarks[j].name, name) == 0) return &group.benchmarks[j];
    }
  }
  return NULL;
}

static double median_of(double* figures, size_t count) {
  qsort(figures, count, sizeof(figures[0]), compare_figures);
  return figures[count / 2];
}

// The limit is sampled right before and right after: a machine's speed changes by the minute.
static tfrt_status_t measure(const tfrt_benchmark_t* benchmark, const tfrt_bench_options_t* options,
                             tfrt_bench_result_t* out_result) {
  static double figures[TFRT_BENCH_MAX_REPEATS];
  static double limits[2 * TFRT_BENCH_MAX_REPEATS];
  const tfrt_benchmark_t* limit = find_benchmark(benchmark->limit);
  size_t count = (size_t)options->repeats;
  double scale = 1;
  double limit_scale;
  if (limit) TFRT_RETURN_IF_ERROR(sample_benchmark(limit, options, limits, &limit_scale));
  TFRT_RETURN_IF_ERROR(sample_benchmark(benchmark, options, figures, &scale));
  if (limit) TFRT_RETURN_IF_ERROR(sample_benchmark(limit, options, &limits[count], &limit_scale));
  *out_result = (tfrt_bench_result_t){.benchmark = benchmark,
                                      .median = median_of(figures, count),
                                      .least = figures[0],
                                      .greatest = figures[count - 1],
                                      .limit = limit ? median_of(limits, 2 * count) : 0,
                                      .scale = scale};
  return NULL;
}

static bool is_wanted(const char* name, const char* filter) {
  return filter[0] == '=' ? strcmp(name, filter + 1) == 0 : strstr(name, filter) != NULL;
}

// Whether this machine has memory for |benchmark|; says so if not.
static bool has_memory(const tfrt_benchmark_t* benchmark) {
  int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  if (benchmark->memory <= memory) return true;
  fprintf(stderr, "%s: left out, it takes %" PRId64 " MiB of memory\n", benchmark->name,
          benchmark->memory >> 20);
  return false;
}

static tfrt_status_t run_group(tfrt_benchmark_group_t group, const tfrt_bench_options_t* options,
                               tfrt_bench_results_t* results) {
  for (size_t i = 0; i < group.count; ++i) {
    const tfrt_benchmark_t* benchmark = &group.benchmarks[i];
    if (!is_wanted(benchmark->name, options->filter)) continue;
    if (!options->small && !has_memory(benchmark)) continue;
    if (results->count == TFRT_BENCH_MAX_BENCHMARKS) {
      return tfrt_status_create(TFRT_STATUS_INTERNAL, "there are more than %d benchmarks",
                                TFRT_BENCH_MAX_BENCHMARKS);
    }
    tfrt_bench_result_t* result = &results->values[results->count];
    TFRT_RETURN_IF_ERROR(measure(benchmark, options, result));
    ++results->count;
    if (!options->quiet) {
      fprintf(stderr, "%s: %.4g %s\n", benchmark->name, result->median, benchmark->unit);
    }
  }
  return NULL;
}

tfrt_status_t tfrt_bench_run(const tfrt_bench_options_t* options,
                             tfrt_bench_results_t* out_results) {
  out_results->count = 0;
  tfrt_benchmark_group_t group;
  for (size_t i = 0; (group = tfrt_bench_group(i)).count > 0; ++i) {
    TFRT_RETURN_IF_ERROR(run_group(group, options, out_results));
  }
  return NULL;
}

// --- Telling -----------------------------------------------------------------

// Appends |value| / |base|, or nothing if there is no base, in a column.
static void append_ratio(tfrt_string_builder_t* out, double value, double base) {
  if (base > 0) {
    tfrt_string_builder_append_format(out, " %8.3f", value / base);
  } else {
    tfrt_string_builder_append_format(out, " %8s", "");
  }
}

void tfrt_bench_append_table(const tfrt_bench_results_t* results, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "%-40s %-6s %10s %10s %10s %9s %6s %8s %8s\n", "benchmark",
                                    "unit", "median", "least", "greatest", "TFRT", "scale",
                                    "/ TFRT", "/ limit");
  for (size_t i = 0; i < results->count; ++i) {
    const tfrt_bench_result_t* result = &results->values[i];
    const tfrt_benchmark_t* benchmark = result->benchmark;
    tfrt_string_builder_append_format(out, "%-40s %-6s %10.4g %10.4g %10.4g", benchmark->name,
                                      benchmark->unit, result->median, result->least,
                                      result->greatest);
    if (benchmark->tfrt > 0) {
      tfrt_string_builder_append_format(out, " %9.4g %6.2f", benchmark->tfrt, result->scale);
    } else {
      tfrt_string_builder_append_format(out, " %9s %6s", "", "");
    }
    append_ratio(out, result->median, benchmark->tfrt * result->scale);
    append_ratio(out, result->median, result->limit);
    tfrt_string_builder_append_char(out, '\n');
  }
}

void tfrt_bench_append_json(const tfrt_bench_results_t* results, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, "{\"benchmarks\": [");
  for (size_t i = 0; i < results->count; ++i) {
    const tfrt_bench_result_t* result = &results->values[i];
    const tfrt_benchmark_t* benchmark = result->benchmark;
    tfrt_string_builder_append_text(out, i ? ",\n  {\"name\": " : "\n  {\"name\": ");
    tfrt_json_append_string(out, tfrt_string_view_of(benchmark->name));
    tfrt_string_builder_append_text(out, ", \"unit\": ");
    tfrt_json_append_string(out, tfrt_string_view_of(benchmark->unit));
    tfrt_string_builder_append_format(out,
                                      ", \"median\": %.9g, \"least\": %.9g, \"greatest\": %.9g",
                                      result->median, result->least, result->greatest);
    if (benchmark->tfrt > 0) {
      tfrt_string_builder_append_format(out, ", \"tfrt\": %.9g, \"scale\": %.9g", benchmark->tfrt,
                                        result->scale);
    }
    if (result->limit > 0) {
      tfrt_string_builder_append_format(out, ", \"limit\": %.9g", result->limit);
    }
    tfrt_string_builder_append_char(out, '}');
  }
  tfrt_string_builder_append_text(out, "\n]}\n");
}
