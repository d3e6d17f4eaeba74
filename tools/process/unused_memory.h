// SPDX-License-Identifier: Apache-2.0
//
// The memory that the heap keeps although nobody uses it. The C library gives back only what lies
// at the end of the heap, so one small block there keeps gigabytes that a big job has freed.
//
// Thread rule: thread-compatible; other threads may use the heap meanwhile.
// Failure rule: none fails; where the system tells no sizes, nothing is given back.
#ifndef TFRT_TOOLS_PROCESS_UNUSED_MEMORY_H_
#define TFRT_TOOLS_PROCESS_UNUSED_MEMORY_H_

#include <stdbool.h>
#include <stddef.h>

// A process with this many bytes more than it had after the last look has something to give back.
#define TFRT_UNUSED_MEMORY_LEAST ((size_t)4 * 1024 * 1024)

typedef struct tfrt_unused_memory_s {
  size_t resident_size;  // of the process after the last look that gave something back; 0: none did
} tfrt_unused_memory_t;

// The bytes of the process that are in memory; 0 if the system doesn't say. Thread-safe.
size_t tfrt_unused_memory_resident_size(void);

// For a process that is idle: gives the pages that the heap keeps unused back to the system if the
// process has grown by TFRT_UNUSED_MEMORY_LEAST since the last time. Returns whether it did that.
// Thread-compatible.
bool tfrt_unused_memory_give_back(tfrt_unused_memory_t* memory);

#endif  // TFRT_TOOLS_PROCESS_UNUSED_MEMORY_H_
