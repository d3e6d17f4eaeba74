// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/nn_pattern.h"

#include <math.h>

// As |tfrt_nn_read_number|, for at most |rank| axes.
static bool read_number(const tfrt_ir_value_t* value, uint32_t rank, float* out_number) {
  size_t count = 0;
  const float* floats = tfrt_nn_read_floats(value, &count);
  if (!floats || count != 1 || tfrt_nn_read_constant(value)->type->rank > rank) return false;
  *out_number = floats[0];
  return true;
}

bool tfrt_nn_read_number(const tfrt_ir_value_t* value, float* out_number) {
  // More axes of length 1 could give the result more axes.
  return read_number(value, 1, out_number);
}

bool tfrt_nn_read_number_beside(const tfrt_ir_value_t* value, const tfrt_ir_value_t* other,
                                float* out_number) {
  uint32_t rank = tfrt_nn_least_rank(other);
  return read_number(value, rank > 1 ? rank : 1, out_number);
}

// How many operands of |op| its result has at least the axes of: all are stretched to each other,
// or the first one is changed without losing an axis. 0: that is not known.
static uint32_t count_kept(const tfrt_ir_operation_t* op) {
  static const char* const all[] = {"add",  "sub",  "mul",     "div", "max",        "min",
                                    "tanh", "erf",  "exp",     "neg", "reciprocal", "relu",
                                    "gelu", "cast", "sigmoid", "sqrt"};
  static const char* const first[] = {"expand", "slice", "transpose", "unsqueeze"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(all); ++i) {
    if (tfrt_nn_is(op, all[i])) return op->operand_count;
  }
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(first); ++i) {
    if (tfrt_nn_is(op, first[i])) return op->operand_count > 0;
  }
  return 0;
}

// Looks no further than |depth| ops back: each may have two operands.
static uint32_t least_rank(const tfrt_ir_value_t* value, int depth) {
  const tfrt_ir_attribute_t* constant = tfrt_nn_read_constant(value);
  if (constant) return constant->type->rank;
  const tfrt_ir_operation_t* op = value ? value->producer : NULL;
  if (!op || depth == 0) return 0;
  size_t rank = 0;
  bool is_reshape = tfrt_nn_is(op, "reshape");
  if (is_reshape && !tfrt_nn_read_numbers_of(tfrt_nn_operand(op, 1), &rank)) return 0;
  const tfrt_ir_attribute_t* order =
      tfrt_nn_is(op, "transpose") ? tfrt_ir_operation_attribute(op, "perm") : NULL;
  if (order && order->kind == TFRT_IR_ATTRIBUTE_ARRAY) return (uint32_t)order->count;
  for (uint32_t i = 0; i < count_kept(op); ++i) {
    uint32_t own = least_rank(op->operands[i].value, depth - 1);
    if (own > rank) rank = own;
  }
  return (uint32_t)rank;
}

uint32_t tfrt_nn_least_rank(const tfrt_ir_value_t* value) { return least_rank(value, 8); }

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
    const tfrt_ir_value_t* other = product->operands[!i].value;
    if (!tfrt_nn_read_number_beside(product->operands[i].value, other, &number)) continue;
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
    bool is_it =
        tfrt_nn_read_number_beside(sum->operands[i].value, sum->operands[!i].value, &found) &&
        found == number;
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
