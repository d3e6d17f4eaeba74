// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/counting_allocator.h"

#include <stddef.h>

// All operations here are relaxed: the numbers say nothing about other memory.

static int64_t add(_Atomic int64_t* number, int64_t amount) {
  return atomic_fetch_add_explicit(number, amount, memory_order_relaxed) + amount;
}

static void raise_to(_Atomic int64_t* maximum, int64_t value) {
  int64_t seen = atomic_load_explicit(maximum, memory_order_relaxed);
  while (seen < value && !atomic_compare_exchange_weak_explicit(
                             maximum, &seen, value, memory_order_relaxed, memory_order_relaxed)) {
  }
}

// Adds |size| to the bytes that are alive, unless that passes the limit. A plain
// addition that is taken back could refuse another thread's request for nothing.
static bool reserve_bytes(tfrt_counting_allocator_t* allocator, size_t size, int64_t* out_bytes) {
  int64_t seen = atomic_load_explicit(&allocator->current_bytes, memory_order_relaxed);
  do {
    if (size > INT64_MAX || (int64_t)size > allocator->limit_bytes - seen) return false;
    *out_bytes = seen + (int64_t)size;
  } while (!atomic_compare_exchange_weak_explicit(&allocator->current_bytes, &seen, *out_bytes,
                                                  memory_order_relaxed, memory_order_relaxed));
  return true;
}

static void* counting_allocate(void* self, size_t size, size_t alignment) {
  tfrt_counting_allocator_t* allocator = self;
  int64_t bytes = 0;
  if (!reserve_bytes(allocator, size, &bytes)) return NULL;
  void* block = tfrt_allocator_allocate_aligned(allocator->base, size, alignment);
  if (!block) {
    add(&allocator->current_bytes, -(int64_t)size);
    return NULL;
  }
  raise_to(&allocator->max_bytes, bytes);
  raise_to(&allocator->max_count, add(&allocator->current_count, 1));
  add(&allocator->total_count, 1);
  return block;
}

static void counting_deallocate(void* self, void* pointer, size_t size, size_t alignment) {
  tfrt_counting_allocator_t* allocator = self;
  tfrt_allocator_free_aligned(allocator->base, pointer, size, alignment);
  add(&allocator->current_count, -1);
  add(&allocator->current_bytes, -(int64_t)size);
}

void tfrt_counting_allocator_initialize(tfrt_counting_allocator_t* allocator, tfrt_allocator_t base,
                                        int64_t limit_bytes) {
  allocator->base = base;
  allocator->limit_bytes = limit_bytes;
  atomic_init(&allocator->current_count, 0);
  atomic_init(&allocator->max_count, 0);
  atomic_init(&allocator->total_count, 0);
  atomic_init(&allocator->current_bytes, 0);
  atomic_init(&allocator->max_bytes, 0);
}

tfrt_allocator_t tfrt_counting_allocator_interface(tfrt_counting_allocator_t* allocator) {
  static const tfrt_allocator_vtable_t vtable = {
      .allocate = counting_allocate,
      .deallocate = counting_deallocate,
  };
  return (tfrt_allocator_t){&vtable, allocator};
}

tfrt_allocation_counts_t tfrt_counting_allocator_counts(
    const tfrt_counting_allocator_t* allocator) {
  tfrt_counting_allocator_t* books = (tfrt_counting_allocator_t*)allocator;
  return (tfrt_allocation_counts_t){
      .current_count = atomic_load_explicit(&books->current_count, memory_order_relaxed),
      .max_count = atomic_load_explicit(&books->max_count, memory_order_relaxed),
      .total_count = atomic_load_explicit(&books->total_count, memory_order_relaxed),
      .current_bytes = atomic_load_explicit(&books->current_bytes, memory_order_relaxed),
      .max_bytes = atomic_load_explicit(&books->max_bytes, memory_order_relaxed),
  };
}
