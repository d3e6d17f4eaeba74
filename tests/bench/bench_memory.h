// SPDX-License-Identifier: Apache-2.0
//
// How much memory another process has had, as the system tells while it lives: what it tells
// afterwards counts the memory of this program, too, in which the process began.
//
// Thread rule: thread-safe. Failure rule: 0 if the amount is unknown.
#ifndef TFRT_TESTS_BENCH_BENCH_MEMORY_H_
#define TFRT_TESTS_BENCH_BENCH_MEMORY_H_

#include <sys/types.h>

// The greatest amount of resident memory, in KiB, that the live process |process| has had; 0 if it
// is not told. Thread-safe.
long tfrt_bench_peak_memory(pid_t process);

#endif  // TFRT_TESTS_BENCH_BENCH_MEMORY_H_
