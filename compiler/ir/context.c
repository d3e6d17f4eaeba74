// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/context_entry.h"

#include <stddef.h>

// Estimates for a text of many short lines: the bytes of text per new name, and the bytes of IR per
// byte of text.
#define TEXT_PER_NAME 32
#define IR_PER_TEXT 10

// No object of the IR needs a stricter alignment than a pointer.
#define ALIGNMENT sizeof(void*)

_Static_assert(TFRT_IR_KEY_OFFSET % ALIGNMENT == 0, "keys may hold pointers");

static uint64_t key_hash(const void* key) {
  const tfrt_string_view_t* view = key;
  return tfrt_hash_bytes(view->data, view->size);
}

static uint64_t string_hash(tfrt_string_view_t text) {
  uint64_t hash = 0;
  for (size_t i = 0; i < text.size; ++i) hash = tfrt_ir_string_hash_add(hash, text.data[i]);
  return hash;
}

static bool key_equal(const tfrt_hash_node_t* node, const void* key) {
  const tfrt_ir_entry_t* entry = TFRT_CONTAINER_OF(node, tfrt_ir_entry_t, node);
  const tfrt_string_view_t* view = key;
  return tfrt_string_view_equal(tfrt_ir_string_view(&entry->key), *view);
}

static const tfrt_hash_table_vtable_t key_vtable = {key_hash, key_equal};

tfrt_status_t tfrt_ir_context_allocate(tfrt_allocator_t allocator,
                                       tfrt_ir_context_t** out_context) {
  *out_context = NULL;
  tfrt_ir_context_t* context = tfrt_allocator_allocate_zeroed(allocator, sizeof(*context));
  if (!context) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "out of memory for a program");
  }
  context->allocator = allocator;
  tfrt_arena_initialize(&context->arena, allocator);
  tfrt_arena_initialize(&context->piece, allocator);
  context->current = &context->arena;
  for (int i = 0; i < TFRT_IR_TABLE_COUNT; ++i) {
    tfrt_hash_table_initialize(&context->tables[i], &key_vtable, allocator);
  }
  *out_context = context;
  return NULL;
}

void tfrt_ir_context_free(tfrt_ir_context_t* context) {
  if (!context) return;
  for (int i = 0; i < TFRT_IR_TABLE_COUNT; ++i) {
    tfrt_hash_table_deinitialize(&context->tables[i]);
  }
  tfrt_arena_deinitialize(&context->piece);
  tfrt_arena_deinitialize(&context->arena);
  tfrt_allocator_free(context->allocator, context, sizeof(*context));
}

tfrt_allocator_t tfrt_ir_context_allocator(const tfrt_ir_context_t* context) {
  return context->allocator;
}

tfrt_status_t tfrt_ir_context_status(const tfrt_ir_context_t* context) {
  if (!context->failed) return NULL;
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "out of memory for a program");
}

void* tfrt_ir_context_allocate_array(tfrt_ir_context_t* context, size_t count,
                                     size_t element_size) {
  size_t size = 0;
  bool fits = tfrt_size_multiply(count ? count : 1, element_size, &size);
  void* array = fits ? tfrt_arena_allocate_aligned(context->current, size, ALIGNMENT) : NULL;
  if (!array) context->failed = true;
  return array;
}

void tfrt_ir_context_open_piece(tfrt_ir_context_t* context) { context->current = &context->piece; }

void tfrt_ir_context_leave_piece(tfrt_ir_context_t* context) { context->current = &context->arena; }

void tfrt_ir_context_close_piece(tfrt_ir_context_t* context) {
  tfrt_ir_context_leave_piece(context);
  tfrt_arena_clear(&context->piece, SIZE_MAX);
}

const void** tfrt_ir_context_intern(tfrt_ir_context_t* context, tfrt_ir_table_t table,
                                    const void* key, size_t key_size, const void** out_key) {
  tfrt_string_view_t view = tfrt_string_view_make(key, key_size);
  tfrt_ir_entry_t* entry = tfrt_ir_entry_get(context, table, view, key_hash(&view));
  if (!entry) return NULL;
  *out_key = entry->key.data;
  return (const void**)&entry->key.meaning;
}

const void* tfrt_ir_context_find(const tfrt_ir_context_t* context, tfrt_ir_table_t table,
                                 const void* key, size_t key_size) {
  tfrt_string_view_t view = tfrt_string_view_make(key, key_size);
  tfrt_hash_node_t* node = tfrt_hash_table_find(&context->tables[table], &view);
  return node ? TFRT_CONTAINER_OF(node, tfrt_ir_entry_t, node)->key.meaning : NULL;
}

const tfrt_ir_string_t* tfrt_ir_string_get(tfrt_ir_context_t* context, tfrt_string_view_t text) {
  return tfrt_ir_string_get_hashed(context, text, string_hash(text));
}

const tfrt_ir_string_t* tfrt_ir_string_get_hashed(tfrt_ir_context_t* context,
                                                  tfrt_string_view_t text, uint64_t hash) {
  const tfrt_ir_entry_t* entry = tfrt_ir_entry_get(context, TFRT_IR_TABLE_STRINGS, text, hash);
  return entry ? &entry->key : NULL;
}

void tfrt_ir_context_forget_meanings(tfrt_ir_context_t* context) {
  const tfrt_hash_table_t* strings = &context->tables[TFRT_IR_TABLE_STRINGS];
  tfrt_hash_node_t* node = tfrt_hash_table_first(strings);
  while (node) {
    TFRT_CONTAINER_OF(node, tfrt_ir_entry_t, node)->key.meaning = NULL;
    node = tfrt_hash_table_next(strings, node);
  }
}

void tfrt_ir_context_reserve(tfrt_ir_context_t* context, size_t size) {
  tfrt_hash_table_reserve(&context->tables[TFRT_IR_TABLE_STRINGS], size / TEXT_PER_NAME);
  tfrt_arena_reserve(&context->arena, size > SIZE_MAX / IR_PER_TEXT ? size : size * IR_PER_TEXT);
}

const tfrt_ir_string_t* tfrt_ir_string_of(tfrt_ir_context_t* context, const char* text) {
  return tfrt_ir_string_get(context, tfrt_string_view_of(text));
}
