// SPDX-License-Identifier: Apache-2.0
#include "embedding/exact_allocator.h"

// More than a cache line: the system's allocator keeps no blocks of such an alignment.
#define ALIGNMENT 128

static size_t at_least(size_t alignment) { return alignment < ALIGNMENT ? ALIGNMENT : alignment; }

static void* allocate(void* self, size_t size, size_t alignment) {
  (void)self;
  return tfrt_allocator_allocate_aligned(tfrt_allocator_system(), size, at_least(alignment));
}

static void deallocate(void* self, void* pointer, size_t size, size_t alignment) {
  (void)self;
  tfrt_allocator_free_aligned(tfrt_allocator_system(), pointer, size, at_least(alignment));
}

tfrt_allocator_t tfrt_exact_allocator(void) {
  static const tfrt_allocator_vtable_t vtable = {.allocate = allocate, .deallocate = deallocate};
  return (tfrt_allocator_t){.vtable = &vtable};
}
