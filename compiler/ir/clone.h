// SPDX-License-Identifier: Apache-2.0
//
// Copies of ops, for passes that put the body of a function somewhere else.
//
//   ^source(%p):                 %k = k(%x)      <- copy, before |position|
//     %k = k(%p)         ==>     position ...    %k is what the body yields for %k
//     return %k
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: false when memory is out; what was copied until then stays where it is.
#ifndef TFRT_COMPILER_IR_CLONE_H_
#define TFRT_COMPILER_IR_CLONE_H_

#include "compiler/ir/operation.h"

// Locations deeper than this get no further call around them: who walks through one recurses.
#define TFRT_IR_CLONE_MAX_LOCATION_DEPTH 32

// Puts copies of all ops of |source| but its terminator right before |position|. A copy uses
// |arguments[i]| where the original uses argument i of |source|, and is located at its
// original called from |position|. Sets |out_yielded[i]| to what operand i of the terminator
// became. Every region in |source| has a single block, and every value is known before it is
// used. Uses the values' scratch words. Thread-compatible (caller synchronises).
bool tfrt_ir_clone_body(tfrt_ir_context_t* context, const tfrt_ir_block_t* source,
                        tfrt_ir_value_t* const* arguments, tfrt_ir_operation_t* position,
                        tfrt_ir_value_t** out_yielded);

#endif  // TFRT_COMPILER_IR_CLONE_H_
