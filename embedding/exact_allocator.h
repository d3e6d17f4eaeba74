// SPDX-License-Identifier: Apache-2.0
//
// The C library's heap, and nothing of it is kept: what is given back is given back at once. For
// what a process makes once and gives back at its end, so that a tool that looks at the heap then
// finds nothing. (The allocator of the system keeps some blocks for the thread that gave them
// back.)
//
// Thread rule: thread-safe. Failure rule: NULL when memory is out.
#ifndef TFRT_EMBEDDING_EXACT_ALLOCATOR_H_
#define TFRT_EMBEDDING_EXACT_ALLOCATOR_H_

#include "host_runtime/base/allocator.h"

// That allocator. Thread-safe.
tfrt_allocator_t tfrt_exact_allocator(void);

#endif  // TFRT_EMBEDDING_EXACT_ALLOCATOR_H_
