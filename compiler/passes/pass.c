// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/pass.h"

#include <stdio.h>
#include <string.h>

#include "compiler/passes/async_ref_count_optimizer.h"
#include "compiler/passes/async_ref_count_verifier.h"
#include "compiler/passes/async_ref_counter.h"
#include "compiler/passes/canonicalizer.h"
#include "compiler/passes/chain_checker.h"
#include "compiler/passes/chain_inserter.h"
#include "compiler/passes/constant_folder.h"
#include "compiler/passes/inliner.h"
#include "compiler/passes/nn_passes.h"
#include "compiler/passes/stream_printer.h"
#include "compiler/verifier/verifier.h"
#include "host_runtime/base/number_text.h"

static bool canonicalize(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                         tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  if (!tfrt_fold_constants(context, tables, module)) {
    tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, module, "out of memory to fold constants");
    return false;
  }
  return tfrt_canonicalize(context, module, diagnostics);
}

static bool check_chains(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                         tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)tables;
  return tfrt_check_chains(context, module, diagnostics);
}

static bool inline_calls(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                         tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)tables;
  return tfrt_inline(context, module, diagnostics);
}

static bool merge_chains(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                         tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)tables;
  return tfrt_merge_chains(context, module, diagnostics);
}

static bool print_streams(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                          tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  (void)tables;
  return tfrt_print_streams(context, module, diagnostics);
}

static const tfrt_pass_t passes[] = {
    {"async-ref-counting",
     "put in the reference counts of tokens, values and groups that async programs need",
     tfrt_count_async_references},
    {"async-ref-counting-opt", "cancel reference counts that undo each other within a block",
     tfrt_optimize_async_ref_counts},
    {"canonicalize",
     "run pure ops on constants, fold merges of chains, drop pure ops that nobody uses or that are "
     "there twice",
     canonicalize},
    {"check-chains", "warn of each pair of accesses that no chain orders", check_chains},
    {"inline", "put functions where tfrt.call calls them, drop private ones that are left",
     inline_calls},
    {"insert-chains", "put in the chains that the text has left out", tfrt_insert_chains},
    {"merge-chains", "fold merges of chains, and nothing else", merge_chains},
    {"nn-find-attention", "let one op do what products, a mask and a softmax do",
     tfrt_nn_find_attention},
    {"nn-find-gelu", "let one op do what the formula of gelu does", tfrt_nn_find_gelu},
    {"nn-find-layer-norm", "let one op do what the formula of a layer normalization does",
     tfrt_nn_find_layer_norm},
    {"nn-find-lookup", "look rows up that one-hot numbers were multiplied with",
     tfrt_nn_find_lookup},
    {"nn-find-softmax", "let one op do what the formula of a softmax does", tfrt_nn_find_softmax},
    {"nn-fold-batch-norm", "make batch normalization part of the convolution before it",
     tfrt_nn_fold_batch_norm},
    {"nn-fuse", "let convolutions and products take in the sum and the function that follow",
     tfrt_nn_fuse},
    {"nn-layout", "let convolutions, and what lies between them, work with the channels last",
     tfrt_nn_choose_layout},
    {"print-dependence-stats", "put chains in, and say as remarks how many",
     tfrt_print_dependence_stats},
    {"print-streams", "say as remarks which stream each op of a function is in", print_streams},
    {"tfrt-print-stream", "the same, by the name that it has in TFRT", print_streams},
    {"verify-async-ref-counts",
     "find references that are given back twice, or never, on any path of a function",
     tfrt_verify_async_ref_counts},
};

const tfrt_pass_t* tfrt_all_passes(size_t* out_count) {
  *out_count = TFRT_ARRAY_SIZE(passes);
  return passes;
}

const tfrt_pass_t* tfrt_pass_find(const char* name) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(passes); ++i) {
    if (strcmp(passes[i].name, name) == 0) return &passes[i];
  }
  return NULL;
}

bool tfrt_passes_run(const tfrt_pass_t* const* list, size_t count, tfrt_ir_context_t* context,
                     const tfrt_op_tables_t* tables, tfrt_ir_operation_t* module,
                     tfrt_diagnostics_t* diagnostics) {
  for (size_t i = 0; i < count; ++i) {
    if (!list[i]->run(context, tables, module, diagnostics)) return false;
    if (!tfrt_verify_module(context, module, diagnostics)) return false;
  }
  return true;
}

void tfrt_pass_report(tfrt_diagnostics_t* diagnostics, tfrt_severity_t severity,
                      const tfrt_ir_operation_t* operation, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (diagnostics->text.size) {
    tfrt_diagnostics_report_v(diagnostics, severity, operation->text_offset, format, arguments);
  } else {
    char message[1024];
    tfrt_number_text_format_v(message, sizeof(message), format, arguments);
    tfrt_diagnostics_report_at(diagnostics, severity, operation->location, "%s", message);
  }
  va_end(arguments);
}
