// SPDX-License-Identifier: Apache-2.0
//
// About how long each op of an imported program takes, so that stages can be cut where they take
// equally long: the multiplications of its weights. A convolution multiplies each weight once for
// each pixel of its result, so the sizes of pictures are followed from the model's inputs through
// the ops that change them. They are not known behind all ops, nor for inputs of any size: then a
// picture counts as one of 224 x 224, and a result that is none as one pixel.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: none.
#ifndef TFRT_COMPILER_ONNX_ONNX_COST_H_
#define TFRT_COMPILER_ONNX_ONNX_COST_H_

#include "compiler/ir/ir.h"

// Sets the scratch words of the results of all ops of |block| to the sizes of pictures. They are
// the caller's again when it has asked for all costs. Thread-compatible.
void tfrt_onnx_measure_pictures(tfrt_ir_block_t* block);

// The cost of |op|, of a measured block. Thread-safe.
uint64_t tfrt_onnx_op_cost(const tfrt_ir_operation_t* op);

#endif  // TFRT_COMPILER_ONNX_ONNX_COST_H_
