// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define FIRST_BLOCK_SIZE ((size_t)1024)
// Whole huge pages (allocator.c), several of them.
#define LAST_BLOCK_SIZE ((size_t)8 * 1024 * 1024)
// From here on a piece that needs a new block gets one that just fits.
#define BIG_PIECE_SIZE ((size_t)64 * 1024)
#define MAX_ALIGNMENT ((size_t)4096)

struct tfrt_arena_block_s {
  tfrt_arena_block_t* next;
  size_t size;  // with this header
};

void tfrt_arena_initialize(tfrt_arena_t* arena, tfrt_allocator_t allocator) {
  *arena = (tfrt_arena_t){.allocator = allocator, .next_block_size = FIRST_BLOCK_SIZE};
}

void tfrt_arena_deinitialize(tfrt_arena_t* arena) {
  while (arena->blocks) {
    tfrt_arena_block_t* block = arena->blocks;
    arena->blocks = block->next;
    tfrt_allocator_free(arena->allocator, block, block->size);
  }
  tfrt_arena_initialize(arena, arena->allocator);
}

void tfrt_arena_clear(tfrt_arena_t* arena, size_t kept_size) {
  tfrt_arena_block_t* kept = arena->blocks;
  if (!kept || kept->size > kept_size) {
    tfrt_arena_deinitialize(arena);
    return;
  }
  arena->blocks = kept->next;
  tfrt_arena_deinitialize(arena);
  kept->next = NULL;
  arena->blocks = kept;
  arena->position = (char*)(kept + 1);
  arena->end = (char*)kept + kept->size;
  if (arena->next_block_size < kept->size) arena->next_block_size = kept->size;
}

void tfrt_arena_reserve(tfrt_arena_t* arena, size_t size) {
  const size_t most = LAST_BLOCK_SIZE - sizeof(tfrt_arena_block_t);
  size = sizeof(tfrt_arena_block_t) + (size < most ? size : most);
  if (arena->reserved_size < size) arena->reserved_size = size;
}

bool tfrt_arena_grow(tfrt_arena_t* arena, size_t size, size_t alignment) {
  assert(alignment > 0 && alignment <= MAX_ALIGNMENT && (alignment & (alignment - 1)) == 0);
  size_t needed = 0;
  if (!tfrt_size_add(size, sizeof(tfrt_arena_block_t) + alignment, &needed)) return false;
  while (needed < BIG_PIECE_SIZE && arena->next_block_size < needed) arena->next_block_size *= 2;
  size_t block_size = arena->next_block_size;
  if (arena->reserved_size > block_size) block_size = arena->reserved_size;
  if (needed > block_size) block_size = needed;
  tfrt_arena_block_t* block = tfrt_allocator_allocate(arena->allocator, block_size);
  if (!block) return false;
  // A caller that needs more than it reserved needs little more.
  while (arena->next_block_size < arena->reserved_size / 8) arena->next_block_size *= 2;
  arena->reserved_size = 0;
  if (block_size == arena->next_block_size && block_size < LAST_BLOCK_SIZE) {
    arena->next_block_size *= 2;
  }
  block->next = arena->blocks;
  block->size = block_size;
  arena->blocks = block;
  arena->position = (char*)(block + 1);
  arena->end = (char*)block + block_size;
  return true;
}

void* tfrt_arena_allocate_aligned(tfrt_arena_t* arena, size_t size, size_t alignment) {
  char* piece = tfrt_arena_take(arena, size, alignment);
  if (piece) memset(piece, 0, size);
  return piece;
}

void* tfrt_arena_allocate_room(tfrt_arena_t* arena, size_t count, size_t element_size) {
  size_t size = 0;
  if (!tfrt_size_multiply(count, element_size, &size)) return NULL;
  return tfrt_arena_take(arena, size, TFRT_ALLOCATOR_DEFAULT_ALIGNMENT);
}

void* tfrt_arena_allocate(tfrt_arena_t* arena, size_t size) {
  return tfrt_arena_allocate_aligned(arena, size, TFRT_ALLOCATOR_DEFAULT_ALIGNMENT);
}

void* tfrt_arena_allocate_array(tfrt_arena_t* arena, size_t count, size_t element_size) {
  size_t size = 0;
  if (!tfrt_size_multiply(count, element_size, &size)) return NULL;
  return tfrt_arena_allocate(arena, size);
}

char* tfrt_arena_copy_string(tfrt_arena_t* arena, tfrt_string_view_t text) {
  size_t size = 0;
  if (!tfrt_size_add(text.size, 1, &size)) return NULL;
  char* copy = tfrt_arena_allocate_aligned(arena, size, 1);
  if (copy && text.size) memcpy(copy, text.data, text.size);
  return copy;
}

void* tfrt_arena_copy(tfrt_arena_t* arena, const void* data, size_t size, size_t alignment) {
  void* copy = tfrt_arena_take(arena, size, alignment);
  if (copy && size) memcpy(copy, data, size);
  return copy;
}
