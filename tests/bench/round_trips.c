// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/round_trips.h"

#include <stdlib.h>

#include "tests/bench/benchmark.h"

void tfrt_bench_round_trips_leave(tfrt_bench_round_trips_t* trips) {
  trips->left_ns = tfrt_benchmark_now_ns();
}

void tfrt_bench_round_trips_come_back(tfrt_bench_round_trips_t* trips) {
  if (trips->count == TFRT_BENCH_MAX_ROUND_TRIPS) return;
  trips->times_ns[trips->count++] = tfrt_benchmark_now_ns() - trips->left_ns;
}

static int compare_times(const void* a, const void* b) {
  int64_t left = *(const int64_t*)a;
  int64_t right = *(const int64_t*)b;
  return (left > right) - (left < right);
}

double tfrt_bench_round_trips_percentile(tfrt_bench_round_trips_t* trips, size_t percent) {
  qsort(trips->times_ns, trips->count, sizeof(trips->times_ns[0]), compare_times);
  return (double)trips->times_ns[(trips->count - 1) * percent / 100] / 1e3;
}
