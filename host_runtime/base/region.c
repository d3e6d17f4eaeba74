// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/region.h"

#include <sys/mman.h>

// The size of a huge page, on the systems that this runs on.
#define HUGE_PAGE_SIZE ((size_t)2 * 1024 * 1024)
// Small blocks stay in small pages: clearing a huge page costs as much as touching 70 small ones.
#define SMALL_PART_SIZE ((size_t)256 * 1024)

// Blocks from here on are worth a place in the list, and lie in huge pages: who asks for one needs
// more than the small part has.
#define BIG_SIZE ((size_t)64 * 1024)

struct tfrt_region_free_s {
  tfrt_region_free_t* next;
  size_t size;
};

static uintptr_t align(uintptr_t address, size_t alignment) {
  return (address + alignment - 1) & ~(uintptr_t)(alignment - 1);
}

void tfrt_region_initialize(tfrt_region_t* region, size_t size) {
  *region = (tfrt_region_t){.mapping = NULL};
  tfrt_mutex_initialize(&region->mutex);
  size_t mapping_size;
  if (!tfrt_size_add(size, 2 * HUGE_PAGE_SIZE, &mapping_size)) return;
  void* mapping = mmap(NULL, mapping_size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return;
  region->mapping = mapping;
  region->mapping_size = mapping_size;
  region->end = (uintptr_t)mapping + mapping_size;
  uintptr_t huge = align((uintptr_t)mapping + SMALL_PART_SIZE, HUGE_PAGE_SIZE);
  region->begin = huge - SMALL_PART_SIZE;
  region->small = (tfrt_region_part_t){region->begin, huge};
  region->huge = (tfrt_region_part_t){huge, region->end};
  // A system that has no huge pages, or none left, gives small ones.
  (void)madvise((void*)huge, region->end - huge, MADV_HUGEPAGE);
}

void tfrt_region_deinitialize(tfrt_region_t* region) {
  if (region->mapping) munmap(region->mapping, region->mapping_size);
  tfrt_mutex_deinitialize(&region->mutex);
}

// Takes a block from those that were given back; 0 if none is big enough. The mutex is held.
static uintptr_t take_free(tfrt_region_t* region, size_t size, size_t alignment) {
  for (tfrt_region_free_t** link = &region->free; *link; link = &(*link)->next) {
    tfrt_region_free_t* found = *link;
    uintptr_t end = (uintptr_t)found + found->size;
    uintptr_t block = align((uintptr_t)found, alignment);
    if (block > end || size > end - block) continue;
    uintptr_t rest = align(block + size, TFRT_ALLOCATOR_DEFAULT_ALIGNMENT);
    tfrt_region_free_t* next = found->next;
    *link = next;
    if (rest < end && end - rest >= BIG_SIZE) {
      *link = (tfrt_region_free_t*)rest;
      **link = (tfrt_region_free_t){next, end - rest};
    }
    return block;
  }
  return 0;
}

// Takes a block from what was never used of |part|; 0 if that is too little. The mutex is held.
static uintptr_t take_new(tfrt_region_part_t* part, size_t size, size_t alignment) {
  uintptr_t block = align(part->position, alignment);
  if (block >= part->end || size > part->end - block) return 0;
  part->position = block + size;
  return block;
}

static void* allocate(void* self, size_t size, size_t alignment) {
  tfrt_region_t* region = self;
  tfrt_mutex_lock(&region->mutex);
  uintptr_t block = size >= BIG_SIZE ? take_free(region, size, alignment) : 0;
  if (!block && size < BIG_SIZE) block = take_new(&region->small, size, alignment);
  if (!block) block = take_new(&region->huge, size, alignment);
  tfrt_mutex_unlock(&region->mutex);
  if (block) return (void*)block;
  return tfrt_allocator_allocate_aligned(tfrt_allocator_system(), size, alignment);
}

// Where the next block may begin, behind one that ends at |end|.
static uintptr_t behind(uintptr_t end) { return align(end, TFRT_ALLOCATOR_DEFAULT_ALIGNMENT); }

// Takes those blocks from the list that lie beside the bytes from |*begin| to |*end|, and lets
// these take in theirs. The mutex is held.
static void join_neighbours(tfrt_region_t* region, uintptr_t* begin, uintptr_t* end) {
  tfrt_region_free_t** link = &region->free;
  while (*link) {
    tfrt_region_free_t* free = *link;
    const uintptr_t free_end = (uintptr_t)free + free->size;
    if (behind(free_end) == *begin) {
      *begin = (uintptr_t)free;
    } else if (behind(*end) == (uintptr_t)free) {
      *end = free_end;
    } else {
      link = &free->next;
      continue;
    }
    *link = free->next;
  }
}

// Puts the block at |block| where it is found again. The mutex is held.
static void give_back(tfrt_region_t* region, uintptr_t block, size_t size) {
  tfrt_region_part_t* part = block < region->small.end ? &region->small : &region->huge;
  uintptr_t begin = behind(block);
  uintptr_t end = block + size;
  if (size >= BIG_SIZE) join_neighbours(region, &begin, &end);
  if (end == part->position) {
    part->position = size >= BIG_SIZE ? begin : block;
    return;
  }
  if (size < BIG_SIZE) return;
  tfrt_region_free_t* free = (tfrt_region_free_t*)begin;
  *free = (tfrt_region_free_t){region->free, end - begin};
  region->free = free;
}

static void deallocate(void* self, void* pointer, size_t size, size_t alignment) {
  tfrt_region_t* region = self;
  uintptr_t block = (uintptr_t)pointer;
  if (block < region->begin || block >= region->end) {
    tfrt_allocator_free_aligned(tfrt_allocator_system(), pointer, size, alignment);
    return;
  }
  tfrt_mutex_lock(&region->mutex);
  give_back(region, block, size);
  tfrt_mutex_unlock(&region->mutex);
}

tfrt_allocator_t tfrt_region_allocator(tfrt_region_t* region) {
  static const tfrt_allocator_vtable_t vtable = {
      .allocate = allocate,
      .deallocate = deallocate,
  };
  return (tfrt_allocator_t){&vtable, region};
}
