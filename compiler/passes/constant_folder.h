// SPDX-License-Identifier: Apache-2.0
//
// Constant folding, a part of the pass `canonicalize`: pure ops whose operands are constants are
// run once, at compile time, by the kernels that would run them.
//
//   %a = constant 2            %a = constant 2
//   %b = constant 3            %b = constant 3
//   %c = add %a, %b     ==>    %d = constant 35      (what nobody uses now, another step drops)
//   %d = mul %c, %k7
//
// All ops of a block that can be folded become one function, which the evaluator runs. These ops
// stay as they are:
//
//   not pure         or its entry says no cost, or one above TFRT_CONSTANT_FOLDER_MAX_COST
//
//   chains, memory   it takes or gives a chain, or a value that may be in memory that others share
//
//   errors           its kernel makes one: the program must make that, too
//
//   other types      no op tfrt.constant.<type> gives its result. The result, such as a shape, may
//                    still be the operand of another op that is folded.
//
// So no chain is lost: an op that comes behind one is not folded, nor one behind an alias.
//
// Thread rule: thread-compatible (caller synchronises); uses scratch words.
// Failure rule: false when memory is out.
#ifndef TFRT_COMPILER_PASSES_CONSTANT_FOLDER_H_
#define TFRT_COMPILER_PASSES_CONSTANT_FOLDER_H_

#include "compiler/ir/ir.h"
#include "compiler/op_table/op_index.h"

// The cost of the dearest op that is folded, in scalar operations.
#define TFRT_CONSTANT_FOLDER_MAX_COST 1000

// Ops that are run together, at most: the bound of what a block takes in memory.
#define TFRT_CONSTANT_FOLDER_MAX_OPS 4096

// Folds the constants of all blocks of |module|, which is checked, with |tables->evaluator| (NULL:
// folds nothing). Thread-compatible (caller synchronises).
bool tfrt_fold_constants(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                         tfrt_ir_operation_t* module);

#endif  // TFRT_COMPILER_PASSES_CONSTANT_FOLDER_H_
