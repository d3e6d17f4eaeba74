// SPDX-License-Identifier: Apache-2.0
//
// Blocks of memory that this thread has given back lately, for the next ones of the same size. A
// program that runs a network again and again asks for the same buffers each time, and the C
// library cuts and joins pieces of the heap for blocks that are too big for its own lists.
//
//   this thread:   6144 -> block   50240 -> block   6144 -> block   ...     at most 8
//
// Where all places are taken, they give way in turn. No lock, no atomic operation. A block that
// another thread than the one that made it gives back is kept there; what a thread keeps is given
// back at its end. Much bigger ones are kept by the process (block_cache.h).
//
// Private to allocator.c. Thread rule: thread-safe. Failure rule: nothing here fails.
#ifndef TFRT_HOST_RUNTIME_BASE_RECENT_BLOCKS_H_
#define TFRT_HOST_RUNTIME_BASE_RECENT_BLOCKS_H_

#include <stddef.h>

#include "host_runtime/base/macros.h"

// The number and sizes of the blocks that a thread keeps: at most 512 KiB. The C library has lists
// by thread for smaller ones.
#define TFRT_RECENT_BLOCKS_COUNT 8
#define TFRT_RECENT_BLOCKS_MIN_SIZE ((size_t)1 << 10)
#define TFRT_RECENT_BLOCKS_MAX_SIZE ((size_t)64 << 10)

// The function that frees a block for good.
typedef void (*tfrt_recent_blocks_free_fn_t)(void* block);

// Returns a block that was put here for |size|, with what is left in it; NULL if there is none.
// Thread-safe.
void* tfrt_recent_blocks_take(size_t size) TFRT_MUST_USE;

// Keeps |block| of |size| bytes, or gives it back with |free_block|, as it will at last. All
// callers have the same |free_block|. Thread-safe.
void tfrt_recent_blocks_put(void* block, size_t size, tfrt_recent_blocks_free_fn_t free_block);

#endif  // TFRT_HOST_RUNTIME_BASE_RECENT_BLOCKS_H_
