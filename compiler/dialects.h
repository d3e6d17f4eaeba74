// SPDX-License-Identifier: Apache-2.0
//
// Dialects: the part of an op's name before its first dot. A tool that reads programs for people
// reports an op of an unknown dialect as a typing mistake, unless an option allows such ops.
// Unlisted ops of a known dialect pass: kernels from outside bring them.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: false, after at least one error.
#ifndef TFRT_COMPILER_DIALECTS_H_
#define TFRT_COMPILER_DIALECTS_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"
#include "compiler/op_table/op_index.h"

// Reports each op in |module|, but for those in compiled modules, whose dialect neither
// |tables| nor MLIR's core (`builtin`, `func`) have. Thread-compatible (caller synchronises).
bool tfrt_check_dialects(const tfrt_ir_operation_t* module, const tfrt_op_tables_t* tables,
                         tfrt_diagnostics_t* diagnostics);

#endif  // TFRT_COMPILER_DIALECTS_H_
