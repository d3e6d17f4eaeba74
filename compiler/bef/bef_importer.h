// SPDX-License-Identifier: Apache-2.0
//
// BEF to IR: the emitter's inverse, for turning files back into text.
//
//   file --function by function--> func.func, with anonymous functions as regions of the
//                                  ops that name them
//
// Where a file lacks names or types, the importer takes them from the op tables, or makes them up:
//   names of attributes   their section; else the op's table entry, in order
//   types of attributes   their section; else the table entry; else `#bef.unknown<offset>`
//   names of functions'   the table entry (`a_true_fn`, ...); else `callee`, or for several
//   attributes            `callees`, an array
//   types of values       their section; else the function's signature; else `!bef.unknown`
//   values' names         those of parameters from their section; others are numbers
// One warning says that the importer made something up. `_tfrt_cost`, `tfrt.reads` and attributes
// of functions and of the module, but for `tfrt.native` and `tfrt.sync`, are not in files.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: errors of the program go to the diagnostics.
#ifndef TFRT_COMPILER_BEF_BEF_IMPORTER_H_
#define TFRT_COMPILER_BEF_BEF_IMPORTER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"
#include "compiler/parser/parser.h"
#include "host_runtime/bef/bef_file.h"

// The type of a value that nothing is known about.
#define TFRT_BEF_UNKNOWN_TYPE "!bef.unknown"

// The beginning of an attribute whose type and content are unknown.
#define TFRT_BEF_UNKNOWN_ATTRIBUTE "#bef.unknown"

// Sets |*out_module| to the program of |file| as a module, made in |context|, which doesn't need
// |file| any more, or to NULL. Ops get the entries of |tables|. Errors: INVALID_ARGUMENT with the
// first of the errors that |diagnostics| got, RESOURCE_EXHAUSTED. Thread-compatible (caller
// synchronises).
tfrt_status_t tfrt_bef_import(tfrt_ir_context_t* context, const tfrt_bef_file_t* file,
                              const tfrt_op_tables_t* tables, tfrt_diagnostics_t* diagnostics,
                              tfrt_ir_operation_t** out_module) TFRT_MUST_USE;

#endif  // TFRT_COMPILER_BEF_BEF_IMPORTER_H_
