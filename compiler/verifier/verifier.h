// SPDX-License-Identifier: Apache-2.0
//
// Whether a module that was parsed, or read from BEF, is a host program:
//
//   everywhere      symbols are different; values come before their uses
//   ops of the      operands, results, attributes and regions are what the table says
//   op tables
//   functions       end in a return of the function's results; only private and
//                   `tfrt.native` ones may have no body
//   blocks          each of several ends in a terminator, which hands to its successors what
//                   their arguments are; values are used where their block dominates
//   callees         exist, and take and give what the op does
//   host calls      the callee writes to no argument, directly or through other calls: what
//                   is lent to another host is only read there
//
// Ops that are in no table are taken as they are: the executor of the file may know
// them. Nor is looked into compiled modules, whose code is foreign.
//
// Thread rule: thread-compatible (caller synchronises); uses the ops' places.
// Failure rule: false, after at least one error; all errors are reported.
#ifndef TFRT_COMPILER_VERIFIER_VERIFIER_H_
#define TFRT_COMPILER_VERIFIER_VERIFIER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"

// Checks |module|, made in |context|, and reports to |diagnostics|: at the ops' places in
// its text, or without a text at their locations. Returns true if there was no error.
// Thread-compatible (caller synchronises).
bool tfrt_verify_module(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                        tfrt_diagnostics_t* diagnostics);

#endif  // TFRT_COMPILER_VERIFIER_VERIFIER_H_
