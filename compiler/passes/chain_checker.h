// SPDX-License-Identifier: Apache-2.0
//
// The pass `check-chains`: programs with chains, written by hand or put in, are read for accesses
// that no chain orders.
//
//   %c = fill %t, %a 1
//   %d = print %t, %a        warning: it may run before `fill`, which writes to what it reads
//
// Two accesses conflict if they are of one place (see compiler/analysis/effect_analysis.h), and one
// of them writes. They are ordered if the later op waits, over any number of values, for what says
// that the earlier one is done: the chain among its results, or else all of its results. Each pair
// that isn't is a warning at the later op, with a note at the earlier one.
//
// The pass reads functions and regions once for all who run them: for each access inside, the
// parameters that it waits for and the results that it is done before. Loops compare each turn with
// those that follow.
//
// Not read: functions that run in order (tfrt.sync), those of several blocks, native ones, ops of
// no table, and the turns of tfrt.parallel_for among each other.
//
// Thread rule: thread-compatible (caller synchronises); uses scratch words.
// Failure rule: false and an error when memory is out.
#ifndef TFRT_COMPILER_PASSES_CHAIN_CHECKER_H_
#define TFRT_COMPILER_PASSES_CHAIN_CHECKER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"

// Warnings for a function, at most: the others are counted.
#define TFRT_CHAIN_CHECKER_MAX_WARNINGS 100

// Reports each pair of accesses of |module|, which is checked, that no chain orders.
// Thread-compatible (caller synchronises).
bool tfrt_check_chains(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                       tfrt_diagnostics_t* diagnostics);

// Returns true if chains order all accesses of memory in |module|, which is checked; false if that
// can't be said, also after |steps| ops that were looked at. Thread-compatible (caller
// synchronises).
bool tfrt_chains_order_memory(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                              uint64_t steps);

#endif  // TFRT_COMPILER_PASSES_CHAIN_CHECKER_H_
