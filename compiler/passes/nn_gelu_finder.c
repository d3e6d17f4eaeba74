// SPDX-License-Identifier: Apache-2.0
//
// Exporters write gelu as a formula of up to nine ops; each reads and writes the whole tensor. It
// becomes one op, which a product can then take in (nn_fuser.c).
//
//   0.5 * x * (1 + erf(x / sqrt(2)))                                 --> gelu
//   0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))        --> gelu, approximate = "tanh"
//   0.5 * x * (1 + tanh(sqrt(2 / pi) * x * (1 + 0.044715 * x^2)))    --> gelu, approximate = "tanh"
//
// Factors may stand in any order.
#include "compiler/passes/nn_passes.h"
#include "compiler/passes/nn_pattern.h"

#define ROOT_OF_HALF 0.70710678f
#define ROOT_OF_TWO_BY_PI 0.79788456f
#define CUBIC 0.044715f

// True if |value| is |factor| times |x| to the power of |power|: as products, or with `pow`.
static bool is_power(tfrt_ir_value_t* value, const tfrt_ir_value_t* x, float factor, int power) {
  float found = 1, number;
  // Each turn takes a factor away; there are no more than these.
  for (int turn = 0; turn < 6; ++turn) {
    if (value == x) return power == 1 && tfrt_nn_is_about(found, factor);
    tfrt_ir_value_t* rest = tfrt_nn_unscaled(value, &number);
    if (rest != value) {
      found *= number;
      value = rest;
      continue;
    }
    const tfrt_ir_operation_t* raised = tfrt_nn_maker(value, "pow");
    if (raised && tfrt_nn_operand(raised, 0) == x) {
      return tfrt_nn_read_number(tfrt_nn_operand(raised, 1), &number) && number == (float)power &&
             tfrt_nn_is_about(found, factor);
    }
    const tfrt_ir_operation_t* product = tfrt_nn_maker(value, "mul");
    value = product ? tfrt_nn_other_operand(product, "mul", x) : NULL;
    if (!value) return false;
    --power;
  }
  return false;
}

// The x of the argument |w| of a tanh, or NULL.
static tfrt_ir_value_t* find_tanh_operand(tfrt_ir_value_t* w) {
  float factor;
  tfrt_ir_value_t* part;
  const tfrt_ir_operation_t* sum = tfrt_nn_maker(tfrt_nn_unscaled(w, &factor), "add");
  if (sum && sum->operand_count == 2 && tfrt_nn_is_about(factor, ROOT_OF_TWO_BY_PI)) {
    for (int i = 0; i < 2; ++i) {
      tfrt_ir_value_t* x = sum->operands[i].value;
      if (is_power(sum->operands[!i].value, x, CUBIC, 3)) return x;
    }
  }
  const tfrt_ir_operation_t* product = tfrt_nn_maker(w, "mul");
  for (int i = 0; product && product->operand_count == 2 && i < 2; ++i) {
    tfrt_ir_value_t* x = tfrt_nn_unscaled(product->operands[i].value, &factor);
    bool is_it = tfrt_nn_is_about(factor, ROOT_OF_TWO_BY_PI) &&
                 tfrt_nn_is_sum_with(product->operands[!i].value, 1, &part) &&
                 is_power(part, x, CUBIC, 2);
    if (is_it) return x;
  }
  return NULL;
}

// The op that gives 0.5 * x * (1 + the result of |inner|), or NULL.
static tfrt_ir_operation_t* find_root(tfrt_ir_operation_t* inner, const tfrt_ir_value_t* x) {
  tfrt_ir_value_t* other;
  float factor = 1, number;
  bool has_x = false;
  tfrt_ir_operation_t* op = tfrt_nn_only_user(inner);
  if (!op || !tfrt_nn_is_sum_with(&op->results[0], 1, &other)) return NULL;
  while (op && !(has_x && tfrt_nn_is_about(factor, 0.5f))) {
    const tfrt_ir_value_t* value = &op->results[0];
    tfrt_ir_operation_t* user = tfrt_nn_only_user(op);
    other = tfrt_nn_other_operand(user, "mul", value);
    if (!other) return NULL;
    if (tfrt_nn_read_number_beside(other, value, &number)) {
      factor *= number;
    } else if (!has_x && (other == x || tfrt_nn_unscaled(other, &number) == x)) {
      has_x = true;
      if (other != x) factor *= number;
    } else {
      return NULL;
    }
    op = user;
  }
  return op && op->block == inner->block ? op : NULL;
}

static void make_gelu(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* root, tfrt_ir_value_t* x,
                      const char* approximate) {
  const tfrt_nn_setting_t setting = {"approximate", tfrt_nn_rewriter_string(rewriter, approximate)};
  const tfrt_nn_recipe_t recipe = {.name = "gelu",
                                   .before = root,
                                   .operands = &x,
                                   .operand_count = 1,
                                   .result_count = 1,
                                   .settings = &setting,
                                   .setting_count = 1};
  tfrt_ir_operation_t* gelu = tfrt_nn_rewriter_make(rewriter, &recipe);
  if (gelu) tfrt_ir_value_replace_all_uses(&root->results[0], &gelu->results[0]);
}

static void find_in_block(tfrt_nn_rewriter_t* rewriter, tfrt_ir_block_t* block) {
  for (tfrt_ir_operation_t* op = block->first; op && !rewriter->failed; op = op->next) {
    float factor;
    tfrt_ir_value_t* x = NULL;
    bool is_exact = tfrt_nn_is(op, "erf");
    if (is_exact) {
      x = tfrt_nn_unscaled(tfrt_nn_operand(op, 0), &factor);
      if (!tfrt_nn_is_about(factor, ROOT_OF_HALF)) x = NULL;
    } else if (tfrt_nn_is(op, "tanh")) {
      x = find_tanh_operand(tfrt_nn_operand(op, 0));
    }
    tfrt_ir_operation_t* root = x ? find_root(op, x) : NULL;
    if (root) make_gelu(rewriter, root, x, is_exact ? "none" : "tanh");
  }
  tfrt_nn_sweep(block);
}

bool tfrt_nn_find_gelu(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                       tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)diagnostics;
  return tfrt_nn_rewrite_blocks(context, tables, module, find_in_block);
}
