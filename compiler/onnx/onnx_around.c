// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_around.h"

#include "compiler/lowering/lowering.h"
#include "compiler/passes/chain_inserter.h"
#include "compiler/verifier/verifier.h"

// Gives the function @main of |module| the name @model.
static bool rename_main(tfrt_ir_context_t* context, tfrt_ir_operation_t* module) {
  tfrt_string_view_t main = tfrt_string_view_of("main");
  tfrt_ir_operation_t* op = tfrt_ir_module_block(module)->first;
  while (op && !tfrt_string_view_equal(tfrt_ir_symbol_name(op), main)) op = op->next;
  const tfrt_ir_string_t* key = tfrt_ir_string_of(context, "sym_name");
  const tfrt_ir_attribute_t* name =
      tfrt_ir_attribute_string(context, tfrt_string_view_of("model"), NULL);
  return op && key && name && tfrt_ir_operation_set_attribute(context, op, key, name);
}

bool tfrt_onnx_put_around(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                          tfrt_ir_operation_t* text, tfrt_ir_operation_t* module,
                          tfrt_diagnostics_t* diagnostics) {
  tfrt_ir_context_forget_meanings(context);
  if (!rename_main(context, module)) return false;
  tfrt_ir_operation_t* op = tfrt_ir_module_block(text)->first;
  while (op) {
    tfrt_ir_operation_t* next = op->next;
    tfrt_ir_block_remove(op);
    tfrt_ir_block_append(tfrt_ir_module_block(module), op);
    op = next;
  }
  return tfrt_verify_module(context, module, diagnostics) &&
         tfrt_lower_language(context, module, tables, diagnostics) &&
         tfrt_verify_module(context, module, diagnostics) &&
         tfrt_insert_chains(context, tables, module, diagnostics);
}
