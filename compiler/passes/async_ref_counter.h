// SPDX-License-Identifier: Apache-2.0
//
// The pass `async-ref-counting`: puts `async.runtime.add_ref` and `async.runtime.drop_ref` where
// the references of tokens, values and groups need them. Each result and each argument arrives with
// one reference. Then
//
//   1. a return, or the end of a region, hands its operands on with their references;
//   2. a drop stands behind the last use in the block where the value's life ends;
//   3. an add stands before what takes a reference: a call, a loop, a branch that hands the value
//      on and also keeps it, and an async.execute that captures it, whose region drops it;
//   4. a drop stands at the head of those successors of a block that don't use the value, when
//      others do. A successor that is also reached otherwise gets a block in front of it.
//
// All is decided before the first block is added: liveness holds for every value. Counts that the
// program has already are taken out first, so that the pass may run again.
//
// The suspension of a coroutine, as stock MLIR lowers tasks, keeps what the frame holds: nothing is
// dropped on the way back to the caller.
//
// Time: for each value, its uses, and the blocks that it lives in.
//
// Thread rule: thread-compatible (caller synchronises); uses scratch words.
// Failure rule: false and an error when memory is out.
#ifndef TFRT_COMPILER_PASSES_ASYNC_REF_COUNTER_H_
#define TFRT_COMPILER_PASSES_ASYNC_REF_COUNTER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"
#include "compiler/op_table/op_index.h"

// Counts the references of |module|, which is checked and was made in |context|.
// Thread-compatible (caller synchronises).
bool tfrt_count_async_references(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                                 tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);

#endif  // TFRT_COMPILER_PASSES_ASYNC_REF_COUNTER_H_
