// SPDX-License-Identifier: Apache-2.0

#include "compiler/op_table/op_index.h"

#include "host_runtime/executor/descriptor/similar_name.h"

typedef tfrt_op_index_entry_t entry_t;

static uint64_t name_hash(const void* key) {
  const tfrt_string_view_t* name = key;
  return tfrt_hash_bytes(name->data, name->size);
}

static bool name_equal(const tfrt_hash_node_t* node, const void* key) {
  const entry_t* entry = TFRT_CONTAINER_OF(node, entry_t, node);
  return tfrt_string_view_equal(entry->name, *(const tfrt_string_view_t*)key);
}

static const tfrt_hash_table_vtable_t name_vtable = {name_hash, name_equal};

tfrt_status_t tfrt_op_index_initialize(tfrt_op_index_t* index, const tfrt_op_tables_t* tables,
                                       tfrt_allocator_t allocator) {
  *index = (tfrt_op_index_t){.allocator = allocator, .tables = *tables};
  tfrt_hash_table_initialize(&index->table, &name_vtable, allocator);
  for (size_t t = 0; t < tables->count; ++t) index->count += tables->tables[t].count;
  // The pages of entries that nobody asks for are never touched.
  index->entries = tfrt_allocator_allocate(allocator, (index->count + 1) * sizeof(entry_t));
  if (index->entries) return NULL;
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "out of memory for the op tables");
}

void tfrt_op_index_deinitialize(tfrt_op_index_t* index) {
  tfrt_hash_table_deinitialize(&index->table);
  tfrt_allocator_free(index->allocator, index->entries, (index->count + 1) * sizeof(entry_t));
  index->entries = NULL;
  index->count = 0;
}

// Makes the entry of the next op of the tables, and returns it; NULL once all are made.
static entry_t* add_next(tfrt_op_index_t* index) {
  if (index->known_count == index->count) return NULL;
  while (index->next == index->tables.tables->count) {
    ++index->tables.tables;
    index->next = 0;
  }
  entry_t* entry = &index->entries[index->known_count++];
  *entry = (entry_t){.descriptor = &index->tables.tables->descriptors[index->next++]};
  entry->name = tfrt_string_view_of(entry->descriptor->name);
  uint64_t hash = name_hash(&entry->name);
  // If two entries have the same name, a lookup finds the first.
  if (!tfrt_hash_table_find_hashed(&index->table, hash, &entry->name)) {
    tfrt_hash_table_insert_hashed(&index->table, hash, &entry->node);
  }
  return entry;
}

const tfrt_kernel_descriptor_t* tfrt_op_index_find(tfrt_op_index_t* index,
                                                   tfrt_string_view_t name) {
  const entry_t* entry = tfrt_op_index_find_entry(index, name);
  return entry ? entry->descriptor : NULL;
}

tfrt_op_index_entry_t* tfrt_op_index_find_entry(tfrt_op_index_t* index, tfrt_string_view_t name) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&index->table, &name);
  if (node) return TFRT_CONTAINER_OF(node, entry_t, node);
  entry_t* entry;
  do {
    entry = add_next(index);
  } while (entry && !tfrt_string_view_equal(entry->name, name));
  return entry;
}

const tfrt_kernel_descriptor_t* tfrt_op_index_suggest(tfrt_op_index_t* index,
                                                      tfrt_string_view_t name) {
  while (add_next(index)) continue;
  const tfrt_kernel_descriptor_t* best = NULL;
  size_t best_distance = SIZE_MAX;
  for (size_t i = 0; i < index->count; ++i) {
    const entry_t* entry = &index->entries[i];
    size_t distance = tfrt_similar_name_distance(name, entry->name);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = entry->descriptor;
  }
  return best;
}
