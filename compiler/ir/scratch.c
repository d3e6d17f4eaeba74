// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/scratch.h"

#include <string.h>

void tfrt_scratch_initialize(tfrt_scratch_t* scratch, size_t element_size,
                             tfrt_allocator_t allocator) {
  *scratch = (tfrt_scratch_t){.allocator = allocator, .element_size = element_size};
}

void tfrt_scratch_deinitialize(tfrt_scratch_t* scratch) {
  tfrt_allocator_free(scratch->allocator, scratch->data, scratch->capacity * scratch->element_size);
  scratch->data = NULL;
  scratch->count = 0;
  scratch->capacity = 0;
}

bool tfrt_scratch_grow(tfrt_scratch_t* scratch) {
  size_t capacity = scratch->capacity ? 2 * scratch->capacity : 32;
  void* grown = tfrt_allocator_reallocate(scratch->allocator, scratch->data,
                                          scratch->capacity * scratch->element_size,
                                          capacity * scratch->element_size);
  if (!grown) return false;
  scratch->data = grown;
  scratch->capacity = capacity;
  return true;
}

bool tfrt_scratch_push(tfrt_scratch_t* scratch, const void* element) {
  void* top = tfrt_scratch_add(scratch);
  if (top) memcpy(top, element, scratch->element_size);
  return top != NULL;
}
