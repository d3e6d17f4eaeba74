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

// The same in steps, for a module that is not in memory as a whole
// (compiler/parser/piecewise_parser.h). The first one checks all but the functions whose bodies are
// unread; the second one, once for each, such a |function| that was read for its |head|. They
// return false if there was an error, reported or not, or if something else can only be checked
// with all functions in memory, as calls of other hosts are. The caller closes |*out_verifier| in
// each case; NULL is allowed. Thread-compatible (caller synchronises).
typedef struct tfrt_verifier_s tfrt_verifier_t;
bool tfrt_function_verifier_open(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                                 tfrt_diagnostics_t* diagnostics, tfrt_verifier_t** out_verifier);
bool tfrt_function_verifier_check(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* head,
                                  tfrt_ir_operation_t* function);
void tfrt_function_verifier_close(tfrt_verifier_t* verifier);

#endif  // TFRT_COMPILER_VERIFIER_VERIFIER_H_
