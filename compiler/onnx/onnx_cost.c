// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_cost.h"

#include "compiler/passes/nn_rewriter.h"

// The cost of an op, beside its weights.
#define OP_COST 1024

// The multiplications that take as long as reading a weight.
#define READ_COST 28

// Rows and columns of pictures of any size.
#define USUAL_SIZE 224

#define LARGEST_SIZE UINT16_MAX

// The rows and columns of a picture; 0 and 0: it is none, or unknown. In a scratch word.
typedef struct picture_s {
  int64_t rows;
  int64_t columns;
} picture_t;

static picture_t picture_of(const tfrt_ir_value_t* value) {
  return (picture_t){value->scratch >> 16, value->scratch & LARGEST_SIZE};
}

static uint32_t pack(picture_t picture) {
  bool is_good = picture.rows >= 1 && picture.rows <= LARGEST_SIZE && picture.columns >= 1 &&
                 picture.columns <= LARGEST_SIZE;
  return is_good ? (uint32_t)picture.rows << 16 | (uint32_t)picture.columns : 0;
}

// Number |index| of the list |name| of |op|, or |otherwise|. Larger numbers than those of pictures
// are LARGEST_SIZE, so that nothing overflows.
static int64_t number_of(const tfrt_ir_operation_t* op, const char* name, uint32_t index,
                         int64_t otherwise) {
  const tfrt_ir_attribute_t* list = tfrt_ir_operation_attribute(op, name);
  if (!list || list->kind != TFRT_IR_ATTRIBUTE_ARRAY || index >= list->count ||
      list->elements[index]->kind != TFRT_IR_ATTRIBUTE_INTEGER) {
    return otherwise;
  }
  int64_t number = tfrt_ir_attribute_integer_value(list->elements[index]);
  return number < -1 || number > LARGEST_SIZE ? LARGEST_SIZE : number;
}

// An input [N, C, rows, columns], or [N, rows, columns, C] if that has fewer channels.
static picture_t input_picture(const tfrt_ir_operation_t* op) {
  int64_t dims[4];
  for (uint32_t i = 0; i < 4; ++i) {
    dims[i] = number_of(op, "dims", i, 0);
    if (dims[i] == 0) return (picture_t){0, 0};
    if (dims[i] < 0 && i > 0) dims[i] = USUAL_SIZE;
  }
  if (number_of(op, "dims", 4, 0) != 0) return (picture_t){0, 0};
  bool is_last = dims[3] < dims[1] && dims[3] <= 4;
  return is_last ? (picture_t){dims[1], dims[2]} : (picture_t){dims[2], dims[3]};
}

// The number of results of a window that moves along |length| elements; |axis| counts from the
// rows.
static int64_t windowed(const tfrt_ir_operation_t* op, uint32_t axis, int64_t length) {
  int64_t stride = number_of(op, "strides", axis, 1);
  int64_t size = number_of(op, "kernel_shape", axis, 1);
  size = (size - 1) * number_of(op, "dilations", axis, 1) + 1;
  if (stride < 1) return 0;
  if (tfrt_nn_attribute_is(op, "auto_pad", "SAME_UPPER") ||
      tfrt_nn_attribute_is(op, "auto_pad", "SAME_LOWER")) {
    return (length + stride - 1) / stride;
  }
  length += number_of(op, "pads", axis, 0) + number_of(op, "pads", axis + 2, 0);
  return length < size ? 0 : (length - size) / stride + 1;
}

static bool is_convolution(const tfrt_ir_operation_t* op) {
  return tfrt_nn_is(op, "conv") || tfrt_nn_is(op, "fused_conv") || tfrt_nn_is(op, "conv_transpose");
}

// Whether the results of |op| are no pictures, even if its operands are.
static bool ends_pictures(const tfrt_ir_operation_t* op) {
  static const char* const names[] = {"reshape",         "flatten",       "squeeze",
                                      "shape",           "gather",        "gemm",
                                      "mat_mul",         "fused_mat_mul", "global_average_pool",
                                      "global_max_pool", "reduce_mean",   "reduce_sum",
                                      "reduce_max"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) {
    if (tfrt_nn_is(op, names[i])) return true;
  }
  return false;
}

// The largest picture among the operands of |op|.
static picture_t operand_picture(const tfrt_ir_operation_t* op) {
  picture_t largest = {0, 0};
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    picture_t picture = picture_of(op->operands[i].value);
    if (picture.rows * picture.columns > largest.rows * largest.columns) largest = picture;
  }
  return largest;
}

static picture_t result_picture(const tfrt_ir_operation_t* op) {
  if (tfrt_nn_is(op, "argument")) return input_picture(op);
  if (ends_pictures(op)) return (picture_t){0, 0};
  picture_t picture = operand_picture(op);
  if (picture.rows == 0) return picture;
  if (tfrt_nn_is(op, "conv_transpose")) {
    return (picture_t){picture.rows * number_of(op, "strides", 0, 1),
                       picture.columns * number_of(op, "strides", 1, 1)};
  }
  if (is_convolution(op) || tfrt_nn_is(op, "max_pool") || tfrt_nn_is(op, "average_pool")) {
    return (picture_t){windowed(op, 0, picture.rows), windowed(op, 1, picture.columns)};
  }
  // An enlarged picture mostly meets one of its new size, which counts from there on.
  return picture;
}

void tfrt_onnx_measure_pictures(tfrt_ir_block_t* block) {
  for (uint32_t i = 0; i < block->argument_count; ++i) block->arguments[i]->scratch = 0;
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    uint32_t word = pack(result_picture(op));
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].scratch = word;
  }
}

uint64_t tfrt_onnx_op_cost(const tfrt_ir_operation_t* op) {
  uint64_t pixels = 1, cost = OP_COST;
  // These read a few rows of a table.
  if (tfrt_nn_is(op, "gather") || tfrt_nn_is(op, "lookup")) return cost;
  if (is_convolution(op)) {
    picture_t picture = picture_of(&op->results[0]);
    if (picture.rows > 0) pixels = (uint64_t)(picture.rows * picture.columns);
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tfrt_ir_attribute_t* elements = tfrt_nn_read_constant(op->operands[i].value);
    if (elements) cost += elements->size / 4 * (pixels + READ_COST);
  }
  return cost;
}
