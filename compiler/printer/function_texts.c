// SPDX-License-Identifier: Apache-2.0

#include "compiler/printer/function_texts.h"

#include <string.h>

#define FIRST_CAPACITY ((size_t)64 * 1024)

typedef struct hole_s {
  size_t position;  // in what is around
  size_t size;      // of the text that goes there
} hole_t;

void tfrt_function_texts_initialize(tfrt_function_texts_t* texts, tfrt_allocator_t allocator) {
  *texts = (tfrt_function_texts_t){.allocator = allocator};
  tfrt_scratch_initialize(&texts->holes, sizeof(hole_t), allocator);
}

void tfrt_function_texts_deinitialize(tfrt_function_texts_t* texts) {
  tfrt_allocator_free(texts->allocator, texts->data, texts->capacity);
  tfrt_scratch_deinitialize(&texts->holes);
}

bool tfrt_function_texts_reserve(tfrt_function_texts_t* texts, size_t size) {
  if (size <= texts->begin) return true;
  size_t used = texts->capacity - texts->begin;
  size_t capacity = texts->capacity ? texts->capacity : FIRST_CAPACITY;
  size_t needed = 0;
  if (!tfrt_size_add(used, size, &needed)) return false;
  while (capacity < needed) {
    if (!tfrt_size_multiply(capacity, 2, &capacity)) capacity = needed;
  }
  char* data = tfrt_allocator_allocate(texts->allocator, capacity);
  if (!data) return false;
  if (used) memcpy(data + capacity - used, texts->data + texts->begin, used);
  tfrt_allocator_free(texts->allocator, texts->data, texts->capacity);
  texts->data = data;
  texts->capacity = capacity;
  texts->begin = capacity - used;
  return true;
}

bool tfrt_function_texts_add(tfrt_function_texts_t* texts, tfrt_string_view_t text) {
  if (!tfrt_function_texts_reserve(texts, text.size)) return false;
  texts->begin -= text.size;
  if (text.size) memcpy(texts->data + texts->begin, text.data, text.size);
  return true;
}

bool tfrt_function_texts_place(tfrt_function_texts_t* texts, size_t position, size_t size) {
  hole_t hole = {position, size};
  return tfrt_scratch_push(&texts->holes, &hole);
}

void tfrt_function_texts_weave(tfrt_function_texts_t* texts, tfrt_string_view_t around,
                               tfrt_string_builder_t* builder) {
  // The text around them fits before them, so that none is overwritten before it is moved.
  if (!tfrt_function_texts_reserve(texts, around.size + 1)) {
    builder->failed = true;
    return;
  }
  char* to = texts->data;
  const char* from = texts->data + texts->begin;
  size_t position = 0;
  for (size_t i = 0; i < texts->holes.count; ++i) {
    const hole_t* hole = tfrt_scratch_at(&texts->holes, i);
    memcpy(to, around.data + position, hole->position - position);
    to += hole->position - position;
    memmove(to, from, hole->size);
    to += hole->size;
    from += hole->size;
    position = hole->position;
  }
  memcpy(to, around.data + position, around.size - position);
  size_t size = (size_t)(to - texts->data) + around.size - position;
  tfrt_string_builder_append_take_room(builder, texts->data, size, texts->capacity);
  texts->data = NULL;
  texts->capacity = texts->begin = 0;
  texts->holes.count = 0;
}
