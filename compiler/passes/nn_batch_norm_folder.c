// SPDX-License-Identifier: Apache-2.0
//
//   y = batch_normalization(conv(x, w, b), scale, shift, mean, variance)
//
// is conv(x, w * f, (b - mean) * f + shift) with f = scale / sqrt(variance + epsilon) for each
// filter, if all but x are constants and nobody else uses the convolution.
#include <math.h>

#include "compiler/passes/nn_passes.h"
#include "compiler/passes/nn_rewriter.h"

// The constants of both ops.
typedef struct fold_s {
  const float* weights;
  size_t weight_count;
  const float* bias;      // NULL: none
  const float* norms[4];  // scale, shift, mean, variance
  size_t filters;
  float epsilon;
} fold_t;

static bool read_constants(const tfrt_ir_operation_t* conv, const tfrt_ir_operation_t* norm,
                           fold_t* fold) {
  size_t count = 0;
  fold->weights = tfrt_nn_read_floats(tfrt_nn_operand(conv, 1), &fold->weight_count);
  const tfrt_ir_value_t* bias = tfrt_nn_operand(conv, 2);
  if (!fold->weights || fold->weight_count == 0) return false;
  for (uint32_t i = 0; i < 4; ++i) {
    fold->norms[i] = tfrt_nn_read_floats(tfrt_nn_operand(norm, i + 1), &count);
    if (i == 0) fold->filters = count;
    if (!fold->norms[i] || count != fold->filters) return false;
  }
  const tfrt_ir_type_t* type = tfrt_nn_read_constant(tfrt_nn_operand(conv, 1))->type;
  if (type->rank < 3 || (size_t)type->dims[0] != fold->filters || fold->filters == 0) return false;
  if (bias) fold->bias = tfrt_nn_read_floats(bias, &count);
  fold->epsilon = tfrt_nn_attribute_f32(norm, "epsilon", 1e-5f);
  return !bias || (fold->bias && count == fold->filters);
}

static void fold_filter(const fold_t* fold, size_t filter, float* weights, float* bias) {
  size_t size = fold->weight_count / fold->filters;
  double factor =
      (double)fold->norms[0][filter] / sqrt((double)fold->norms[3][filter] + (double)fold->epsilon);
  double own = fold->bias ? (double)fold->bias[filter] : 0.0;
  for (size_t i = filter * size; i < (filter + 1) * size; ++i) {
    weights[i] = (float)((double)fold->weights[i] * factor);
  }
  bias[filter] =
      (float)((own - (double)fold->norms[2][filter]) * factor + (double)fold->norms[1][filter]);
}

static void fold_norm(tfrt_nn_rewriter_t* rewriter, tfrt_ir_operation_t* conv,
                      tfrt_ir_operation_t* norm, const fold_t* fold) {
  const tfrt_ir_type_t* type = tfrt_nn_read_constant(tfrt_nn_operand(conv, 1))->type;
  float* weights =
      tfrt_ir_context_allocate_array(rewriter->context, fold->weight_count, sizeof(*weights));
  float* bias = tfrt_ir_context_allocate_array(rewriter->context, fold->filters, sizeof(*bias));
  const int64_t length = (int64_t)fold->filters;
  rewriter->failed |= !weights || !bias;
  if (rewriter->failed) return;
  for (size_t i = 0; i < fold->filters; ++i) fold_filter(fold, i, weights, bias);
  tfrt_ir_value_t* operands[3] = {tfrt_nn_operand(conv, 0)};
  operands[1] =
      tfrt_nn_rewriter_floats(rewriter, norm, weights, fold->weight_count, type->dims, type->rank);
  operands[2] = tfrt_nn_rewriter_floats(rewriter, norm, bias, fold->filters, &length, 1);
  if (rewriter->failed) return;
  const tfrt_nn_recipe_t recipe = {.name = "conv",
                                   .before = norm,
                                   .like = conv,
                                   .operands = operands,
                                   .operand_count = 3,
                                   .result_count = 1};
  tfrt_ir_operation_t* folded = tfrt_nn_rewriter_make(rewriter, &recipe);
  if (!folded) return;
  tfrt_nn_rewriter_replace(norm, &folded->results[0]);
  tfrt_ir_operation_erase(conv);
}

static void fold_block(tfrt_nn_rewriter_t* rewriter, tfrt_ir_block_t* block) {
  for (tfrt_ir_operation_t* op = block->first; op && !rewriter->failed;) {
    tfrt_ir_operation_t* next = op->next;
    fold_t fold = {.bias = NULL};
    bool is_norm = tfrt_nn_is(op, "batch_normalization") && op->result_count == 1 &&
                   tfrt_nn_attribute_i64(op, "training_mode", 0) == 0;
    tfrt_ir_operation_t* conv = is_norm ? tfrt_nn_maker(tfrt_nn_operand(op, 0), "conv") : NULL;
    if (conv && conv->block == block && tfrt_nn_only_user(conv) == op &&
        read_constants(conv, op, &fold)) {
      fold_norm(rewriter, conv, op, &fold);
    }
    op = next;
  }
}

bool tfrt_nn_fold_batch_norm(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                             tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)diagnostics;
  return tfrt_nn_rewrite_blocks(context, tables, module, fold_block);
}
