// SPDX-License-Identifier: Apache-2.0
//
// The names of a graph and what is wrong with it before any op is made: each name has one maker,
// which comes before its users, and each operator is one that there is an op for.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: reported to the diagnostics; false when memory is out.
#ifndef TFRT_COMPILER_ONNX_ONNX_GRAPH_H_
#define TFRT_COMPILER_ONNX_ONNX_GRAPH_H_

#include "compiler/onnx/onnx_builder.h"

// Fills in the entries of all names of |graph|. Thread-compatible.
bool tfrt_onnx_graph_name(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph);

// Reports all operators that are not supported. Thread-compatible.
void tfrt_onnx_graph_check_operators(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph);

// Whether the input |index| of |graph| is a parameter, and not the name of an initializer, as old
// files list them, too. Thread-compatible.
bool tfrt_onnx_graph_is_parameter(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph,
                                  size_t index);

// Lets node |number| of |graph| be the one that ops are made for and reports are about.
// Thread-compatible.
void tfrt_onnx_graph_enter_node(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph,
                                size_t number);

#endif  // TFRT_COMPILER_ONNX_ONNX_GRAPH_H_
