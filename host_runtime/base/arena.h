// SPDX-License-Identifier: Apache-2.0
//
// Many small pieces of memory that live and die together: a loaded program, the IR of
// a compiler. Allocating moves a pointer; freeing a single piece doesn't exist.
//
//   arena -> [ header | used .... | room ] -> [ header | used ......... ] -> NULL
//             newest block                     older, full
//
// Life:
//  1. Initialised with an allocator; nothing is allocated yet.
//  2. Pieces are allocated; blocks double in size up to a limit. A big piece that doesn't fit in
//     the next block gets one of its own, without room for others.
//  3. Deinitialised: all pieces are gone at once.
//
// Thread rule: thread-compatible (caller synchronises); pieces may be read by all.
// Failure rule: NULL when memory is out; nothing else changes.
#ifndef TFRT_HOST_RUNTIME_BASE_ARENA_H_
#define TFRT_HOST_RUNTIME_BASE_ARENA_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/string_view.h"

typedef struct tfrt_arena_block_s tfrt_arena_block_t;

typedef struct tfrt_arena_s {
  tfrt_allocator_t allocator;
  tfrt_arena_block_t* blocks;  // newest first
  char* position;              // next free byte of the newest block
  char* end;                   // of the newest block
  size_t next_block_size;
  size_t reserved_size;  // the least of the next block alone
  size_t used_size;      // bytes that were asked for
} tfrt_arena_t;

// Makes |arena| an empty one over |allocator|. Thread-compatible.
void tfrt_arena_initialize(tfrt_arena_t* arena, tfrt_allocator_t allocator);

// Frees all pieces of |arena|, which is empty again and may be used on.
// Thread-compatible.
void tfrt_arena_deinitialize(tfrt_arena_t* arena);

// The same, but for one block of at most |kept_size| bytes, the newest, which the next pieces come
// from: for callers that fill and empty an arena again and again. Thread-compatible.
void tfrt_arena_clear(tfrt_arena_t* arena, size_t kept_size);

// Lets the next block have room for |size| bytes, up to a limit: who knows that he will need
// so much saves the small blocks before it. Thread-compatible.
void tfrt_arena_reserve(tfrt_arena_t* arena, size_t size);

// Adds a block with room for |size| bytes at any place of |alignment|; false when memory is out.
// For tfrt_arena_take(). Thread-compatible.
bool tfrt_arena_grow(tfrt_arena_t* arena, size_t size, size_t alignment) TFRT_MUST_USE;

// Returns |size| undefined bytes with |alignment|, a power of two up to 4096, or NULL: for what is
// filled in at once. Thread-compatible.
TFRT_ALWAYS_INLINE void* tfrt_arena_take(tfrt_arena_t* arena, size_t size, size_t alignment) {
  size_t padding = (size_t)(-(uintptr_t)arena->position & (alignment - 1));
  size_t room = (size_t)(arena->end - arena->position);
  // Also false before the first block, whatever the size.
  bool fits = padding < room && size <= room - padding;
  if (!fits) {
    if (!tfrt_arena_grow(arena, size, alignment)) return NULL;
    padding = (size_t)(-(uintptr_t)arena->position & (alignment - 1));
  }
  char* piece = arena->position + padding;
  arena->position = piece + size;
  arena->used_size += size;
  return piece;
}

// Returns |size| zeroed bytes, with the default alignment of allocators, or NULL. A
// size of 0 gives an address that nothing may be read from. Thread-compatible.
void* tfrt_arena_allocate(tfrt_arena_t* arena, size_t size) TFRT_MUST_USE;

// The same with |alignment|, a power of two up to 4096. Thread-compatible.
void* tfrt_arena_allocate_aligned(tfrt_arena_t* arena, size_t size, size_t alignment) TFRT_MUST_USE;

// The same for |count| elements of |element_size| bytes; NULL also when the product
// overflows. Thread-compatible.
void* tfrt_arena_allocate_array(tfrt_arena_t* arena, size_t count, size_t element_size)
    TFRT_MUST_USE;

// The same with undefined bytes, for an array that may be written only in part: its other pages are
// never touched. Thread-compatible.
void* tfrt_arena_allocate_room(tfrt_arena_t* arena, size_t count, size_t element_size)
    TFRT_MUST_USE;

// Returns a copy of |text| with a NUL behind it, or NULL. Thread-compatible.
char* tfrt_arena_copy_string(tfrt_arena_t* arena, tfrt_string_view_t text) TFRT_MUST_USE;

// Returns a copy of the |size| bytes at |data|, aligned to |alignment|, or NULL.
// Thread-compatible.
void* tfrt_arena_copy(tfrt_arena_t* arena, const void* data, size_t size, size_t alignment)
    TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_BASE_ARENA_H_
