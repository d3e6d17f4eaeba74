// SPDX-License-Identifier: Apache-2.0
//
// The memory of frames that wait to be sent. Thousands of frames come and go in a row. They lie
// side by side in blocks, so the processor prefetches them, and no frame needs an allocation of its
// own.
//
//   current -> | live | free ... free |          block -> | gone | gone | live |
//               `-- pieces are taken here                  freed with its last piece
//
// Life:
//  1. Initialised; nothing is allocated yet.
//  2. Pieces are taken, and given back in any order; a block goes with its last piece. That of the
//     current one empties it.
//  3. Deinitialised, when no piece is left.
//
// With a sanitizer each piece has a block of its own: it sees each use after the end.
//
// Thread rule: thread-compatible (the node's lock is held).
// Failure rule: NULL when memory is out.
#ifndef TFRT_DISTRIBUTED_SESSION_SEND_MEMORY_H_
#define TFRT_DISTRIBUTED_SESSION_SEND_MEMORY_H_

#include <stddef.h>

#include "host_runtime/base/allocator.h"

typedef struct tfrt_send_block_s tfrt_send_block_t;

typedef struct tfrt_send_memory_s {
  tfrt_allocator_t allocator;
  tfrt_send_block_t* current;  // or NULL
} tfrt_send_memory_t;

// Makes |memory| an empty one over |allocator|. Thread-compatible.
void tfrt_send_memory_initialize(tfrt_send_memory_t* memory, tfrt_allocator_t allocator);

// Frees the block that is kept for the next piece; all pieces must have been given back.
// Thread-compatible.
void tfrt_send_memory_deinitialize(tfrt_send_memory_t* memory);

// Returns |size| undefined bytes, aligned for pointers and numbers, and sets |*out_block| to their
// block, which gives them back. NULL when memory is out. Thread-compatible.
void* tfrt_send_memory_take(tfrt_send_memory_t* memory, size_t size, tfrt_send_block_t** out_block);

// Gives back a piece of |block|, which is of |memory|. Thread-compatible.
void tfrt_send_memory_give_back(tfrt_send_memory_t* memory, tfrt_send_block_t* block);

#endif  // TFRT_DISTRIBUTED_SESSION_SEND_MEMORY_H_
