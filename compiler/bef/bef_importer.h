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
// A big program that is only to be printed need not be in memory as a whole:
//  1. Opened: the module has all functions, with empty blocks.
//  2. The ops of these are asked for, one by one, function by function in their order. An op is
//     forgotten soon; the values that it used and made stay until its function is done.
//  3. Closed.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: errors of the program go to the diagnostics. Op by op nothing is reported: as soon
// as there is anything to report the caller imports the file as a whole.
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

typedef struct tfrt_bef_importer_s tfrt_bef_importer_t;

// Begins to import |file| op by op and returns the module, or NULL. Sets |*out_importer|, which is
// closed in any case. Without |locations| those of ops are unknown, which takes less time. |file|
// and |context| must outlive it. Thread-compatible (caller synchronises).
tfrt_ir_operation_t* tfrt_bef_importer_open(tfrt_ir_context_t* context, const tfrt_bef_file_t* file,
                                            const tfrt_op_tables_t* tables, bool locations,
                                            tfrt_bef_importer_t** out_importer);

// Imports the next op of |block|, a function's, and returns it; NULL behind the last one, and when
// anything is wrong. The op lives until the next call at least. |importer| is a
// tfrt_bef_importer_t: this is a tfrt_printer_next_fn_t. Thread-compatible (caller synchronises).
tfrt_ir_operation_t* tfrt_bef_importer_next(tfrt_ir_block_t* block, void* importer);

// Ends |importer| (NULL is allowed: then false) and returns true if nothing was wrong or made up.
// Thread-compatible (caller synchronises).
bool tfrt_bef_importer_close(tfrt_bef_importer_t* importer);

#endif  // TFRT_COMPILER_BEF_BEF_IMPORTER_H_
