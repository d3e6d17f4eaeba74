// SPDX-License-Identifier: Apache-2.0
//
// Formulas in the ops of exported models: reading products and sums whose operands may stand in any
// order.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: none fails.
#ifndef TFRT_COMPILER_PASSES_NN_PATTERN_H_
#define TFRT_COMPILER_PASSES_NN_PATTERN_H_

#include "compiler/passes/nn_rewriter.h"

// True if |value| (NULL allowed) is a constant of one f32 without more than one axis; sets
// |*out_number|. Thread-safe.
bool tfrt_nn_read_number(const tfrt_ir_value_t* value, float* out_number);

// The same for a constant that stands beside |other|, and may have as many axes as that has at
// least: it gives the result of both no more. Thread-safe.
bool tfrt_nn_read_number_beside(const tfrt_ir_value_t* value, const tfrt_ir_value_t* other,
                                float* out_number);

// How many axes |value| has at least, as far as the ops before it say. Thread-safe.
uint32_t tfrt_nn_least_rank(const tfrt_ir_value_t* value);

// True if |number| is |wanted| but for rounding. Thread-safe.
bool tfrt_nn_is_about(float number, float wanted);

// The other operand of |op| (NULL allowed), `tfrt_nn.|name|` of two operands, beside |known|; NULL
// if it is no such op. Thread-safe.
tfrt_ir_value_t* tfrt_nn_other_operand(const tfrt_ir_operation_t* op, const char* name,
                                       const tfrt_ir_value_t* known);

// The value that |value| is |*out_factor| times: that of a `mul` by a number, or a `div`; else
// |value| itself, once. Thread-safe.
tfrt_ir_value_t* tfrt_nn_unscaled(tfrt_ir_value_t* value, float* out_factor);

// True if |value| is |number| plus another value, which |*out_value| is set to. Thread-safe.
bool tfrt_nn_is_sum_with(const tfrt_ir_value_t* value, float number, tfrt_ir_value_t** out_value);

// Erases the pure ops of |block| that nobody uses. Thread-compatible.
void tfrt_nn_sweep(tfrt_ir_block_t* block);

#endif  // TFRT_COMPILER_PASSES_NN_PATTERN_H_
