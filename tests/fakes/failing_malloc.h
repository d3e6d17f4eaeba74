// SPDX-License-Identifier: Apache-2.0
//
// A heap that a test can let run out. Linking it (with -Wl,--wrap=malloc, which its
// BUILD target sees to) puts it between the program and the C library's malloc.
//
// Life: does nothing until tfrt_failing_malloc_arm(); ended by
// tfrt_failing_malloc_disarm().
//
// Thread rule: per thread: one thread's setting doesn't touch the others.
// Failure rule: that is what it is for.
#ifndef TFRT_TESTS_FAKES_FAILING_MALLOC_H_
#define TFRT_TESTS_FAKES_FAILING_MALLOC_H_

#include <stdint.h>

// Lets the next |successes| allocations of this thread succeed, and all after that
// fail. Thread-safe.
void tfrt_failing_malloc_arm(int64_t successes);

// Lets all allocations of this thread succeed again; returns how many failed.
// Thread-safe.
int64_t tfrt_failing_malloc_disarm(void);

#endif  // TFRT_TESTS_FAKES_FAILING_MALLOC_H_
