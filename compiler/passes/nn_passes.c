// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/nn_passes.h"

bool tfrt_nn_optimize(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                      tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  static const char* const names[] = {"nn-find-lookup",  "nn-find-gelu",      "nn-find-layer-norm",
                                      "nn-find-softmax", "nn-find-attention", "nn-fold-batch-norm",
                                      "nn-fuse",         "nn-layout",         "canonicalize"};
  const tfrt_pass_t* passes[TFRT_ARRAY_SIZE(names)];
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) passes[i] = tfrt_pass_find(names[i]);
  return tfrt_passes_run(passes, TFRT_ARRAY_SIZE(names), context, tables, module, diagnostics);
}
