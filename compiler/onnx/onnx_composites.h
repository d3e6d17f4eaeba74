// SPDX-License-Identifier: Apache-2.0
//
// Nodes that become several ops: those of quantized models, and a few others.
//
//   QLinearConv(x, w, y) --> dequantize x, dequantize w --> conv --> quantize
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: as onnx_builder.h.
#ifndef TFRT_COMPILER_ONNX_ONNX_COMPOSITES_H_
#define TFRT_COMPILER_ONNX_ONNX_COMPOSITES_H_

#include "compiler/onnx/onnx_builder.h"

// Convert the node of |builder|. Thread-compatible.
bool tfrt_onnx_convert_quantize(tfrt_onnx_builder_t* builder, const char* op);
bool tfrt_onnx_convert_dequantize(tfrt_onnx_builder_t* builder, const char* op);
bool tfrt_onnx_convert_conv_integer(tfrt_onnx_builder_t* builder, const char* op);
bool tfrt_onnx_convert_qlinear_conv(tfrt_onnx_builder_t* builder, const char* op);
bool tfrt_onnx_convert_qlinear_mat_mul(tfrt_onnx_builder_t* builder, const char* op);
bool tfrt_onnx_convert_lp_normalization(tfrt_onnx_builder_t* builder, const char* op);
bool tfrt_onnx_convert_swish(tfrt_onnx_builder_t* builder, const char* op);

// Ops of two operands: before version 7 the second one could begin at an axis of the first.
bool tfrt_onnx_convert_pair(tfrt_onnx_builder_t* builder, const char* op);

#endif  // TFRT_COMPILER_ONNX_ONNX_COMPOSITES_H_
