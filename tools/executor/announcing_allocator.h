// SPDX-License-Identifier: Apache-2.0
//
// An allocator that prints a line for each block that it is asked for or gets back, around
// another one that may refuse: for tests of what a program does when memory is out.
//
//   Allocating 192 bytes.
//   Attempted to allocate 4160 bytes.
//   Deallocating 192 bytes.
//
// Blocks of at most 32 bytes go to the system without a word, so that small things that every
// kernel needs don't fail.
//
// Life: initialised in the owner's storage; holds nothing.
//
// Thread rule: thread-safe after initialisation. Failure rule: the other allocator's.
#ifndef TFRT_TOOLS_EXECUTOR_ANNOUNCING_ALLOCATOR_H_
#define TFRT_TOOLS_EXECUTOR_ANNOUNCING_ALLOCATOR_H_

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/allocator_type.h"

typedef struct tfrt_announcing_allocator_s {
  tfrt_allocator_t base;
} tfrt_announcing_allocator_t;

// Makes |allocator| one around |base|. Thread-compatible.
void tfrt_announcing_allocator_initialize(tfrt_announcing_allocator_t* allocator,
                                          tfrt_allocator_t base);

// Its interface, good as long as |allocator| is. Thread-safe.
tfrt_allocator_t tfrt_announcing_allocator_interface(tfrt_announcing_allocator_t* allocator);

// The type `test_fixed_size_1k` of allocators: one around 1 KiB. Thread-safe.
const tfrt_allocator_type_t* tfrt_announcing_allocator_type(void);

#endif  // TFRT_TOOLS_EXECUTOR_ANNOUNCING_ALLOCATOR_H_
