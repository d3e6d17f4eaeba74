// SPDX-License-Identifier: Apache-2.0
//
// Passes for programs of tfrt_nn ops, so that they run faster. Each gives the same results as
// before but for rounding, for NaN in fused relu and clip (kernels/nn/math/epilogue.h), and for
// rows of attention whose keys are all hidden, which give 0.
//
//   nn-find-lookup       (x == 0..n-1) * matrix         --> lookup
//   nn-find-gelu         0.5 * x * (1 + erf(...)) ...   --> gelu
//   nn-find-layer-norm   (x - mean) / deviation ...     --> layer_normalization
//                        x / root of mean square ...    --> rms_normalization
//   nn-find-softmax      exp(x - max) / sum             --> softmax
//   nn-find-attention    mat_mul, add, softmax, mat_mul --> attention
//   nn-fold-batch-norm   conv, batch_normalization      --> conv with other weights
//   nn-fuse              conv, add, relu ...            --> fused_conv
//                        mat_mul, add, gelu ...         --> fused_mat_mul
//   nn-layout            [N, C, H, W], op by op         --> [N, H, W, C] for chains of ops, between
//                                                           transposes; most of them vanish
//
// Ops that nobody uses any more are left to `canonicalize`.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: false when memory is out.
#ifndef TFRT_COMPILER_PASSES_NN_PASSES_H_
#define TFRT_COMPILER_PASSES_NN_PASSES_H_

#include "compiler/passes/pass.h"

bool tfrt_nn_find_gelu(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                       tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);
bool tfrt_nn_find_lookup(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                         tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);
bool tfrt_nn_find_layer_norm(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                             tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);
bool tfrt_nn_find_softmax(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                          tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);
bool tfrt_nn_find_attention(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                            tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);
bool tfrt_nn_fold_batch_norm(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                             tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);
bool tfrt_nn_fuse(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                  tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);
bool tfrt_nn_choose_layout(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                           tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);

// Runs all of them, in this order, and `canonicalize`. Thread-compatible.
bool tfrt_nn_optimize(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                      tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics);

#endif  // TFRT_COMPILER_PASSES_NN_PASSES_H_
