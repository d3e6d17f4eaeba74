// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_op_counts.h"

#include <string.h>

static const char dialect[] = "tfrt_nn.";

static void count_op(tfrt_onnx_op_counts_t* counts, const tfrt_ir_string_t* name) {
  if (strncmp(name->data, dialect, sizeof(dialect) - 1) != 0) return;
  if (strcmp(name->data, "tfrt_nn.constant") == 0) return;
  ++counts->total;
  size_t i = 0;
  while (i < counts->kinds && counts->names[i] != name) ++i;
  if (i == TFRT_ONNX_MAX_KINDS) return;
  if (i == counts->kinds) {
    counts->names[i] = name;
    counts->counts[i] = 0;
    ++counts->kinds;
  }
  ++counts->counts[i];
}

void tfrt_onnx_count_ops(const tfrt_ir_operation_t* module, tfrt_onnx_op_counts_t* out_counts) {
  out_counts->kinds = out_counts->total = 0;
  const tfrt_ir_block_t* functions = tfrt_ir_module_block(module);
  for (const tfrt_ir_operation_t* f = functions->first; f; f = f->next) {
    if (f->region_count == 0) continue;
    for (const tfrt_ir_block_t* block = f->regions[0].first_block; block; block = block->next) {
      for (const tfrt_ir_operation_t* op = block->first; op; op = op->next) {
        count_op(out_counts, op->name);
      }
    }
  }
}

static size_t count_of(const tfrt_onnx_op_counts_t* counts, const tfrt_ir_string_t* name) {
  for (size_t i = 0; i < counts->kinds; ++i) {
    if (counts->names[i] == name) return counts->counts[i];
  }
  return 0;
}

// Appends the kinds that are more often in |more| than in |less|; returns whether there are any.
static bool append_excess(const tfrt_onnx_op_counts_t* more, const tfrt_onnx_op_counts_t* less,
                          const char* lead, tfrt_string_builder_t* out) {
  bool is_first = true;
  for (size_t i = 0; i < more->kinds; ++i) {
    size_t other = count_of(less, more->names[i]);
    if (more->counts[i] <= other) continue;
    tfrt_string_builder_append_format(out, "%s%zu %s", is_first ? lead : ", ",
                                      more->counts[i] - other,
                                      more->names[i]->data + sizeof(dialect) - 1);
    is_first = false;
  }
  return !is_first;
}

void tfrt_onnx_op_counts_append(const tfrt_onnx_op_counts_t* before,
                                const tfrt_onnx_op_counts_t* after, tfrt_string_builder_t* out) {
  bool has_less = append_excess(before, after, "fused: ", out);
  if (!has_less) tfrt_string_builder_append_text(out, "fused: nothing");
  append_excess(after, before, " --> ", out);
  tfrt_string_builder_append_format(out, "; %zu ops\n", after->total);
}
