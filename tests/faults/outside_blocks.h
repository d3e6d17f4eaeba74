// SPDX-License-Identifier: Apache-2.0
//
// The blocks that the program's own code has allocated and that nobody has freed, by the places
// that allocated them. Part of the library for LD_PRELOAD; see outside_calls.c.
//
// Thread rule: thread-safe. Failure rule: what has no room any more is not counted.
#ifndef TFRT_TESTS_FAULTS_OUTSIDE_BLOCKS_H_
#define TFRT_TESTS_FAULTS_OUTSIDE_BLOCKS_H_

#include <stdint.h>

#define OUTSIDE_BLOCKS_DEPTH 8

// Notes |block|, which was allocated at |places|: |count| of them, the innermost first.
// Thread-safe.
void outside_blocks_add(const void* block, const uintptr_t* places, int count);

// Forgets |block|, which may be none that was noted. Thread-safe.
void outside_blocks_remove(const void* block);

// Writes a line for each list of places that has blocks to |descriptor|: "|name| COUNT OFFSET...".
// Thread-safe.
void outside_blocks_write(int descriptor, const char* name);

#endif  // TFRT_TESTS_FAULTS_OUTSIDE_BLOCKS_H_
