// SPDX-License-Identifier: Apache-2.0
//
// The pass `canonicalize`: the same program with less in it, in all functions of the module
// and in all regions of its ops.
//
//   %m = merge %a, %a, %b        -> %m = merge %a, %b
//   %m = merge %a, %b            -> %m = merge %b             if %b can't be there before %a
//   %n = merge (%m = merge %a, %b), %c  ->  %n = merge %a, %b, %c     if only %n uses %m
//   %m = merge %a                -> %a                        if %a is a chain
//   pure ops whose results nobody uses                                  ->  nothing
//   pure ops that give the same as one before them                      ->  that one
//
// A merge waits for all of its operands, and so must what takes its place. An operand may
// only go if another one *covers* it: is made by an op that waits for it, directly or over
// other ops, and so is settled later and an error whenever it is one. (TFRT drops an operand
// as soon as it has other uses, and trusts that these keep the order.) Where several
// operands are errors, another of them may be the one that is handed on.
//
// Pure ops whose operands or results may be in memory that somebody writes to are not compared: two
// new tensors are two. No op is replaced by its operand: an alias comes behind more than that.
//
// As in TFRT, a merge of a single chain stays if that is an argument that is used nowhere
// else. Synchronous functions are left alone: they may not return what they were given.
//
// Thread rule: thread-compatible (caller synchronises); uses scratch words.
// Failure rule: false and an error when memory is out.
#ifndef TFRT_COMPILER_PASSES_CANONICALIZER_H_
#define TFRT_COMPILER_PASSES_CANONICALIZER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"

// Ops that are looked at, at most, to find out what the operands of one merge cover.
#define TFRT_CANONICALIZER_MAX_STEPS 256

// Canonicalises |module|, which is checked. Thread-compatible (caller synchronises).
bool tfrt_canonicalize(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                       tfrt_diagnostics_t* diagnostics);

// The same with merges only (the pass `merge-chains`). Thread-compatible (caller synchronises).
bool tfrt_merge_chains(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                       tfrt_diagnostics_t* diagnostics);

#endif  // TFRT_COMPILER_PASSES_CANONICALIZER_H_
