// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/common_ops.h"

#include "compiler/analysis/effect_analysis.h"
#include "host_runtime/base/arena.h"
#include "host_runtime/base/hash_table.h"

// The first op of its kind.
typedef struct known_op_s {
  tfrt_hash_node_t node;
  tfrt_ir_operation_t* op;
} known_op_t;

static uint64_t mix(uint64_t hash, const void* pointer) {
  hash = (hash ^ (uint64_t)(uintptr_t)pointer) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

static uint64_t op_hash(const void* key) {
  const tfrt_ir_operation_t* op = key;
  uint64_t hash = mix(0, op->name);
  for (uint32_t i = 0; i < op->operand_count; ++i) hash = mix(hash, op->operands[i].value);
  for (uint32_t i = 0; i < op->attribute_count; ++i) hash = mix(hash, op->attributes[i].value);
  return hash;
}

// Attributes are made once for each value, as types are.
static bool op_equal(const tfrt_hash_node_t* node, const void* key) {
  const tfrt_ir_operation_t* a = TFRT_CONTAINER_OF(node, const known_op_t, node)->op;
  const tfrt_ir_operation_t* b = key;
  bool same = a->name == b->name && a->operand_count == b->operand_count &&
              a->result_count == b->result_count && a->attribute_count == b->attribute_count;
  for (uint32_t i = 0; same && i < a->operand_count; ++i) {
    same = a->operands[i].value == b->operands[i].value;
  }
  for (uint32_t i = 0; same && i < a->result_count; ++i) {
    same = a->results[i].type == b->results[i].type;
  }
  for (uint32_t i = 0; same && i < a->attribute_count; ++i) {
    same = a->attributes[i].name == b->attributes[i].name &&
           a->attributes[i].value == b->attributes[i].value;
  }
  return same;
}

static const tfrt_hash_table_vtable_t op_vtable = {op_hash, op_equal};

// Whether |op| gives the same as an equal one, whenever it runs, and nobody can tell two apart.
static bool can_be_shared(const tfrt_ir_operation_t* op) {
  if (!op->descriptor || !(op->descriptor->flags & TFRT_KERNEL_PURE)) return false;
  if (op->region_count || !op->result_count || tfrt_ir_operation_is_terminator(op)) return false;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_ir_value_t* value = op->operands[i].value;
    if (tfrt_ir_value_is_missing(value) || tfrt_effect_has_memory(value->type)) return false;
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (tfrt_effect_has_memory(op->results[i].type)) return false;
  }
  return true;
}

bool tfrt_merge_common_ops(tfrt_ir_context_t* context, tfrt_ir_block_t* block, bool* changed) {
  tfrt_arena_t arena;
  tfrt_hash_table_t table;
  tfrt_arena_initialize(&arena, tfrt_ir_context_allocator(context));
  tfrt_hash_table_initialize(&table, &op_vtable, tfrt_ir_context_allocator(context));
  bool ok = true;
  for (tfrt_ir_operation_t* op = block->first; op && ok;) {
    tfrt_ir_operation_t* next = op->next;
    tfrt_hash_node_t* node = can_be_shared(op) ? tfrt_hash_table_find(&table, op) : NULL;
    if (node) {
      tfrt_ir_operation_t* first = TFRT_CONTAINER_OF(node, known_op_t, node)->op;
      for (uint32_t i = 0; i < op->result_count; ++i) {
        tfrt_ir_value_replace_all_uses(&op->results[i], &first->results[i]);
      }
      tfrt_ir_operation_erase(op);
      *changed = true;
    } else if (can_be_shared(op)) {
      known_op_t* known = tfrt_arena_allocate(&arena, sizeof(*known));
      ok = known != NULL;
      if (ok) {
        known->op = op;
        tfrt_hash_table_insert(&table, op, &known->node);
      }
    }
    op = next;
  }
  tfrt_hash_table_deinitialize(&table);
  tfrt_arena_deinitialize(&arena);
  return ok;
}
