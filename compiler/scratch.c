// SPDX-License-Identifier: Apache-2.0

#include "compiler/scratch.h"

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

bool tfrt_scratch_push(tfrt_scratch_t* scratch, const void* element) {
  if (scratch->count == scratch->capacity) {
    size_t capacity = scratch->capacity ? 2 * scratch->capacity : 32;
    void* grown = tfrt_allocator_reallocate(scratch->allocator, scratch->data,
                                            scratch->capacity * scratch->element_size,
                                            capacity * scratch->element_size);
    if (!grown) return false;
    scratch->data = grown;
    scratch->capacity = capacity;
  }
  memcpy(scratch->data + scratch->count * scratch->element_size, element, scratch->element_size);
  ++scratch->count;
  return true;
}
