// SPDX-License-Identifier: Apache-2.0
//
// The pass `inline`: a `tfrt.call` of a function of the module becomes the function's body.
//
//   %r = tfrt.call @f(%a)        func.func private @f(%p) { %k = k(%p); tfrt.return %k }
//       ==>  %k = k(%a), and %r is %k; @f goes, if it is private and nobody names it any more
//
//  1. Functions are looked at callees first, so that what is put somewhere is done already.
//     Functions that call each other in a circle keep these calls.
//  2. A call stays where it means more than its callee's body: with call options (`host`,
//     `device`, `deadline_ms`, `retries`, `pure`), of or in a synchronous function, of a native
//     one.
//  3. Private functions that no op names any more are removed, as are those that only these
//     name.
//
// A call waits for none of its operands, so that errors and late values mean the same behind
// it as in the body. Ops that were put somewhere else are located at their old place, called
// from the call's.
//
// Bodies may not double for ever: a call that would make the module grow by too much, or nest
// too deep, stays, and a warning says so.
//
// Thread rule: thread-compatible (caller synchronises); uses scratch words.
// Failure rule: false and an error when memory is out.
#ifndef TFRT_COMPILER_PASSES_INLINER_H_
#define TFRT_COMPILER_PASSES_INLINER_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/ir/ir.h"

// Ops that a module may grow by.
#define TFRT_INLINER_MAX_GROWTH 200000

// Regions within each other where a body was put: few enough for the text to be read again.
#define TFRT_INLINER_MAX_NESTING 64

// Inlines calls in |module|, which is checked. Thread-compatible (caller synchronises).
bool tfrt_inline(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                 tfrt_diagnostics_t* diagnostics);

#endif  // TFRT_COMPILER_PASSES_INLINER_H_
