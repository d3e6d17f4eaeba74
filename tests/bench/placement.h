// SPDX-License-Identifier: Apache-2.0
//
// Where the processes of a benchmark run: where the system puts them, or, if they are *bound*,
// each on one processor: this process on the first, and the i-th that it starts on the one i
// behind, round and round. So two that talk to each other have a processor each, and of a chain
// each has its neighbours on other ones.
//
// Life, of one benchmark:
//  1. Begun, before any process is started for it.
//  2. Settled, when what it needs is open: the threads of this process, those of libraries too, are
//     bound.
//  3. Ended: they are free again.
//
// Thread rule: main thread only.
// Failure rule: UNAVAILABLE where the system refuses; what was not bound is as it was.
#ifndef TFRT_TESTS_BENCH_PLACEMENT_H_
#define TFRT_TESTS_BENCH_PLACEMENT_H_

#include <stdbool.h>

#include "host_runtime/base/status.h"

// The processes that are started from now on are bound, or not. Main thread only.
void tfrt_bench_placement_begin(bool is_bound);

// Binds this process, if its benchmark is bound. Main thread only.
tfrt_status_t tfrt_bench_placement_settle(void) TFRT_MUST_USE;

// Frees this process. Main thread only.
void tfrt_bench_placement_end(void);

// Between these two the calling thread runs where the next process that it starts is to. Main
// thread only.
void tfrt_bench_placement_enter_next(void);
void tfrt_bench_placement_leave(void);

#endif  // TFRT_TESTS_BENCH_PLACEMENT_H_
