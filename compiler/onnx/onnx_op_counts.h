// SPDX-License-Identifier: Apache-2.0
//
// How many ops of each kind a program has, before and after passes: a line about the difference.
//
//   fused: 63 conv, 57 mul, 57 sigmoid --> 63 fused_conv; 292 ops
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: kinds beyond those that fit
// are left out.
#ifndef TFRT_COMPILER_ONNX_ONNX_OP_COUNTS_H_
#define TFRT_COMPILER_ONNX_ONNX_OP_COUNTS_H_

#include "compiler/ir/ir.h"
#include "host_runtime/base/string_builder.h"

// More kinds than tfrt_nn has.
#define TFRT_ONNX_MAX_KINDS 256

typedef struct tfrt_onnx_op_counts_s {
  size_t kinds;
  size_t total;
  const tfrt_ir_string_t* names[TFRT_ONNX_MAX_KINDS];
  size_t counts[TFRT_ONNX_MAX_KINDS];
} tfrt_onnx_op_counts_t;

// Sets |*out_counts| to the tfrt_nn ops of the functions of |module|, without constants.
// Thread-compatible.
void tfrt_onnx_count_ops(const tfrt_ir_operation_t* module, tfrt_onnx_op_counts_t* out_counts);

// Appends a line about what became of the ops that |before| counted. Thread-compatible.
void tfrt_onnx_op_counts_append(const tfrt_onnx_op_counts_t* before,
                                const tfrt_onnx_op_counts_t* after, tfrt_string_builder_t* out);

#endif  // TFRT_COMPILER_ONNX_ONNX_OP_COUNTS_H_
