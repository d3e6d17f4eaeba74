// SPDX-License-Identifier: Apache-2.0
#include "kernels/test/benchmark_times.h"

#include <stdlib.h>
#include <time.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"

static int64_t test_benchmark_times_cpu_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

bool tfrt_test_benchmark_times_initialize(tfrt_test_benchmark_times_t* times, tfrt_clock_t clock,
                                          int32_t duration_secs, int32_t max_count,
                                          int32_t warm_up) {
  *times = (tfrt_test_benchmark_times_t){.clock = clock,
                                         .warm_up = warm_up,
                                         .max_count = max_count,
                                         .duration_ns = (int64_t)duration_secs * 1000000000};
  times->wall_ns = tfrt_allocator_allocate_array(tfrt_allocator_system(), 2 * (size_t)max_count,
                                                 sizeof(int64_t));
  if (!times->wall_ns) return false;
  times->cpu_ns = times->wall_ns + max_count;
  times->started_ns = tfrt_clock_now_ns(clock);
  times->limit_ns = tfrt_deadline_after(times->started_ns, times->duration_ns);
  return true;
}

void tfrt_test_benchmark_times_deinitialize(tfrt_test_benchmark_times_t* times) {
  tfrt_allocator_free(tfrt_allocator_system(), times->wall_ns,
                      2 * (size_t)times->max_count * sizeof(int64_t));
}

void tfrt_test_benchmark_times_start(tfrt_test_benchmark_times_t* times) {
  // To read the processor's clock is a system call, which is no part of the run: the other clock is
  // read behind it here, and before it at the end.
  times->begin_cpu_ns = test_benchmark_times_cpu_ns();
  times->begin_ns = tfrt_clock_now_ns(times->clock);
}

bool tfrt_test_benchmark_times_end(tfrt_test_benchmark_times_t* times) {
  int64_t now = tfrt_clock_now_ns(times->clock);
  if (times->warm_up > 0) {
    if (--times->warm_up == 0) {
      times->started_ns = now;
      times->limit_ns = tfrt_deadline_after(now, times->duration_ns);
    }
    return true;
  }
  times->wall_ns[times->count] = now - times->begin_ns;
  times->cpu_ns[times->count] = test_benchmark_times_cpu_ns() - times->begin_cpu_ns;
  ++times->count;
  return times->count < times->max_count && now < times->limit_ns;
}

static int test_benchmark_times_compare(const void* a, const void* b) {
  int64_t x = *(const int64_t*)a;
  int64_t y = *(const int64_t*)b;
  return x < y ? -1 : x > y;
}

// The time below which |percent| of the |count| sorted |values| lie.
static long long test_benchmark_times_percentile(const int64_t* values, int64_t count,
                                                 int64_t percent) {
  int64_t index = count * percent / 100;
  return values[index < count ? index : count - 1];
}

static void test_benchmark_times_append_sorted(tfrt_string_view_t name, const char* what,
                                               int64_t* values, int64_t count,
                                               tfrt_string_builder_t* text) {
  qsort(values, (size_t)count, sizeof(*values), test_benchmark_times_compare);
  static const struct {
    const char* name;
    int64_t percent;
  } lines[] = {{"Min", 0}, {"50%", 50}, {"95%", 95}, {"99%", 99}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(lines); ++i) {
    tfrt_string_builder_append_format(
        text, "BM:%.*s:%s %s(ns): %lld\n", TFRT_STRING_VIEW_ARGUMENTS(name), what, lines[i].name,
        test_benchmark_times_percentile(values, count, lines[i].percent));
  }
}

void tfrt_test_benchmark_times_append(tfrt_test_benchmark_times_t* times, tfrt_string_view_t name,
                                      tfrt_string_builder_t* text) {
  int64_t cpu_total = 0;
  int64_t wall_total = 0;
  for (int64_t i = 0; i < times->count; ++i) {
    cpu_total += times->cpu_ns[i];
    wall_total += times->wall_ns[i];
  }
  int64_t duration_ns = tfrt_clock_now_ns(times->clock) - times->started_ns;
  tfrt_string_builder_append_format(text, "BM:%.*s:Duration(ns): %lld\n",
                                    TFRT_STRING_VIEW_ARGUMENTS(name), (long long)duration_ns);
  tfrt_string_builder_append_format(text, "BM:%.*s:Count: %lld\n", TFRT_STRING_VIEW_ARGUMENTS(name),
                                    (long long)times->count);
  test_benchmark_times_append_sorted(name, "Time", times->wall_ns, times->count, text);
  test_benchmark_times_append_sorted(name, "CPU", times->cpu_ns, times->count, text);
  tfrt_string_builder_append_format(text, "BM:%.*s:CPU utilization(percent): %lld",
                                    TFRT_STRING_VIEW_ARGUMENTS(name),
                                    (long long)(wall_total > 0 ? cpu_total * 100 / wall_total : 0));
}
