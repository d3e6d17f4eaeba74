// SPDX-License-Identifier: Apache-2.0
//
// The nodes with graphs inside of them: `If`, `Loop` and `Scan`.
//
//   If(c) {then: ..x.., else: ..y..}  -->  tfrt.cond %c @then_2 @else_3 (%x, %y)
//   Loop(m, c, v) {body: ..x..}       -->  tfrt.while %more @loop_2(%x, %m, %turn, %v, %rows)
//   Scan(v, s) {body: ..x..}          -->  the same; its body takes a part of %s in each turn
//
// Turns of a loop append rows to tensors that they hand on; those grow in place.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: as onnx_builder.h.
#ifndef TFRT_COMPILER_ONNX_ONNX_BRANCH_H_
#define TFRT_COMPILER_ONNX_ONNX_BRANCH_H_

#include "compiler/onnx/onnx_builder.h"

// Convert the node of |builder|. Thread-compatible.
bool tfrt_onnx_convert_if(tfrt_onnx_builder_t* builder, const char* op);
bool tfrt_onnx_convert_loop(tfrt_onnx_builder_t* builder, const char* op);
bool tfrt_onnx_convert_scan(tfrt_onnx_builder_t* builder, const char* op);

#endif  // TFRT_COMPILER_ONNX_ONNX_BRANCH_H_
