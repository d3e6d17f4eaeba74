// SPDX-License-Identifier: Apache-2.0
//
// The pass `verify-async-ref-counts`: executes the reference counts of tokens, values and groups
// on every path of every function, and reports
//
//   a leak          references that are left at the end of a path, or when a loop comes round
//   a double drop   references that are given back, or handed on, and aren't there
//   a late use      an op that needs a reference when none is left
//
// with the blocks of the path. The rules are those of compiler/analysis/async_references.h. Each
// value is followed from where its reference arrives; a block is entered once for each count that
// a path brings to it, so loops end at a fixpoint, or with the report that the count grows.
//
// Conditions aren't looked at: two branches that always go the same way count as four paths. A
// path that never ends, as that of a loop without exit, leaks nothing. The pass reports the first
// mistake with each value, on a shortest path.
//
// Thread rule: thread-compatible (caller synchronises); uses scratch words.
// Failure rule: false after at least one error, also when memory is out.
#ifndef TFRT_COMPILER_PASSES_ASYNC_REF_COUNT_VERIFIER_H_
#define TFRT_COMPILER_PASSES_ASYNC_REF_COUNT_VERIFIER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"
#include "compiler/op_table/op_index.h"

// Different counts with which a block may be entered before the count is taken to grow.
#define TFRT_ASYNC_REF_COUNT_MAX_STATES 16

// Checks the counts of |module|, which is checked and was made in |context|; |tables| isn't read.
// Thread-compatible (caller synchronises).
bool tfrt_verify_async_ref_counts(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                                  tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);

#endif  // TFRT_COMPILER_PASSES_ASYNC_REF_COUNT_VERIFIER_H_
