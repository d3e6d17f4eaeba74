// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/region.h"

#include <sys/mman.h>

// The size of a huge page, on the systems that this runs on.
#define HUGE_PAGE_SIZE ((size_t)2 * 1024 * 1024)
// What is small stays in small pages: clearing a huge one costs as much as touching 70 of them.
#define SMALL_PART_SIZE ((size_t)256 * 1024)

static uintptr_t align(uintptr_t address, size_t alignment) {
  return (address + alignment - 1) & ~(uintptr_t)(alignment - 1);
}

void tfrt_region_initialize(tfrt_region_t* region, size_t size) {
  *region = (tfrt_region_t){.mapping = NULL};
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
  atomic_init(&region->position, region->begin);
  // A system that has no huge pages, or none left, gives small ones.
  (void)madvise((void*)huge, region->end - huge, MADV_HUGEPAGE);
}

void tfrt_region_deinitialize(tfrt_region_t* region) {
  if (region->mapping) munmap(region->mapping, region->mapping_size);
  *region = (tfrt_region_t){.mapping = NULL};
}

static void* allocate(void* self, size_t size, size_t alignment) {
  tfrt_region_t* region = self;
  uintptr_t position = atomic_load_explicit(&region->position, memory_order_relaxed);
  uintptr_t block;
  do {
    block = align(position, alignment);
    if (block >= region->end || size > region->end - block) {
      return tfrt_allocator_allocate_aligned(tfrt_allocator_system(), size, alignment);
    }
    // Acquire, the partner of the release in deallocate(): who used the block before is done.
  } while (!atomic_compare_exchange_weak_explicit(&region->position, &position, block + size,
                                                  memory_order_acquire, memory_order_relaxed));
  return (void*)block;
}

static void deallocate(void* self, void* pointer, size_t size, size_t alignment) {
  tfrt_region_t* region = self;
  uintptr_t block = (uintptr_t)pointer;
  if (block < region->begin || block >= region->end) {
    tfrt_allocator_free_aligned(tfrt_allocator_system(), pointer, size, alignment);
    return;
  }
  uintptr_t behind = block + size;
  // Release, the partner of the acquire in allocate(). It fails where blocks lie behind this one.
  atomic_compare_exchange_strong_explicit(&region->position, &behind, block, memory_order_release,
                                          memory_order_relaxed);
}

tfrt_allocator_t tfrt_region_allocator(tfrt_region_t* region) {
  static const tfrt_allocator_vtable_t vtable = {
      .allocate = allocate,
      .deallocate = deallocate,
  };
  return (tfrt_allocator_t){&vtable, region};
}
