// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/bef/bef_name_table.h"

static uint64_t hash_text(const void* key) {
  const tfrt_string_view_t* text = key;
  return tfrt_hash_bytes(text->data, text->size);
}

static bool has_text(const tfrt_hash_node_t* node, const void* key) {
  const tfrt_bef_name_t* name = TFRT_CONTAINER_OF(node, const tfrt_bef_name_t, node);
  return tfrt_string_view_equal(name->text, *(const tfrt_string_view_t*)key);
}

static const tfrt_hash_table_vtable_t kVtable = {.hash = hash_text, .equal = has_text};

void tfrt_bef_name_table_initialize(tfrt_bef_name_table_t* table, tfrt_arena_t* arena) {
  *table = (tfrt_bef_name_table_t){.arena = arena};
  tfrt_hash_table_initialize(&table->hash_table, &kVtable, arena->allocator);
}

void tfrt_bef_name_table_deinitialize(tfrt_bef_name_table_t* table) {
  tfrt_hash_table_deinitialize(&table->hash_table);
}

static tfrt_bef_name_t* find_or_add(tfrt_bef_name_table_t* table, tfrt_string_view_t text) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&table->hash_table, &text);
  if (node) return TFRT_CONTAINER_OF(node, tfrt_bef_name_t, node);
  tfrt_bef_name_t* name = tfrt_arena_allocate(table->arena, sizeof(*name));
  char* copy = name ? tfrt_arena_copy_string(table->arena, text) : NULL;
  if (!copy) return NULL;
  name->text = tfrt_string_view_make(copy, text.size);
  name->index = table->count++;
  tfrt_hash_table_insert(&table->hash_table, &name->text, &name->node);
  if (table->last) {
    table->last->next = name;
  } else {
    table->first = name;
  }
  table->last = name;
  return name;
}

tfrt_bef_name_t* tfrt_bef_name_table_add(tfrt_bef_name_table_t* table, tfrt_string_view_t text) {
  // Neighbours in a program have often the same types, kernel names and files.
  if (table->recent && tfrt_string_view_equal(table->recent->text, text)) return table->recent;
  tfrt_bef_name_t* name = find_or_add(table, text);
  if (name) table->recent = name;
  return name;
}
