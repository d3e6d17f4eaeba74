// SPDX-License-Identifier: Apache-2.0
//
// Where memory comes from. An allocator is two words, passed by value just before the outputs and
// stored by each object that has to free memory. Only allocator.c calls malloc;
// counting_allocator.h wraps any allocator with accounts.
//
// Sizes are given back with the memory, so that an allocator needs no header in
// front of a block and can keep books to the byte.
//
// Thread rule: every allocator is thread-safe.
// Failure rule: NULL when memory or budget is out; nothing else changes.
#ifndef TFRT_HOST_RUNTIME_BASE_ALLOCATOR_H_
#define TFRT_HOST_RUNTIME_BASE_ALLOCATOR_H_

#include <stdbool.h>
#include <stddef.h>

#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

// The operations of an allocator. |self| is the allocator's own state.
typedef struct tfrt_allocator_vtable_s {
  // Returns |size| > 0 bytes aligned to |alignment|, a power of two, or NULL.
  void* (*allocate)(void* self, size_t size, size_t alignment);
  // Takes back |pointer|, which allocate gave for |size| and |alignment|.
  void (*deallocate)(void* self, void* pointer, size_t size, size_t alignment);
} tfrt_allocator_vtable_t;

typedef struct tfrt_allocator_s {
  const tfrt_allocator_vtable_t* vtable;
  void* self;  // owned by the allocator's maker; outlives all of its blocks
} tfrt_allocator_t;

// Alignment of tfrt_allocator_allocate(): fit for any scalar or pointer.
#define TFRT_ALLOCATOR_DEFAULT_ALIGNMENT 16

// The allocator of the process: the C library's heap. Thread-safe.
tfrt_allocator_t tfrt_allocator_system(void);

// Returns |size| bytes with the default alignment, or NULL when memory is out.
// A size of 0 gives a block that must be freed with size 0. Thread-safe.
void* tfrt_allocator_allocate(tfrt_allocator_t allocator, size_t size) TFRT_MUST_USE;

// The same, with every byte zero. Thread-safe.
void* tfrt_allocator_allocate_zeroed(tfrt_allocator_t allocator, size_t size) TFRT_MUST_USE;

// The same for |count| elements of |element_size| bytes each, zeroed; NULL also
// when the product overflows. Freed with the product as its size. Thread-safe.
void* tfrt_allocator_allocate_array(tfrt_allocator_t allocator, size_t count, size_t element_size)
    TFRT_MUST_USE;

// Grows or shrinks the block |pointer| (which may be NULL with |old_size| 0) of
// |old_size| bytes with default alignment to |new_size|, keeping the contents.
// Returns the new block; on failure NULL, and the old block stays. Thread-safe.
void* tfrt_allocator_reallocate(tfrt_allocator_t allocator, void* pointer, size_t old_size,
                                size_t new_size) TFRT_MUST_USE;

// Gives back a block of |size| bytes with the default alignment. NULL is allowed.
// Thread-safe.
void tfrt_allocator_free(tfrt_allocator_t allocator, void* pointer, size_t size);

// Returns |size| bytes aligned to |alignment|, a power of two, or NULL; given back
// by tfrt_allocator_free_aligned() with the same numbers. Thread-safe.
void* tfrt_allocator_allocate_aligned(tfrt_allocator_t allocator, size_t size, size_t alignment)
    TFRT_MUST_USE;
void tfrt_allocator_free_aligned(tfrt_allocator_t allocator, void* pointer, size_t size,
                                 size_t alignment);

// Returns a copy (NUL-terminated) of the |length| bytes at |text|, or NULL. Freed
// with size |length| + 1. Thread-safe.
char* tfrt_allocator_copy_string(tfrt_allocator_t allocator, const char* text, size_t length)
    TFRT_MUST_USE;

// Sets |*out_result| to a * b, or a + b, and returns true, or returns false if that
// overflows. Thread-safe.
static inline bool tfrt_size_multiply(size_t a, size_t b, size_t* out_result) {
  return !__builtin_mul_overflow(a, b, out_result);
}
static inline bool tfrt_size_add(size_t a, size_t b, size_t* out_result) {
  return !__builtin_add_overflow(a, b, out_result);
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_ALLOCATOR_H_
