// SPDX-License-Identifier: Apache-2.0
//
// Graphs inside of nodes: the branches of `If`. Each becomes a function, whose parameters are the
// values around it that one of the branches uses.
//
//   If(c) {then: ..x.., else: ..y..}  -->  tfrt.cond %c @then_2 @else_3 (%x, %y)
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: as onnx_builder.h.
#ifndef TFRT_COMPILER_ONNX_ONNX_BRANCH_H_
#define TFRT_COMPILER_ONNX_ONNX_BRANCH_H_

#include "compiler/onnx/onnx_builder.h"

// Graphs inside of graphs inside of graphs: at most so deep.
#define TFRT_ONNX_MAX_DEPTH 8

// Called with a name that a node uses; it lives as long as the IR's context.
typedef bool (*tfrt_onnx_name_fn_t)(void* self, const char* name);

// Calls |visit| for each name that |node| uses, also in graphs inside of it. Returns false if
// |visit| did, memory is out, or a graph can't be read. Thread-compatible.
bool tfrt_onnx_visit_names(tfrt_onnx_builder_t* builder, const Onnx__NodeProto* node,
                           uint32_t depth, tfrt_onnx_name_fn_t visit, void* self);

// Converts the node of |builder|, an `If`. Thread-compatible.
bool tfrt_onnx_convert_if(tfrt_onnx_builder_t* builder, const char* op);

#endif  // TFRT_COMPILER_ONNX_ONNX_BRANCH_H_
