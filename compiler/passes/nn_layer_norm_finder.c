// SPDX-License-Identifier: Apache-2.0
//
// A normalization over the last axis that was written as a formula becomes one op:
//
//   c = x - reduce_mean(x), c / sqrt(reduce_mean(c^2) + epsilon) * scale + bias
//                                                                --> layer_normalization
//   x / sqrt(reduce_mean(x^2) + epsilon) * scale                 --> rms_normalization
//
// Scale and bias are constant rows. Without a scale the formula stays: the ops have no form for it.
#include <string.h>

#include "compiler/passes/nn_passes.h"
#include "compiler/passes/nn_pattern.h"

// The operand of |value|, a mean over the last axis that is kept, or NULL.
static tfrt_ir_value_t* mean_operand(const tfrt_ir_value_t* value) {
  size_t count = 0;
  const tfrt_ir_operation_t* op = tfrt_nn_maker(value, "reduce_mean");
  if (!op || tfrt_nn_attribute_i64(op, "keepdims", 1) == 0) return NULL;
  const int64_t* axes = tfrt_nn_read_numbers_of(tfrt_nn_operand(op, 1), &count);
  return axes && count == 1 && axes[0] == -1 ? tfrt_nn_operand(op, 0) : NULL;
}

// The x of |value|, x - reduce_mean(x), or NULL.
static tfrt_ir_value_t* centred_operand(const tfrt_ir_value_t* value) {
  const tfrt_ir_operation_t* difference = tfrt_nn_maker(value, "sub");
  tfrt_ir_value_t* x = difference ? tfrt_nn_operand(difference, 0) : NULL;
  return x && mean_operand(tfrt_nn_operand(difference, 1)) == x ? x : NULL;
}

// The base of the square |value|, or NULL.
static tfrt_ir_value_t* square_root_of(const tfrt_ir_value_t* value) {
  float exponent;
  const tfrt_ir_operation_t* power = tfrt_nn_maker(value, "pow");
  if (power) {
    bool is_square = tfrt_nn_read_number(tfrt_nn_operand(power, 1), &exponent) && exponent == 2;
    return is_square ? tfrt_nn_operand(power, 0) : NULL;
  }
  const tfrt_ir_operation_t* product = tfrt_nn_maker(value, "mul");
  tfrt_ir_value_t* x = product ? tfrt_nn_operand(product, 0) : NULL;
  return x && tfrt_nn_operand(product, 1) == x ? x : NULL;
}

// The y that |value| is the root of the mean square of, sqrt(reduce_mean(y^2) + epsilon), or NULL.
static tfrt_ir_value_t* mean_square_operand(const tfrt_ir_value_t* value, float* out_epsilon) {
  const tfrt_ir_operation_t* root = tfrt_nn_maker(value, "sqrt");
  const tfrt_ir_operation_t* sum = root ? tfrt_nn_maker(tfrt_nn_operand(root, 0), "add") : NULL;
  for (uint32_t i = 0; sum && sum->operand_count == 2 && i < 2; ++i) {
    if (!tfrt_nn_read_number(sum->operands[i].value, out_epsilon)) continue;
    tfrt_ir_value_t* squares = mean_operand(sum->operands[!i].value);
    return squares ? square_root_of(squares) : NULL;
  }
  return NULL;
}

// A formula without its scale.
typedef struct formula_s {
  const char* name;    // of the op
  tfrt_ir_value_t* x;  // the op's operand
  float epsilon;
} formula_t;

// Sets |*out| if |divisor| is the root of the mean square of |dividend|.
static bool read_quotient(tfrt_ir_value_t* dividend, const tfrt_ir_value_t* divisor,
                          formula_t* out) {
  tfrt_ir_value_t* y = mean_square_operand(divisor, &out->epsilon);
  if (!y) return false;
  tfrt_ir_value_t* x = centred_operand(dividend);
  const bool is_centred = x && centred_operand(y) == x;
  out->name = is_centred ? "layer_normalization" : "rms_normalization";
  out->x = is_centred ? x : dividend;
  return is_centred || y == dividend;
}

static bool read_formula(const tfrt_ir_operation_t* op, formula_t* out) {
  if (tfrt_nn_is(op, "div")) {
    return read_quotient(tfrt_nn_operand(op, 0), tfrt_nn_operand(op, 1), out);
  }
  for (uint32_t i = 0; tfrt_nn_is(op, "mul") && op->operand_count == 2 && i < 2; ++i) {
    const tfrt_ir_operation_t* inverse = tfrt_nn_maker(op->operands[!i].value, "reciprocal");
    if (!inverse) continue;
    if (read_quotient(op->operands[i].value, tfrt_nn_operand(inverse, 0), out)) return true;
  }
  return false;
}

// The constant row that |*inout_op|'s only user, `tfrt_nn.|name|`, combines with its result; that
// user becomes |*inout_op|. NULL if there is none, or it is not |length| long (0: any from 2 on).
static tfrt_ir_value_t* take_row(tfrt_ir_operation_t** inout_op, const char* name, size_t* length) {
  size_t count = 0;
  tfrt_ir_operation_t* user = tfrt_nn_only_user(*inout_op);
  tfrt_ir_value_t* row = tfrt_nn_other_operand(user, name, &(*inout_op)->results[0]);
  if (!row || user->block != (*inout_op)->block || !tfrt_nn_read_floats(row, &count)) return NULL;
  bool fits = tfrt_nn_read_constant(row)->type->rank == 1 && count > 1 &&
              (*length == 0 || count == *length);
  if (!fits) return NULL;
  *length = count;
  *inout_op = user;
  return row;
}

static void replace(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* op,
                    const formula_t* formula) {
  size_t length = 0;
  tfrt_ir_operation_t* last = op;
  tfrt_ir_value_t* scale = take_row(&last, "mul", &length);
  if (!scale) return;
  const bool may_have_bias = strcmp(formula->name, "layer_normalization") == 0;
  tfrt_ir_value_t* bias = may_have_bias ? take_row(&last, "add", &length) : NULL;
  tfrt_ir_value_t* operands[3] = {formula->x, scale, bias};
  const tfrt_nn_setting_t settings[] = {
      {"axis", tfrt_nn_rewriter_i64(rewriter, -1)},
      {"epsilon", tfrt_nn_rewriter_f32(rewriter, formula->epsilon)}};
  const tfrt_nn_recipe_t recipe = {.name = formula->name,
                                   .before = last,
                                   .operands = operands,
                                   .operand_count = bias ? 3 : 2,
                                   .result_count = 1,
                                   .settings = settings,
                                   .setting_count = TFRT_ARRAY_SIZE(settings)};
  tfrt_ir_operation_t* norm = tfrt_nn_rewriter_make(rewriter, &recipe);
  if (norm) tfrt_ir_value_replace_all_uses(&last->results[0], &norm->results[0]);
}

static void find_in_block(tfrt_nn_rewriter_t* rewriter, tfrt_ir_block_t* block) {
  for (tfrt_ir_operation_t* op = block->first; op && !rewriter->failed; op = op->next) {
    formula_t formula;
    if (read_formula(op, &formula)) replace(rewriter, op, &formula);
  }
  tfrt_nn_sweep(block);
}

bool tfrt_nn_find_layer_norm(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                             tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)diagnostics;
  return tfrt_nn_rewrite_blocks(context, tables, module, find_in_block);
}
