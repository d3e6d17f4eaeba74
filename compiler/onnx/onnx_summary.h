// SPDX-License-Identifier: Apache-2.0
//
// Shapes as a model and its users write them, and the lines that tell a user what was imported.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: INVALID_ARGUMENT for a shape that can't be read or names no input.
#ifndef TFRT_COMPILER_ONNX_ONNX_SUMMARY_H_
#define TFRT_COMPILER_ONNX_ONNX_SUMMARY_H_

#include "compiler/onnx/onnx_builder.h"
#include "compiler/onnx/onnx_import.h"

#define TFRT_ONNX_MAX_AXES 12

// The declaration of a value in a graph. A length of -1 is not known before it runs.
typedef struct tfrt_onnx_signature_s {
  int32_t element_type;  // as ONNX numbers them; 0: not known
  bool is_ranked;
  uint32_t rank;
  int64_t dims[TFRT_ONNX_MAX_AXES];
  const char* names[TFRT_ONNX_MAX_AXES];  // of axes whose length is not known; NULL: none
} tfrt_onnx_signature_t;

// Sets |*out_signature| to what |info| says, and, for a parameter, what the shapes of |options|
// say instead. Thread-compatible.
tfrt_status_t tfrt_onnx_signature_read(const Onnx__ValueInfoProto* info,
                                       const tfrt_onnx_options_t* options,
                                       tfrt_onnx_signature_t* out_signature) TFRT_MUST_USE;

// OK if each shape of |options| names an input of |graph|. Thread-compatible.
tfrt_status_t tfrt_onnx_shapes_check(const Onnx__GraphProto* graph,
                                     const tfrt_onnx_options_t* options) TFRT_MUST_USE;

// Appends the lines about |graph|, which |builder| has converted, to |out|. Thread-compatible.
void tfrt_onnx_summary_append(const tfrt_onnx_builder_t* builder, const Onnx__ModelProto* model,
                              const tfrt_onnx_options_t* options, tfrt_string_builder_t* out);

// Sets |out_name|, of |size| bytes, to |name| as values of a program are called: letters, digits
// and some signs, beginning with no digit. Thread-safe.
void tfrt_onnx_value_name(const char* name, char* out_name, size_t size);

#endif  // TFRT_COMPILER_ONNX_ONNX_SUMMARY_H_
