// SPDX-License-Identifier: Apache-2.0
#include "distributed/session/send_memory.h"

#include <stdalign.h>

#include "host_runtime/base/macros.h"

// The bytes of a block, with its head; a bigger piece has one that is as big as it needs.
#if defined(TFRT_SANITIZED)
#define TFRT_SEND_BLOCK_SIZE ((size_t)0)
#else
#define TFRT_SEND_BLOCK_SIZE ((size_t)16 << 10)
#endif

struct tfrt_send_block_s {
  size_t size;
  size_t used;
  size_t live;  // pieces that were taken and not given back
  alignas(16) char bytes[];
};

void tfrt_send_memory_initialize(tfrt_send_memory_t* memory, tfrt_allocator_t allocator) {
  *memory = (tfrt_send_memory_t){.allocator = allocator};
}

void tfrt_send_memory_deinitialize(tfrt_send_memory_t* memory) {
  tfrt_send_block_t* block = memory->current;
  if (block) tfrt_allocator_free(memory->allocator, block, sizeof(*block) + block->size);
  memory->current = NULL;
}

// A new block with room for |size| bytes is the current one; false when memory is out.
static bool tfrt_send_memory_grow(tfrt_send_memory_t* memory, size_t size) {
  size_t least = TFRT_SEND_BLOCK_SIZE > sizeof(tfrt_send_block_t)
                     ? TFRT_SEND_BLOCK_SIZE - sizeof(tfrt_send_block_t)
                     : 0;
  if (size < least) size = least;
  tfrt_send_block_t* block =
      tfrt_allocator_allocate(memory->allocator, sizeof(tfrt_send_block_t) + size);
  if (!block) return false;
  // Otherwise nothing would ever free the current block, whose pieces are all gone.
  if (memory->current && memory->current->live == 0) tfrt_send_memory_deinitialize(memory);
  block->size = size;
  block->used = 0;
  block->live = 0;
  memory->current = block;
  return true;
}

void* tfrt_send_memory_take(tfrt_send_memory_t* memory, size_t size,
                            tfrt_send_block_t** out_block) {
  size = (size + 15) & ~(size_t)15;
  tfrt_send_block_t* block = memory->current;
  if (TFRT_UNLIKELY(!block || block->size - block->used < size)) {
    if (!tfrt_send_memory_grow(memory, size)) return NULL;
    block = memory->current;
  }
  void* piece = block->bytes + block->used;
  block->used += size;
  ++block->live;
  *out_block = block;
  return piece;
}

void tfrt_send_memory_give_back(tfrt_send_memory_t* memory, tfrt_send_block_t* block) {
  if (--block->live > 0) return;
  bool is_kept = block == memory->current && TFRT_SEND_BLOCK_SIZE > 0;
  if (is_kept) {
    block->used = 0;
    return;
  }
  if (block == memory->current) memory->current = NULL;
  tfrt_allocator_free(memory->allocator, block, sizeof(*block) + block->size);
}
