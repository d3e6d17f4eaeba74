// SPDX-License-Identifier: Apache-2.0
//
// Makes ops of the dialect `tfrt_nn` out of nodes: the state of one import, and what converters of
// nodes (onnx_nodes.c) call.
//
//   node --converter--> constants, ops --> values of the node's outputs
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: what is wrong with the model is reported to the diagnostics, at the node; NULL or
// false then, or when memory is out.
#ifndef TFRT_COMPILER_ONNX_ONNX_BUILDER_H_
#define TFRT_COMPILER_ONNX_ONNX_BUILDER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"
#include "compiler/onnx/onnx.pb-c.h"
#include "compiler/op_table/op_index.h"

#define TFRT_ONNX_TENSOR_TYPE "!tfrt_tensor.tensor"

// No node has more inputs by position; variadic ones have more, of one kind.
#define TFRT_ONNX_MAX_POSITIONS 16

// The meaning of one name of the graph.
typedef struct tfrt_onnx_entry_s {
  const Onnx__TensorProto* constant;  // an initializer, or the value of a Constant; NULL: none
  uint32_t function;                  // in which |value| is valid; 0: none
  tfrt_ir_value_t* value;             // in that function
} tfrt_onnx_entry_t;

typedef struct tfrt_onnx_builder_s {
  tfrt_ir_context_t* context;
  tfrt_op_index_t* ops;
  tfrt_diagnostics_t* diagnostics;
  const char* directory;  // of data in files of their own; NULL: none may be
  const tfrt_ir_string_t* file;
  int64_t opset;
  const tfrt_ir_type_t* tensor_type;
  tfrt_ir_block_t* block;  // where ops go
  uint32_t function;       // number of the function of |block|
  uint32_t function_count;
  tfrt_ir_operation_t* module;
  uint32_t depth;  // of the graph inside of other graphs
  const Onnx__NodeProto* node;
  size_t node_number;
  const tfrt_ir_location_t* location;
  size_t op_count;
  uint64_t weight_bytes;
} tfrt_onnx_builder_t;

// The operands of an op to make: NULL for an optional one that is not there.
typedef struct tfrt_onnx_operands_s {
  tfrt_ir_value_t** values;
  uint32_t count;
} tfrt_onnx_operands_t;

// An attribute that a converter sets itself.
typedef struct tfrt_onnx_setting_s {
  const char* name;
  const tfrt_ir_attribute_t* value;
} tfrt_onnx_setting_t;

// Reports what is wrong with the node. Thread-compatible.
void tfrt_onnx_report(tfrt_onnx_builder_t* builder, const char* format, ...) TFRT_PRINTF(2, 3);

// The entry of |name|, or NULL. Thread-compatible.
tfrt_onnx_entry_t* tfrt_onnx_entry(tfrt_onnx_builder_t* builder, const char* name);

// The attribute |name| of the node, of |type| (as ONNX numbers attribute types), or NULL if it has
// none; reports one of another type. Thread-compatible.
const Onnx__AttributeProto* tfrt_onnx_attribute(tfrt_onnx_builder_t* builder, const char* name,
                                                int32_t type);

enum {
  TFRT_ONNX_FLOAT = 1,
  TFRT_ONNX_INT = 2,
  TFRT_ONNX_STRING = 3,
  TFRT_ONNX_TENSOR = 4,
  TFRT_ONNX_GRAPH = 5,
  TFRT_ONNX_FLOATS = 6,
  TFRT_ONNX_INTS = 7,
  TFRT_ONNX_STRINGS = 8,
};

// The value of input |index| of the node; NULL if the node has none. Thread-compatible.
tfrt_ir_value_t* tfrt_onnx_input(tfrt_onnx_builder_t* builder, size_t index);

// Constant tensors: of an attribute, of i64 numbers with one axis, of f32 numbers, of one i64 or
// truth value without axes. Thread-compatible.
tfrt_ir_value_t* tfrt_onnx_constant(tfrt_onnx_builder_t* builder, const tfrt_ir_attribute_t* value);
tfrt_ir_value_t* tfrt_onnx_numbers(tfrt_onnx_builder_t* builder, const int64_t* numbers,
                                   size_t count);
tfrt_ir_value_t* tfrt_onnx_floats(tfrt_onnx_builder_t* builder, const float* numbers, size_t count,
                                  bool is_scalar);

tfrt_ir_value_t* tfrt_onnx_number(tfrt_onnx_builder_t* builder, int64_t number);
tfrt_ir_value_t* tfrt_onnx_truth(tfrt_onnx_builder_t* builder);

// Attributes of the kinds that ops have. Thread-compatible.
const tfrt_ir_attribute_t* tfrt_onnx_i64(tfrt_onnx_builder_t* builder, int64_t value);
const tfrt_ir_attribute_t* tfrt_onnx_string(tfrt_onnx_builder_t* builder, const char* text);

// Makes the op `tfrt_nn.|op|` on |operands| with |result_count| results. Its attributes are those
// of |settings|, else those of the node that have their names, else what the op table says. Returns
// the first result. Thread-compatible.
tfrt_ir_value_t* tfrt_onnx_make(tfrt_onnx_builder_t* builder, const char* op,
                                const tfrt_onnx_operands_t* operands,
                                const tfrt_onnx_setting_t* settings, size_t setting_count,
                                uint32_t result_count);

// The same on one or two operands (|b| is NULL then), with one result; NULL if |a| is NULL.
// Thread-compatible.
tfrt_ir_value_t* tfrt_onnx_make_one(tfrt_onnx_builder_t* builder, const char* op,
                                    tfrt_ir_value_t* a, tfrt_ir_value_t* b,
                                    const tfrt_onnx_setting_t* settings, size_t setting_count);

// Lets output |index| of the node be |value|. Thread-compatible.
void tfrt_onnx_define(tfrt_onnx_builder_t* builder, size_t index, tfrt_ir_value_t* value);

// Ends the function that is built with |values|; false when memory is out. Thread-compatible.
bool tfrt_onnx_return(tfrt_onnx_builder_t* builder, tfrt_ir_value_t** values, size_t count);

// Converts the node of |builder|; false if it was reported. Thread-compatible.
bool tfrt_onnx_convert_node(tfrt_onnx_builder_t* builder);

// The name of the op that nodes of |op_type| become, or NULL if there is none: they are not
// supported. Thread-safe.
const char* tfrt_onnx_op_name(const char* op_type);

#endif  // TFRT_COMPILER_ONNX_ONNX_BUILDER_H_
