// SPDX-License-Identifier: Apache-2.0
//
// The functions of an imported program: one; with the batch in parts `main` and the one that it
// calls on each host (onnx_import.h).
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: as onnx_import.h.
#ifndef TFRT_COMPILER_ONNX_ONNX_FUNCTIONS_H_
#define TFRT_COMPILER_ONNX_ONNX_FUNCTIONS_H_

#include "compiler/onnx/onnx_builder.h"
#include "compiler/onnx/onnx_import.h"

// Sets |*out_module| to the program of |graph|, whose names have entries. Thread-compatible.
tfrt_status_t tfrt_onnx_functions_build(tfrt_onnx_builder_t* builder, const Onnx__GraphProto* graph,
                                        const tfrt_onnx_options_t* options,
                                        tfrt_ir_operation_t** out_module) TFRT_MUST_USE;

#endif  // TFRT_COMPILER_ONNX_ONNX_FUNCTIONS_H_
