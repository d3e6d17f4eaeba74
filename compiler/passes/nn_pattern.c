// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/nn_pattern.h"

#include <math.h>

bool tfrt_nn_read_number(const tfrt_ir_value_t* value, float* out_number) {
  size_t count = 0;
  const float* floats = tfrt_nn_read_floats(value, &count);
  // More axes of length 1 could give the result more axes.
  if (!floats || count != 1 || tfrt_nn_read_constant(value)->type->rank > 1) return false;
  *out_number = floats[0];
  return true;
}

bool tfrt_nn_is_about(float number, float wanted) {
  return fabsf(number - wanted) <= 1e-4f * fabsf(wanted);
}

tfrt_ir_value_t* tfrt_nn_other_operand(const tfrt_ir_operation_t* op, const char* name,
                                       const tfrt_ir_value_t* known) {
  if (!tfrt_nn_is(op, name) || op->operand_count != 2) return NULL;
  if (op->operands[0].value == known) return op->operands[1].value;
  return op->operands[1].value == known ? op->operands[0].value : NULL;
}

tfrt_ir_value_t* tfrt_nn_unscaled(tfrt_ir_value_t* value, float* out_factor) {
  float number;
  *out_factor = 1;
  const tfrt_ir_operation_t* product = tfrt_nn_maker(value, "mul");
  for (int i = 0; product && product->operand_count == 2 && i < 2; ++i) {
    if (!tfrt_nn_read_number(product->operands[i].value, &number)) continue;
    *out_factor = number;
    return product->operands[!i].value;
  }
  const tfrt_ir_operation_t* quotient = tfrt_nn_maker(value, "div");
  if (!quotient || !tfrt_nn_read_number(tfrt_nn_operand(quotient, 1), &number) || number == 0) {
    return value;
  }
  *out_factor = 1 / number;
  return tfrt_nn_operand(quotient, 0);
}

bool tfrt_nn_is_sum_with(const tfrt_ir_value_t* value, float number, tfrt_ir_value_t** out_value) {
  const tfrt_ir_operation_t* sum = tfrt_nn_maker(value, "add");
  for (int i = 0; sum && sum->operand_count == 2 && i < 2; ++i) {
    float found;
    bool is_it = tfrt_nn_read_number(sum->operands[i].value, &found) && found == number;
    if (!is_it) continue;
    *out_value = sum->operands[!i].value;
    return true;
  }
  return false;
}

void tfrt_nn_sweep(tfrt_ir_block_t* block) {
  for (tfrt_ir_operation_t* op = block->last; op;) {
    tfrt_ir_operation_t* previous = op->previous;
    bool is_pure = op->descriptor && op->descriptor->flags & TFRT_KERNEL_PURE;
    bool is_unused = op->result_count > 0;
    for (uint32_t i = 0; i < op->result_count; ++i) is_unused &= !op->results[i].first_use;
    if (is_pure && is_unused) tfrt_ir_operation_erase(op);
    op = previous;
  }
}
