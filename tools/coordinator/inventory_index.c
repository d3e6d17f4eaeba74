// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/inventory_index.h"

// --- Keys ----------------------------------------------------------------------

static uint64_t inventory_index_hash(const void* argument) {
  const tfrt_inventory_key_t* key = argument;
  uint64_t hash = tfrt_hash_u64((uint64_t)key->host * 8 + (uint64_t)key->about);
  hash = tfrt_hash_combine(hash, tfrt_hash_bytes(key->first.data, key->first.size));
  return tfrt_hash_combine(hash, tfrt_hash_bytes(key->number.data, key->number.size));
}

static bool inventory_index_is(const tfrt_inventory_key_t* a, const tfrt_inventory_key_t* b) {
  return a->host == b->host && a->about == b->about &&
         tfrt_string_view_equal(a->number, b->number) && tfrt_string_view_equal(a->first, b->first);
}

static bool inventory_index_equal(const tfrt_hash_node_t* node, const void* key) {
  return inventory_index_is(&TFRT_CONTAINER_OF(node, tfrt_inventory_entry_t, by_key)->key, key);
}

static const tfrt_hash_table_vtable_t tfrt_inventory_index_vtable = {
    .hash = inventory_index_hash,
    .equal = inventory_index_equal,
};

bool tfrt_inventory_index_key(uint32_t host, const tfrt_inventory_line_t* line,
                              tfrt_inventory_key_t* out_key) {
  const char* first = NULL;
  *out_key = (tfrt_inventory_key_t){.host = host, .number = tfrt_string_view_of("")};
  if (tfrt_inventory_line_is(line, "call")) {
    bool is_in = tfrt_inventory_line_has(line, "dir", tfrt_string_view_of("in"));
    out_key->about = is_in ? TFRT_INVENTORY_CALL_IN : TFRT_INVENTORY_CALL_OUT;
    first = "peer";
  } else if (tfrt_inventory_line_is(line, "start")) {
    out_key->about = TFRT_INVENTORY_START;
    first = "job";
  } else if (tfrt_inventory_line_is(line, "member")) {
    out_key->about = TFRT_INVENTORY_MEMBER;
    out_key->host = 0;
    first = "incarnation";
  } else {
    return false;
  }
  out_key->first = tfrt_inventory_line_text(line, first);
  bool is_member = out_key->about == TFRT_INVENTORY_MEMBER;
  if (!is_member) out_key->number = tfrt_inventory_line_text(line, "number");
  // One without an address does not say where the member is.
  return !is_member || tfrt_inventory_line_text(line, "address").size > 0;
}

bool tfrt_inventory_index_search(const tfrt_string_view_t* lines, uint32_t host_count,
                                 const tfrt_inventory_key_t* key, tfrt_inventory_line_t* out_line) {
  for (uint32_t i = 0; i < host_count; ++i) {
    tfrt_inventory_key_t found;
    for (tfrt_string_view_t rest = lines[i]; tfrt_inventory_lines_next(&rest, out_line);) {
      if (!tfrt_inventory_index_key(i, out_line, &found)) continue;
      if (inventory_index_is(&found, key)) return true;
    }
  }
  return false;
}

// --- Building ------------------------------------------------------------------

static void inventory_index_add(tfrt_inventory_index_t* index, const tfrt_inventory_key_t* key,
                                const tfrt_inventory_line_t* line) {
  uint64_t hash = inventory_index_hash(key);
  if (tfrt_hash_table_find_hashed(&index->table, hash, key)) return;
  tfrt_inventory_entry_t* entry = &index->entries[index->count++];
  entry->key = *key;
  entry->line = *line;
  tfrt_hash_table_insert_hashed(&index->table, hash, &entry->by_key);
}

static void inventory_index_add_line(tfrt_inventory_index_t* index, uint32_t host,
                                     const tfrt_inventory_line_t* line) {
  tfrt_inventory_key_t key;
  if (tfrt_inventory_index_key(host, line, &key)) inventory_index_add(index, &key, line);
  if (!tfrt_inventory_line_is(line, "member")) return;
  key = (tfrt_inventory_key_t){.host = host,
                               .about = TFRT_INVENTORY_RANK,
                               .first = tfrt_inventory_line_text(line, "job"),
                               .number = tfrt_inventory_line_text(line, "rank")};
  inventory_index_add(index, &key, line);
}

// The most entries that a text makes.
static size_t inventory_index_count(tfrt_string_view_t rest) {
  size_t count = 0;
  for (tfrt_inventory_line_t line; tfrt_inventory_lines_next(&rest, &line);) {
    count += tfrt_inventory_line_is(&line, "member") ? 2 : 1;
  }
  return count;
}

tfrt_status_t tfrt_inventory_index_build(tfrt_inventory_index_t* index,
                                         const tfrt_string_view_t* lines, uint32_t host_count) {
  tfrt_allocator_t allocator = tfrt_allocator_system();
  *index = (tfrt_inventory_index_t){0};
  tfrt_hash_table_initialize(&index->table, &tfrt_inventory_index_vtable, allocator);
  size_t capacity = 1;
  for (uint32_t i = 0; i < host_count; ++i) capacity += inventory_index_count(lines[i]);
  if (capacity >= TFRT_INVENTORY_INDEX_NONE) return tfrt_status_out_of_memory();
  index->entries = tfrt_allocator_allocate(allocator, capacity * sizeof(*index->entries));
  if (!index->entries) return tfrt_status_out_of_memory();
  index->capacity = capacity;
  for (uint32_t i = 0; i < host_count; ++i) {
    tfrt_inventory_line_t line;
    for (tfrt_string_view_t rest = lines[i]; tfrt_inventory_lines_next(&rest, &line);) {
      inventory_index_add_line(index, i, &line);
    }
  }
  return NULL;
}

void tfrt_inventory_index_deinitialize(tfrt_inventory_index_t* index) {
  if (!index->table.vtable) return;
  tfrt_hash_table_deinitialize(&index->table);
  tfrt_allocator_free(tfrt_allocator_system(), index->entries,
                      index->capacity * sizeof(*index->entries));
  *index = (tfrt_inventory_index_t){0};
}

uint32_t tfrt_inventory_index_find(const tfrt_inventory_index_t* index,
                                   const tfrt_inventory_key_t* key) {
  if (!index->entries) return TFRT_INVENTORY_INDEX_NONE;
  const tfrt_hash_node_t* found = tfrt_hash_table_find(&index->table, key);
  if (!found) return TFRT_INVENTORY_INDEX_NONE;
  return (uint32_t)(TFRT_CONTAINER_OF(found, tfrt_inventory_entry_t, by_key) - index->entries);
}
