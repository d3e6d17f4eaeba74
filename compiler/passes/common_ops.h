// SPDX-License-Identifier: Apache-2.0
//
// Common subexpressions, one part of the pass `canonicalize`: of pure ops with the same operands
// and attributes, the first one of a block is enough.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: false when memory is out.
#ifndef TFRT_COMPILER_PASSES_COMMON_OPS_H_
#define TFRT_COMPILER_PASSES_COMMON_OPS_H_

#include "compiler/ir/ir.h"

// Lets the first of equal ops of |block| stand for the others, which it erases; then sets
// |*changed| to true. Thread-compatible (caller synchronises).
bool tfrt_merge_common_ops(tfrt_ir_context_t* context, tfrt_ir_block_t* block, bool* changed);

#endif  // TFRT_COMPILER_PASSES_COMMON_OPS_H_
