// SPDX-License-Identifier: Apache-2.0
//
// Where a tool that makes one thing and ends, a translation or a program that it runs, takes the
// memory for it: one region (host_runtime/base/region.h), in which few pages are touched, and what
// was given back is touched again.
//
// Life: made by the first call; ends with the process.
//
// Thread rule: the first call is thread-compatible, the allocator thread-safe.
// Failure rule: none fails.
#ifndef TFRT_TOOLS_PROCESS_PROCESS_MEMORY_H_
#define TFRT_TOOLS_PROCESS_PROCESS_MEMORY_H_

#include "host_runtime/base/allocator.h"

// The allocator of the process's region. Under a sanitizer it is the system's: each block is one of
// its own then, so that it is seen what is written beside a block, and what is never given back.
// Thread-compatible.
tfrt_allocator_t tfrt_process_memory(void);

#endif  // TFRT_TOOLS_PROCESS_PROCESS_MEMORY_H_
