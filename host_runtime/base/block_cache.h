// SPDX-License-Identifier: Apache-2.0
//
// Big blocks that were freed, kept for the next request of that size. A block of many pages that
// goes back to the system costs, when it is asked for again, a clearing of each page, which takes
// longer than to fill it with what it is for. A program that makes one tensor after the other would
// pay that for each.
//
//   put --> | oldest ... newest | --take, of the same size--> who asks
//             `-- given to the caller when the limits are reached
//
// The cache offers its blocks to the system, which takes their pages when memory gets short; the
// content of a block is lost then, as in any new block.
//
// Life: all zero is an empty one; nobody has to take out what is left.
//
// Thread rule: thread-safe.
// Failure rule: none fails; a block that can't be kept is the caller's again.
#ifndef TFRT_HOST_RUNTIME_BASE_BLOCK_CACHE_H_
#define TFRT_HOST_RUNTIME_BASE_BLOCK_CACHE_H_

#include <stddef.h>

#include "host_runtime/base/sync.h"

// The most blocks, and the most bytes in all, that are kept.
#define TFRT_BLOCK_CACHE_MAX_BLOCKS 16
#define TFRT_BLOCK_CACHE_MAX_BYTES ((size_t)256 * 1024 * 1024)

typedef struct tfrt_block_cache_entry_s {
  void* block;
  size_t size;
} tfrt_block_cache_entry_t;

typedef struct tfrt_block_cache_s {
  tfrt_mutex_t mutex;
  tfrt_block_cache_entry_t entries[TFRT_BLOCK_CACHE_MAX_BLOCKS];  // oldest first
  size_t count;
  size_t bytes;
} tfrt_block_cache_t;

#define TFRT_BLOCK_CACHE_INITIALIZER \
  { .mutex = TFRT_MUTEX_INITIALIZER }

// Takes out the newest block of |size| bytes, or returns NULL if there is none. Thread-safe.
void* tfrt_block_cache_take(tfrt_block_cache_t* cache, size_t size);

// Keeps |block| of |size| bytes, and calls |give_back| for what must leave for it: older ones, or,
// if it is bigger than all that may be kept, |block| itself. Thread-safe.
void tfrt_block_cache_put(tfrt_block_cache_t* cache, void* block, size_t size,
                          void (*give_back)(void* block));

#endif  // TFRT_HOST_RUNTIME_BASE_BLOCK_CACHE_H_
