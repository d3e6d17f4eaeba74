// SPDX-License-Identifier: Apache-2.0
//
// A softmax that was written as a formula becomes one op:
//
//   e = exp(x - reduce_max(x)), e / reduce_sum(e)   --> softmax, along the one axis of both
#include "compiler/passes/nn_passes.h"
#include "compiler/passes/nn_pattern.h"

// True if |value| is the reduction |name| of |x| along one axis that is kept; sets |*out_axis|.
static bool is_reduction(const tfrt_ir_value_t* value, const char* name, const tfrt_ir_value_t* x,
                         int64_t* out_axis) {
  size_t count = 0;
  const tfrt_ir_operation_t* op = tfrt_nn_maker(value, name);
  if (!op || tfrt_nn_operand(op, 0) != x || tfrt_nn_attribute_i64(op, "keepdims", 1) == 0) {
    return false;
  }
  const int64_t* axes = tfrt_nn_read_numbers_of(tfrt_nn_operand(op, 1), &count);
  if (!axes || count != 1) return false;
  *out_axis = axes[0];
  return true;
}

// The x whose softmax |quotient| gives, or NULL; sets |*out_axis|.
static tfrt_ir_value_t* find_operand(const tfrt_ir_operation_t* quotient, int64_t* out_axis) {
  int64_t axis;
  tfrt_ir_value_t* e = tfrt_nn_operand(quotient, 0);
  const tfrt_ir_operation_t* power = tfrt_nn_maker(e, "exp");
  if (!power || !is_reduction(tfrt_nn_operand(quotient, 1), "reduce_sum", e, out_axis)) return NULL;
  const tfrt_ir_operation_t* difference = tfrt_nn_maker(tfrt_nn_operand(power, 0), "sub");
  tfrt_ir_value_t* x = difference ? tfrt_nn_operand(difference, 0) : NULL;
  bool is_it = x && is_reduction(tfrt_nn_operand(difference, 1), "reduce_max", x, &axis) &&
               axis == *out_axis;
  return is_it ? x : NULL;
}

static void find_in_block(tfrt_nn_rewriter_t* rewriter, tfrt_ir_block_t* block) {
  for (tfrt_ir_operation_t* op = block->first; op && !rewriter->failed; op = op->next) {
    int64_t axis;
    tfrt_ir_value_t* x = tfrt_nn_is(op, "div") ? find_operand(op, &axis) : NULL;
    if (!x) continue;
    const tfrt_nn_setting_t setting = {"axis", tfrt_nn_rewriter_i64(rewriter, axis)};
    const tfrt_nn_recipe_t recipe = {.name = "softmax",
                                     .before = op,
                                     .operands = &x,
                                     .operand_count = 1,
                                     .result_count = 1,
                                     .settings = &setting,
                                     .setting_count = 1};
    tfrt_ir_operation_t* softmax = tfrt_nn_rewriter_make(rewriter, &recipe);
    if (softmax) tfrt_ir_value_replace_all_uses(&op->results[0], &softmax->results[0]);
  }
  tfrt_nn_sweep(block);
}

bool tfrt_nn_find_softmax(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                          tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)diagnostics;
  return tfrt_nn_rewrite_blocks(context, tables, module, find_in_block);
}
