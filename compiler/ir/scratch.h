// SPDX-License-Identifier: Apache-2.0
//
// A stack of equal elements, on which a recursive parser gathers lists whose length it
// doesn't know, one list on top of the other.
//
//   | operands of the outer op | operands of the inner op |  room
//                              ^ mark                     ^ count
//
// Life:
//  1. Initialised for elements of one size.
//  2. A list begins at a mark, the count so far; elements are pushed; the finished list
//     is copied out, and the count set back to the mark.
//  3. Deinitialised.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: a push returns false when memory is out, and changes nothing.
#ifndef TFRT_COMPILER_IR_SCRATCH_H_
#define TFRT_COMPILER_IR_SCRATCH_H_

#include <stdbool.h>
#include <stddef.h>

#include "host_runtime/base/allocator.h"

typedef struct tfrt_scratch_s {
  tfrt_allocator_t allocator;
  char* data;
  size_t element_size;
  size_t count;     // the mark of a list that begins now
  size_t capacity;  // in elements
} tfrt_scratch_t;

// Makes |scratch| empty, for elements of |element_size| bytes. Thread-compatible
// (caller synchronises).
void tfrt_scratch_initialize(tfrt_scratch_t* scratch, size_t element_size,
                             tfrt_allocator_t allocator);

// Gives back the memory of |scratch|. Thread-compatible (caller synchronises).
void tfrt_scratch_deinitialize(tfrt_scratch_t* scratch);

// Makes room for more elements; false when memory is out. For tfrt_scratch_add().
// Thread-compatible (caller synchronises).
bool tfrt_scratch_grow(tfrt_scratch_t* scratch) TFRT_MUST_USE;

// Adds an element at the top, which the caller fills in at once, and returns it; NULL when
// memory is out. Pointers into the stack are void after that. Thread-compatible (caller
// synchronises).
static inline void* tfrt_scratch_add(tfrt_scratch_t* scratch) {
  if (scratch->count == scratch->capacity && !tfrt_scratch_grow(scratch)) return NULL;
  return scratch->data + scratch->count++ * scratch->element_size;
}

// Copies |element| to the top; false when memory is out. Pointers into the stack are
// void after that. Thread-compatible (caller synchronises).
bool tfrt_scratch_push(tfrt_scratch_t* scratch, const void* element) TFRT_MUST_USE;

// The address of element |index|; with the count itself as index, one that nothing may
// be read from. Void after the next push. Thread-compatible (caller synchronises).
static inline void* tfrt_scratch_at(const tfrt_scratch_t* scratch, size_t index) {
  return scratch->data ? scratch->data + index * scratch->element_size : NULL;
}

#endif  // TFRT_COMPILER_IR_SCRATCH_H_
