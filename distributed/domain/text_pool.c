// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/text_pool.h"

#include <string.h>

#include "host_runtime/base/macros.h"

typedef struct tfrt_text_pool_entry_s {
  tfrt_hash_node_t node;
  const char* text;
} tfrt_text_pool_entry_t;

static uint64_t tfrt_text_pool_hash(const void* key) { return tfrt_hash_bytes(key, strlen(key)); }

static bool tfrt_text_pool_equal(const tfrt_hash_node_t* node, const void* key) {
  return strcmp(TFRT_CONTAINER_OF(node, tfrt_text_pool_entry_t, node)->text, key) == 0;
}

static const tfrt_hash_table_vtable_t tfrt_text_pool_vtable = {.hash = tfrt_text_pool_hash,
                                                               .equal = tfrt_text_pool_equal};

void tfrt_text_pool_initialize(tfrt_text_pool_t* pool, tfrt_allocator_t allocator) {
  tfrt_arena_initialize(&pool->arena, allocator);
  tfrt_hash_table_initialize(&pool->texts, &tfrt_text_pool_vtable, allocator);
}

void tfrt_text_pool_deinitialize(tfrt_text_pool_t* pool) {
  tfrt_hash_table_deinitialize(&pool->texts);
  tfrt_arena_deinitialize(&pool->arena);
}

const char* tfrt_text_pool_keep(tfrt_text_pool_t* pool, const char* text) {
  if (!text || !text[0]) return text ? "" : NULL;
  tfrt_hash_node_t* node = tfrt_hash_table_find(&pool->texts, text);
  if (node) return TFRT_CONTAINER_OF(node, tfrt_text_pool_entry_t, node)->text;
  tfrt_text_pool_entry_t* entry = tfrt_arena_allocate(&pool->arena, sizeof(*entry));
  const char* copy = tfrt_arena_copy_string(&pool->arena, tfrt_string_view_of(text));
  if (!entry || !copy) return "";
  entry->text = copy;
  tfrt_hash_table_insert(&pool->texts, copy, &entry->node);
  return copy;
}
