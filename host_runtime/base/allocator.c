// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/allocator.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "host_runtime/base/block_cache.h"
#include "host_runtime/base/recent_blocks.h"

// The size of a huge page, on the systems that this runs on.
#define HUGE_PAGE_SIZE ((size_t)2 * 1024 * 1024)

// The size of a cache line, and of the widest vector register.
#define LINE_SIZE ((size_t)64)

// Returns a block that begins a huge page. Touching a page for the first time costs more
// than filling it with data; a huge page is touched once where 512 small ones would be.
// Only whole pages of the block are asked for: its rest must not make it bigger.
static void* allocate_huge(size_t size, size_t alignment) {
  void* block = NULL;
  size_t wanted = alignment > HUGE_PAGE_SIZE ? alignment : HUGE_PAGE_SIZE;
  if (posix_memalign(&block, wanted, size) != 0) return NULL;
  // A system that has no huge pages, or none left, gives small ones.
  (void)madvise(block, size / HUGE_PAGE_SIZE * HUGE_PAGE_SIZE, MADV_HUGEPAGE);
  return block;
}

// Whether blocks of |alignment| are those of elements, which begin with a cache line. A sanitizer
// shall see a use of the first byte behind such a block, and a use of the block after it was freed.
static bool is_of_elements(size_t alignment) {
#ifdef TFRT_SANITIZED
  (void)alignment;
  return false;
#else
  return alignment > TFRT_ALLOCATOR_DEFAULT_ALIGNMENT && alignment <= LINE_SIZE;
#endif
}

// Whether blocks of |size| and |alignment| are those of allocate_in_line().
static bool is_in_line(size_t size, size_t alignment) {
  return size < HUGE_PAGE_SIZE && is_of_elements(alignment);
}

// Whether blocks of |size| and |alignment| are kept for the next request. A growing object, such as
// a table, never asks for the same size again.
static bool is_kept(size_t size, size_t alignment) {
  return size >= HUGE_PAGE_SIZE && is_of_elements(alignment);
}

static tfrt_block_cache_t kept_blocks = TFRT_BLOCK_CACHE_INITIALIZER;

// Returns a block that begins with a cache line, with the address that malloc gave before it.
// The library's way cuts the piece before the block off and frees it, and so leaves a heap
// full of crumbs, which are swept together again and again.
static void* allocate_in_line(size_t size) {
  void* recent = tfrt_recent_blocks_take(size);
  if (recent) return recent;
  char* block = malloc(size + LINE_SIZE);
  if (!block) return NULL;
  char* aligned = block + LINE_SIZE - (uintptr_t)block % LINE_SIZE;
  memcpy(aligned - sizeof(block), &block, sizeof(block));
  return aligned;
}

static void free_in_line(void* pointer) {
  char* block;
  memcpy(&block, (char*)pointer - sizeof(block), sizeof(block));
  free(block);
}

static void* system_allocate(void* self, size_t size, size_t alignment) {
  (void)self;
  void* kept = is_kept(size, alignment) ? tfrt_block_cache_take(&kept_blocks, size) : NULL;
  if (kept) return kept;
  if (size >= HUGE_PAGE_SIZE) return allocate_huge(size, alignment);
  // A block of malloc is aligned for any scalar, which is the default alignment on the 64-bit
  // systems that this runs on.
  if (alignment <= TFRT_ALLOCATOR_DEFAULT_ALIGNMENT) return malloc(size);
  if (is_in_line(size, alignment)) return allocate_in_line(size);
  void* block = NULL;
  return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

static void system_deallocate(void* self, void* pointer, size_t size, size_t alignment) {
  (void)self;
  if (is_in_line(size, alignment)) {
    tfrt_recent_blocks_put(pointer, size, free_in_line);
  } else if (is_kept(size, alignment)) {
    tfrt_block_cache_put(&kept_blocks, pointer, size, free);
  } else {
    free(pointer);
  }
}

_Static_assert(_Alignof(max_align_t) >= TFRT_ALLOCATOR_DEFAULT_ALIGNMENT,
               "malloc gives the default alignment");

tfrt_allocator_t tfrt_allocator_system(void) {
  static const tfrt_allocator_vtable_t vtable = {
      .allocate = system_allocate,
      .deallocate = system_deallocate,
  };
  return (tfrt_allocator_t){&vtable, NULL};
}

// An allocator never sees the size 0, so that each block has an address of its own.
static size_t at_least_one(size_t size) { return size ? size : 1; }

void* tfrt_allocator_allocate_aligned(tfrt_allocator_t allocator, size_t size, size_t alignment) {
  return allocator.vtable->allocate(allocator.self, at_least_one(size), alignment);
}

void tfrt_allocator_free_aligned(tfrt_allocator_t allocator, void* pointer, size_t size,
                                 size_t alignment) {
  if (!pointer) return;
  allocator.vtable->deallocate(allocator.self, pointer, at_least_one(size), alignment);
}

void* tfrt_allocator_allocate(tfrt_allocator_t allocator, size_t size) {
  return tfrt_allocator_allocate_aligned(allocator, size, TFRT_ALLOCATOR_DEFAULT_ALIGNMENT);
}

void* tfrt_allocator_allocate_zeroed(tfrt_allocator_t allocator, size_t size) {
  void* block = tfrt_allocator_allocate(allocator, size);
  if (block) memset(block, 0, size);
  return block;
}

void* tfrt_allocator_allocate_array(tfrt_allocator_t allocator, size_t count, size_t element_size) {
  size_t size = 0;
  if (!tfrt_size_multiply(count, element_size, &size)) return NULL;
  return tfrt_allocator_allocate_zeroed(allocator, size);
}

void* tfrt_allocator_reallocate(tfrt_allocator_t allocator, void* pointer, size_t old_size,
                                size_t new_size) {
  void* block = tfrt_allocator_allocate(allocator, new_size);
  if (!block) return NULL;
  if (pointer) {
    memcpy(block, pointer, old_size < new_size ? old_size : new_size);
    tfrt_allocator_free(allocator, pointer, old_size);
  }
  return block;
}

void tfrt_allocator_free(tfrt_allocator_t allocator, void* pointer, size_t size) {
  tfrt_allocator_free_aligned(allocator, pointer, size, TFRT_ALLOCATOR_DEFAULT_ALIGNMENT);
}

char* tfrt_allocator_copy_string(tfrt_allocator_t allocator, const char* text, size_t length) {
  size_t size = 0;
  if (!tfrt_size_add(length, 1, &size)) return NULL;
  char* copy = tfrt_allocator_allocate(allocator, size);
  if (!copy) return NULL;
  if (length) memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}
