// SPDX-License-Identifier: Apache-2.0
//
// A model file, unpacked: the door through which bytes of a stranger come. Behind it the structs of
// protobuf-c are read; nothing but the types of their fields is certain.
//
// Life:
//  1. Unpacked from bytes, within a budget of memory.
//  2. Read; it doesn't need the bytes any more.
//  3. Freed.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: INVALID_ARGUMENT that says what is wrong with the file; RESOURCE_EXHAUSTED for one
// that would take more memory than is allowed.
#ifndef TFRT_COMPILER_ONNX_ONNX_MODEL_H_
#define TFRT_COMPILER_ONNX_ONNX_MODEL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/ir/ir.h"
#include "compiler/onnx/onnx.pb-c.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

// Files of more bytes are refused: protocol buffers end there, too.
#define TFRT_ONNX_MAX_FILE_SIZE ((size_t)INT32_MAX)

// Sets |*out_model| to what the |size| bytes at |data| are. Thread-safe.
tfrt_status_t tfrt_onnx_model_unpack(const uint8_t* data, size_t size, Onnx__ModelProto** out_model)
    TFRT_MUST_USE;

// Sets |*out_graph| to the graph inside of a node that |bytes| are; false if they are none. The
// caller frees it. Thread-safe.
bool tfrt_onnx_graph_unpack(const ProtobufCBinaryData* bytes, Onnx__GraphProto** out_graph);
void tfrt_onnx_graph_free(Onnx__GraphProto* graph);

// Frees |model|; NULL is allowed. Thread-compatible.
void tfrt_onnx_model_free(Onnx__ModelProto* model);

// The IR type of elements of the ONNX type |number|, or NULL if there is none: strings, complex and
// 4- and 8-bit floats. Thread-compatible (caller owns |context|).
const tfrt_ir_type_t* tfrt_onnx_element_type(tfrt_ir_context_t* context, int32_t number);

// The name of the element type |number| in ONNX, for messages. Static. Thread-safe.
const char* tfrt_onnx_element_name(int32_t number);

// The bytes of the elements of |tensor|: of those in a file of their own what its shape and type
// say. 0 if these are unknown or too large, and for lists of numbers. Thread-safe.
size_t tfrt_onnx_tensor_size(const Onnx__TensorProto* tensor);

// Sets |*out_attribute| to the dense attribute that |tensor| is. Data in files of their own are
// read from the folder |directory| (NULL: refused), and from nowhere else. Thread-compatible
// (caller owns |context|).
tfrt_status_t tfrt_onnx_tensor_attribute(tfrt_ir_context_t* context,
                                         const Onnx__TensorProto* tensor, const char* directory,
                                         const tfrt_ir_attribute_t** out_attribute) TFRT_MUST_USE;

#endif  // TFRT_COMPILER_ONNX_ONNX_MODEL_H_
