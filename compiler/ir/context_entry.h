// SPDX-License-Identifier: Apache-2.0
//
// The entries of a context's tables, as inline functions for the code that reads most names of a
// program. Other code calls tfrt_ir_string_get_hashed().
//
//   table's chain -> [ node | meaning, size, bytes, NUL ] -> [ ... ] -> NULL
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: NULL when memory is out.
#ifndef TFRT_COMPILER_IR_CONTEXT_ENTRY_H_
#define TFRT_COMPILER_IR_CONTEXT_ENTRY_H_

#include "compiler/ir/context.h"

// A key of one of the tables, which means the object that was made for it.
typedef struct tfrt_ir_entry_s {
  tfrt_hash_node_t node;
  tfrt_ir_string_t key;
} tfrt_ir_entry_t;

#define TFRT_IR_KEY_OFFSET (offsetof(tfrt_ir_entry_t, key) + offsetof(tfrt_ir_string_t, data))

// The entry of the |table| for |key| with |hash|, made if there is none. Thread-compatible (caller
// synchronises).
TFRT_ALWAYS_INLINE tfrt_ir_entry_t* tfrt_ir_entry_get(tfrt_ir_context_t* context,
                                                      tfrt_ir_table_t table, tfrt_string_view_t key,
                                                      uint64_t hash) {
  tfrt_hash_node_t** chain = tfrt_hash_table_chain(&context->tables[table], hash);
  for (tfrt_hash_node_t* node = *chain; node; node = node->next) {
    tfrt_ir_entry_t* entry = TFRT_CONTAINER_OF(node, tfrt_ir_entry_t, node);
    if (node->hash != hash) continue;
    if (tfrt_string_view_equal_short(tfrt_ir_string_view(&entry->key), key)) return entry;
  }
  tfrt_ir_entry_t* entry =
      tfrt_ir_context_allocate_kept(context, TFRT_IR_KEY_OFFSET + key.size + 1);
  if (!entry) return NULL;
  entry->key.meaning = NULL;
  entry->key.size = key.size;
  tfrt_string_view_copy_short(entry->key.data, key);
  entry->key.data[key.size] = 0;
  tfrt_hash_table_insert_at(&context->tables[table], chain, hash, &entry->node);
  return entry;
}

#endif  // TFRT_COMPILER_IR_CONTEXT_ENTRY_H_
