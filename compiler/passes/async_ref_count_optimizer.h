// SPDX-License-Identifier: Apache-2.0
//
// The pass `async-ref-counting-opt`: cancels an add of references with a later drop of the same
// value in the same block, where the references in between aren't needed:
//
//   async.runtime.add_ref %t          gone
//   func.call @f(%t)                  takes the only reference
//   async.runtime.drop_ref %t         gone
//
// Between the two, one reference less is there. So nothing that takes a reference, a call, a task
// or another drop, may come before something that needs one.
//
//   add  need  need  take  take  drop     cancels
//   add  take  need  drop                 doesn't
//
// One walk over each block, from its end to its beginning. The drops of a value wait in two lists:
// those whose references nobody has needed so far, and the others. A taker empties the second
// list. A user appends the first list to it. An add cancels drops of both. Each drop enters each
// list once, so time is linear in the ops of the block.
//
// Thread rule: thread-compatible (caller synchronises); uses scratch words.
// Failure rule: false and an error when memory is out.
#ifndef TFRT_COMPILER_PASSES_ASYNC_REF_COUNT_OPTIMIZER_H_
#define TFRT_COMPILER_PASSES_ASYNC_REF_COUNT_OPTIMIZER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"
#include "compiler/op_table/op_index.h"

// Cancels reference counts in |module|, which is checked and was made in |context|; |tables| isn't
// read. Thread-compatible (caller synchronises).
bool tfrt_optimize_async_ref_counts(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                                    tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);

#endif  // TFRT_COMPILER_PASSES_ASYNC_REF_COUNT_OPTIMIZER_H_
