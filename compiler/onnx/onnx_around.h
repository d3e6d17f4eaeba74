// SPDX-License-Identifier: Apache-2.0
//
// Functions of a user's text around a model, a loop that runs it again and again say:
//
//   model: @main, @stage0, ... --> @model, @stage0, ...
//   text:  @main, ...          --> beside them; it calls @model as any function
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: false, after at least one error, or when memory is out.
#ifndef TFRT_COMPILER_ONNX_ONNX_AROUND_H_
#define TFRT_COMPILER_ONNX_ONNX_AROUND_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"
#include "compiler/op_table/op_index.h"

// Moves the functions of |text| to the end of |module|, the program of a model, whose @main becomes
// @model; both were made in |context|. All of it is lowered then, checked, and has its chains.
// Reports to |diagnostics|, those of the text. Thread-compatible (caller synchronises).
bool tfrt_onnx_put_around(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                          tfrt_ir_operation_t* text, tfrt_ir_operation_t* module,
                          tfrt_diagnostics_t* diagnostics);

#endif  // TFRT_COMPILER_ONNX_ONNX_AROUND_H_
