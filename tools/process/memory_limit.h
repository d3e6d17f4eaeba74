// SPDX-License-Identifier: Apache-2.0
//
// How much memory a process may take, as far as the system says: the least of what the machine has,
// what the container has, and what limits of the process allow (`ulimit -v`, `ulimit -d`).
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_TOOLS_PROCESS_MEMORY_LIMIT_H_
#define TFRT_TOOLS_PROCESS_MEMORY_LIMIT_H_

#include <stdint.h>

// In bytes; UINT64_MAX: nothing says. Thread-safe.
uint64_t tfrt_memory_limit(void);

// The same of a control group whose file of its limit is |path|: "max", or a number of bytes.
// UINT64_MAX: there is no such file, or no limit. Source: Control Group v2, memory.max.
// Thread-safe.
uint64_t tfrt_memory_limit_of_group(const char* path);

// The calls of functions that a program may have open here at once by default, so that recursion or
// a loop without end is an error before there is no memory: MOST, or fewer where the process may
// take little, one for each MEMORY bytes. The records of a call for another host, of a call of
// another host, and of one inside the host take 6 KiB together. Thread-safe.
#define TFRT_MEMORY_LIMIT_MOST_CALLS (1024 * 1024)
#define TFRT_MEMORY_LIMIT_CALL_MEMORY (8 * 1024)
int64_t tfrt_memory_limit_calls(void);

#endif  // TFRT_TOOLS_PROCESS_MEMORY_LIMIT_H_
