// SPDX-License-Identifier: Apache-2.0
//
// Lowers the functions of a module that use the language of asynchronous programs: the dialects
// async, scf, cf, arith, math, memref, vector, and func.call. They become kernels, in functions of
// one block each, which BEF can hold. docs/async.md says how and why.
//
//   0. Reference counts go, but for drops that let a value live longer than its uses do.
//   1. Structured control flow becomes branches between blocks; a parallel loop becomes a loop that
//      adds tasks to a group.
//   2. The region of an async.execute becomes a function; captured values become parameters.
//   3. Each block becomes a function of a chain, its arguments and the values that live into it;
//      the kernel tfrt_async.run calls one after the other. A function of one block needs none.
//
// A function keeps its name and signature; what it was becomes the function `NAME.body`. One
// without results gets a chain as its result, so that its failure is seen.
//
// Thread rule: thread-compatible (caller synchronises); uses the scratch words of values.
// Failure rule: false, after at least one error; the module is then of no use any more.
#ifndef TFRT_COMPILER_LOWERING_LOWERING_H_
#define TFRT_COMPILER_LOWERING_LOWERING_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"
#include "compiler/op_table/op_index.h"

// Lowers |module|, which is checked and was made in |context|; |tables| have the kernels. A module
// without ops of the language stays as it is. Thread-compatible (caller synchronises).
bool tfrt_lower_language(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                         const tfrt_op_tables_t* tables, tfrt_diagnostics_t* diagnostics);

// Returns true if a function of |module| that is to be lowered lacks chains. After the lowering its
// ops have the control of their blocks in the place of these, and still lack what they depend on.
// Thread-compatible (caller synchronises).
bool tfrt_lowering_lacks_chains(tfrt_ir_operation_t* module);

#endif  // TFRT_COMPILER_LOWERING_LOWERING_H_
