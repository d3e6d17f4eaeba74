// SPDX-License-Identifier: Apache-2.0
//
// Some models turn numbers into rows of a matrix by a product with one-hot numbers, which are n
// times as many, nearly all 0. They look the rows up instead:
//
//   cast(x == [0, 1, ..., n - 1]) * matrix    --> lookup
//
// 0 times infinity is NaN, so the matrix must be a constant of finite numbers.
#include <math.h>

#include "compiler/passes/nn_passes.h"
#include "compiler/passes/nn_pattern.h"

static bool is_cast_to_f32(const tfrt_ir_operation_t* cast) {
  const tfrt_ir_attribute_t* to = cast ? tfrt_ir_operation_attribute(cast, "to") : NULL;
  return to && to->kind == TFRT_IR_ATTRIBUTE_TYPE && to->type->kind == TFRT_IR_TYPE_FLOAT &&
         tfrt_ir_string_is(to->type->text, "f32");
}

// Whether |value| is a constant matrix of finite numbers; sets |*out_count| to that of its rows.
static bool is_finite_matrix(const tfrt_ir_value_t* value, int64_t* out_count) {
  size_t count = 0;
  const float* numbers = tfrt_nn_read_floats(value, &count);
  if (!numbers || tfrt_nn_read_constant(value)->type->rank != 2) return false;
  for (size_t i = 0; i < count; ++i) {
    if (!isfinite(numbers[i])) return false;
  }
  *out_count = tfrt_nn_read_constant(value)->type->dims[0];
  return true;
}

// Whether |value| is the constant 0, 1, ..., |count| - 1 along its last axis, beside |x|, which has
// as many axes.
static bool are_row_numbers(const tfrt_ir_value_t* value, const tfrt_ir_value_t* x, int64_t count) {
  const tfrt_ir_attribute_t* elements = tfrt_nn_read_constant(value);
  const tfrt_ir_type_t* type = elements ? elements->type : NULL;
  bool is_list = type && type->element->kind == TFRT_IR_TYPE_INTEGER &&
                 type->element->signedness == TFRT_IR_SIGNLESS && type->rank > 0 &&
                 (type->rank == 1 || type->rank <= tfrt_nn_least_rank(x)) &&
                 type->dims[type->rank - 1] == count;
  uint32_t width = is_list ? type->element->width : 0;
  size_t size = width / 8;
  if ((width != 32 && width != 64) || elements->size != (size_t)count * size) return false;
  for (int64_t i = 0; i < count; ++i) {
    const void* bytes = elements->bytes + (size_t)i * size;
    int64_t number = width == 64 ? *(const int64_t*)bytes : *(const int32_t*)bytes;
    if (number != i) return false;
  }
  return true;
}

// Sets |operands| to those of the lookup that |product| is; false if it is none.
static bool find_operands(const tfrt_ir_operation_t* product, tfrt_ir_value_t** operands) {
  int64_t count;
  const tfrt_ir_operation_t* cast = tfrt_nn_maker(tfrt_nn_operand(product, 0), "cast");
  const tfrt_ir_operation_t* equal =
      is_cast_to_f32(cast) ? tfrt_nn_maker(tfrt_nn_operand(cast, 0), "equal") : NULL;
  operands[2] = tfrt_nn_operand(product, 1);
  if (!equal || equal->operand_count != 2 || !is_finite_matrix(operands[2], &count)) return false;
  for (int i = 0; i < 2; ++i) {
    operands[0] = equal->operands[!i].value;
    operands[1] = equal->operands[i].value;
    if (are_row_numbers(operands[1], operands[0], count)) return true;
  }
  return false;
}

static void find_in_block(tfrt_nn_rewriter_t* rewriter, tfrt_ir_block_t* block) {
  for (tfrt_ir_operation_t* op = block->first; op && !rewriter->failed; op = op->next) {
    tfrt_ir_value_t* operands[3];
    if (!tfrt_nn_is(op, "mat_mul") || !find_operands(op, operands)) continue;
    const tfrt_nn_recipe_t recipe = {.name = "lookup",
                                     .before = op,
                                     .operands = operands,
                                     .operand_count = 3,
                                     .result_count = 1};
    tfrt_ir_operation_t* lookup = tfrt_nn_rewriter_make(rewriter, &recipe);
    if (lookup) tfrt_ir_value_replace_all_uses(&op->results[0], &lookup->results[0]);
  }
  tfrt_nn_sweep(block);
}

bool tfrt_nn_find_lookup(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                         tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)diagnostics;
  return tfrt_nn_rewrite_blocks(context, tables, module, find_in_block);
}
