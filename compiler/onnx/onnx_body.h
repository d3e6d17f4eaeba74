// SPDX-License-Identifier: Apache-2.0
//
// Graphs inside of nodes: branches and bodies of loops. Each becomes a function, whose first
// parameters are the values around it that it uses (*captured* values).
//
//   captured values --.
//                     v
//   node { graph } --> function(captured..., own parameters...) -> results
//
// Life:
//  1. Opened: the graph is unpacked.
//  2. Begun: what is built goes into its function. Names that the graph makes hide those around it.
//  3. Converted: the values of its outputs are there. The caller returns them.
//  4. Closed: what is built goes where it went before.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: as onnx_builder.h. An opened body is closed in any case.
#ifndef TFRT_COMPILER_ONNX_ONNX_BODY_H_
#define TFRT_COMPILER_ONNX_ONNX_BODY_H_

#include "compiler/onnx/onnx_builder.h"

// Graphs inside of graphs inside of graphs: at most so deep.
#define TFRT_ONNX_MAX_DEPTH 8

// A list of different names, which live as long as the IR's context.
typedef struct tfrt_onnx_names_s {
  tfrt_onnx_builder_t* builder;
  const char** names;
  size_t count;
  size_t capacity;
} tfrt_onnx_names_t;

typedef struct tfrt_onnx_body_s {
  tfrt_onnx_builder_t* builder;
  Onnx__GraphProto* graph;
  const tfrt_onnx_names_t* captured;
  tfrt_ir_value_t** parameters;  // of the function: the captured ones, and the others
  tfrt_ir_value_t** outputs;     // of the graph, once it is converted
  // State of the builder, given back when the body is closed.
  tfrt_ir_block_t* block;
  uint32_t function;
  const Onnx__NodeProto* node;
  size_t node_number;
  const tfrt_ir_location_t* location;
  tfrt_ir_value_t** values;  // of the captured names
  void** meanings;           // of the names that the graph makes
  tfrt_onnx_names_t made;
} tfrt_onnx_body_t;

// The function of a body: its parameters beside the captured values, and its results.
typedef struct tfrt_onnx_body_signature_s {
  const char* name;
  size_t parameter_count;
  size_t result_count;   // all results, tensors
  bool gives_condition;  // whether the last result is an i1 instead
} tfrt_onnx_body_signature_t;

// Called with a name that a node uses; it lives as long as the IR's context.
typedef bool (*tfrt_onnx_name_fn_t)(void* self, const char* name);

// Calls |visit| for each name that |node| uses, also in graphs inside of it. Returns false if
// |visit| did, memory is out, or a graph can't be read. Thread-compatible.
bool tfrt_onnx_visit_names(tfrt_onnx_builder_t* builder, const Onnx__NodeProto* node,
                           uint32_t depth, tfrt_onnx_name_fn_t visit, void* self);

// Makes |*out_names| the names of the values of this function that graphs inside of the builder's
// node use. Thread-compatible.
bool tfrt_onnx_body_capture(tfrt_onnx_builder_t* builder, tfrt_onnx_names_t* out_names);

// Opens the graph |attribute| of the builder's node, in which |captured| are used.
// Thread-compatible.
bool tfrt_onnx_body_open(tfrt_onnx_builder_t* builder, const Onnx__AttributeProto* attribute,
                         const tfrt_onnx_names_t* captured, tfrt_onnx_body_t* out_body);

// Begins the function of |body|. Thread-compatible.
bool tfrt_onnx_body_begin(tfrt_onnx_body_t* body, const tfrt_onnx_body_signature_t* signature);

// Lets input |index| of the graph be |value|, a value of its function. Thread-compatible.
void tfrt_onnx_body_set_input(tfrt_onnx_body_t* body, size_t index, tfrt_ir_value_t* value);

// Converts the nodes; |body->outputs| are there then. Thread-compatible.
bool tfrt_onnx_body_convert(tfrt_onnx_body_t* body);

// Closes |body|. Thread-compatible.
void tfrt_onnx_body_close(tfrt_onnx_body_t* body);

// Makes the op |name|, which calls functions, on |operands| with |result_count| tensors as results.
// Returns it, or NULL when memory is out. Thread-compatible.
tfrt_ir_operation_t* tfrt_onnx_make_call(tfrt_onnx_builder_t* builder, const char* name,
                                         const tfrt_onnx_operands_t* operands,
                                         const tfrt_ir_named_attribute_t* attributes,
                                         uint32_t attribute_count, uint32_t result_count);

// The truth value of |x|, a tensor of one element; NULL if that is, or when memory is out.
// Thread-compatible.
tfrt_ir_value_t* tfrt_onnx_make_condition(tfrt_onnx_builder_t* builder, tfrt_ir_value_t* x);

#endif  // TFRT_COMPILER_ONNX_ONNX_BODY_H_
