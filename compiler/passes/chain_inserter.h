// SPDX-License-Identifier: Apache-2.0
//
// The pass `insert-chains`: programs that were written without chains, or without some of them,
// get those that they need.
//
//   %t = create                          %t = create
//   fill %t 1                            %c = tfrt.new.chain
//   %u = relu %t               ==>       %d = fill %t, %c 1
//   print %t                             %u = relu %t, %d
//   fill %t 2                            %e = print %t, %d
//                                        %f = tfrt.merge.chains %u, %e
//                                        %g = fill %t, %f 2
//
// An op waits for another one before it if one of them writes to a place that the other reads or
// writes (see compiler/analysis/effect_analysis.h), unless other waits imply that. Two ops whose
// chains are all written by hand are left as they are, whatever their order: what the text says is
// kept. A program in which no chain is missing stays the same.
//
// The pass makes an op wait by the first of these that the op has:
//
//   a chain among the operands that its entry lists
//   the chain that its entry accepts behind them (TFRT_KERNEL_TRAILING_CHAIN)
//   an operand, replaced by an alias that is available when the chain is (tfrt.alias.value)
//
// An op is done when the chain among its results is available, or else all its results.
//
// Ops such as tfrt.call and tfrt.if hand chains on to their functions and regions. For each place
// that somebody writes to, these take and give up to two chains: one for the last write and one for
// the reads since then. All other functions delay their results until they are done. Synchronous
// functions run in order by themselves.
//
// Functions of the language of asynchronous programs, also those of several blocks, are lowered
// first if one of them lacks chains (see compiler/lowering/lowering.h). A task, or a block, is then
// a function that others wait for as a whole.
//
// Thread rule: thread-compatible (caller synchronises); uses scratch words.
// Failure rule: false and an error when memory is out, or when nothing can make an op wait, or tell
// that it is done.
#ifndef TFRT_COMPILER_PASSES_CHAIN_INSERTER_H_
#define TFRT_COMPILER_PASSES_CHAIN_INSERTER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"
#include "compiler/op_table/op_index.h"

// Counts, for `--print-dependence-stats`.
typedef struct tfrt_chain_statistics_s {
  uint32_t
      dependences;  // pairs of ops that must not change places, without those implied by others
  uint32_t edges;   // of these, the ones for which a chain was put in
  uint32_t merges;  // ops tfrt.merge.chains put in
} tfrt_chain_statistics_t;

// Puts chains into |module|, which is checked. Thread-compatible (caller synchronises).
bool tfrt_insert_chains(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                        tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);

// Returns true if no op of |module| lacks a chain; else reports, for each that does, which one.
// Thread-compatible (caller synchronises).
bool tfrt_check_no_chain_missing(tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);

// Puts chains into |module|, and says for each function as a remark what was done.
// Thread-compatible (caller synchronises).
bool tfrt_print_dependence_stats(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                                 tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);

#endif  // TFRT_COMPILER_PASSES_CHAIN_INSERTER_H_
