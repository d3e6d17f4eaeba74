// SPDX-License-Identifier: Apache-2.0
//
// Round trips that are timed each by itself, one after the other, for what is said of the slowest
// of them: a mean hides one in a hundred that waits.
//
// Life: cleared; each one leaves and comes back; the percentile is asked for when none is away.
//
// Thread rule: thread-compatible (the sender of the next one has seen the last one come back).
// Failure rule: none fails; what has no room is not counted.
#ifndef TFRT_TESTS_BENCH_ROUND_TRIPS_H_
#define TFRT_TESTS_BENCH_ROUND_TRIPS_H_

#include <stddef.h>
#include <stdint.h>

#define TFRT_BENCH_MAX_ROUND_TRIPS (1 << 18)

typedef struct tfrt_bench_round_trips_s {
  int64_t left_ns;  // when the one left that is away
  size_t count;     // of those that are back
  int64_t times_ns[TFRT_BENCH_MAX_ROUND_TRIPS];
} tfrt_bench_round_trips_t;

// One leaves now; the one that is away is back. Thread-compatible.
void tfrt_bench_round_trips_leave(tfrt_bench_round_trips_t* trips);
void tfrt_bench_round_trips_come_back(tfrt_bench_round_trips_t* trips);

// The time in microseconds that |percent| of the round trips don't exceed; sorts them. There must
// be one at least. Thread-compatible.
double tfrt_bench_round_trips_percentile(tfrt_bench_round_trips_t* trips, size_t percent);

#endif  // TFRT_TESTS_BENCH_ROUND_TRIPS_H_
