// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/symbol_pruner.h"

#include "compiler/ir/scratch.h"

// The scratch word of a private function.
enum { UNNAMED = 0, NAMED = 1 };

typedef struct pruner_s {
  const tfrt_ir_symbol_table_t* symbols;
  tfrt_scratch_t pending;  // functions that stay, and whose ops were not looked at yet
} pruner_t;

static bool is_private_function(const tfrt_ir_operation_t* op) {
  if (!tfrt_ir_is_function(op)) return false;
  const tfrt_ir_attribute_t* visibility = tfrt_ir_operation_attribute(op, "sym_visibility");
  return visibility && visibility->kind == TFRT_IR_ATTRIBUTE_STRING &&
         tfrt_string_view_equal(tfrt_ir_attribute_text(visibility), tfrt_string_view_of("private"));
}

// A symbol of a module within this one may have the name of a function here: that stays, too.
static bool keep_symbol(pruner_t* pruner, const tfrt_ir_attribute_t* symbol) {
  tfrt_ir_operation_t* op =
      tfrt_ir_symbol_table_find(pruner->symbols, tfrt_ir_string_view(symbol->names[0]));
  if (!op || !is_private_function(op) || op->scratch == NAMED) return true;
  op->scratch = NAMED;
  return tfrt_scratch_push(&pruner->pending, &op);
}

// Keeps what |attribute| names. The parser bounds how deep attributes go.
static bool keep_named(pruner_t* pruner, const tfrt_ir_attribute_t* attribute) {
  bool ok = true;
  if (attribute->kind == TFRT_IR_ATTRIBUTE_SYMBOL) return keep_symbol(pruner, attribute);
  if (attribute->kind == TFRT_IR_ATTRIBUTE_ARRAY) {
    for (uint32_t i = 0; ok && i < attribute->count; ++i) {
      ok = keep_named(pruner, attribute->elements[i]);
    }
  } else if (attribute->kind == TFRT_IR_ATTRIBUTE_DICTIONARY) {
    for (uint32_t i = 0; ok && i < attribute->count; ++i) {
      ok = keep_named(pruner, attribute->entries[i].value);
    }
  }
  return ok;
}

static bool keep_named_by(tfrt_ir_operation_t* op, void* user_data) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < op->attribute_count; ++i) {
    ok = keep_named(user_data, op->attributes[i].value);
  }
  return ok;
}

// Marks all private functions that stay.
static bool mark(pruner_t* pruner, const tfrt_ir_block_t* block) {
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    if (is_private_function(op)) op->scratch = UNNAMED;
  }
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    if (is_private_function(op)) continue;
    if (!tfrt_ir_operation_walk(op, keep_named_by, pruner)) return false;
  }
  while (pruner->pending.count) {
    tfrt_ir_operation_t* op = NULL;
    --pruner->pending.count;
    op = *(tfrt_ir_operation_t**)tfrt_scratch_at(&pruner->pending, pruner->pending.count);
    if (!tfrt_ir_operation_walk(op, keep_named_by, pruner)) return false;
  }
  return true;
}

bool tfrt_prune_private_functions(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                                  const tfrt_ir_symbol_table_t* symbols) {
  pruner_t pruner = {.symbols = symbols};
  tfrt_scratch_initialize(&pruner.pending, sizeof(tfrt_ir_operation_t*),
                          tfrt_ir_context_allocator(context));
  tfrt_ir_block_t* block = tfrt_ir_module_block(module);
  bool ok = mark(&pruner, block);
  for (tfrt_ir_operation_t* op = block->first; ok && op;) {
    tfrt_ir_operation_t* next = op->next;
    if (is_private_function(op) && op->scratch == UNNAMED) tfrt_ir_operation_erase(op);
    op = next;
  }
  tfrt_scratch_deinitialize(&pruner.pending);
  return ok;
}
