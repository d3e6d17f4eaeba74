// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_import.h"

#include <stdio.h>
#include <string.h>

#include "compiler/onnx/onnx_builder.h"
#include "compiler/onnx/onnx_functions.h"
#include "compiler/onnx/onnx_graph.h"
#include "compiler/onnx/onnx_model.h"
#include "compiler/onnx/onnx_summary.h"

// Versions of the operator set that are known. Newer ones may have changed what an operator means.
#define OPSET_MIN 1
#define OPSET_MAX 28

// Programs (BEF) end here: their places are numbers of 32 bits.
#define MAX_WEIGHTS ((size_t)UINT32_MAX)

static tfrt_status_t read_opset(const Onnx__ModelProto* model, int64_t* out_opset) {
  *out_opset = 1;
  for (size_t i = 0; i < model->n_opset_import; ++i) {
    const Onnx__OperatorSetIdProto* set = model->opset_import[i];
    bool is_standard = set->domain[0] == '\0' || strcmp(set->domain, "ai.onnx") == 0;
    if (is_standard) *out_opset = set->version;
  }
  if (*out_opset >= OPSET_MIN && *out_opset <= OPSET_MAX) return NULL;
  return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED,
                            "the model uses opset %lld; %d to %d are supported",
                            (long long)*out_opset, OPSET_MIN, OPSET_MAX);
}

// Whether the weights fit in a program. They would be read for minutes before its writer says so.
static tfrt_status_t check_weights(const Onnx__GraphProto* graph) {
  size_t total = 0;
  for (size_t i = 0; i < graph->n_initializer; ++i) {
    size_t size = tfrt_onnx_tensor_size(graph->initializer[i]);
    // A tensor alone of that size has an error of its own.
    if (__builtin_add_overflow(total, size, &total)) return NULL;
  }
  if (total <= MAX_WEIGHTS) return NULL;
  return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED,
                            "the model has %.1f GB of weights; a program can have %.1f: export it "
                            "with floats of 16 bits, or as several models",
                            (double)total / 1e9, (double)MAX_WEIGHTS / 1e9);
}

static tfrt_status_t check_model(const Onnx__ModelProto* model) {
  const Onnx__GraphProto* graph = model->graph;
  if (model->n_functions > 0) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED,
                              "the model has functions of its own, which are not supported: "
                              "inline them when it is exported");
  }
  if (graph->n_sparse_initializer > 0) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED,
                              "the model has sparse weights, which are not supported");
  }
  TFRT_RETURN_IF_ERROR(check_weights(graph));
  if (graph->n_output > 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the model has no outputs");
}

// The first error of |diagnostics|, or that memory is out.
static tfrt_status_t first_error(const tfrt_diagnostics_t* diagnostics) {
  tfrt_status_t status = tfrt_diagnostics_status(diagnostics);
  return status ? status : tfrt_status_out_of_memory();
}

static tfrt_status_t convert(tfrt_onnx_builder_t* builder, const Onnx__ModelProto* model,
                             const tfrt_onnx_options_t* options, tfrt_ir_operation_t** out_module) {
  const Onnx__GraphProto* graph = model->graph;
  TFRT_RETURN_IF_ERROR(check_model(model));
  TFRT_RETURN_IF_ERROR(read_opset(model, &builder->opset));
  TFRT_RETURN_IF_ERROR(tfrt_onnx_shapes_check(graph, options));
  tfrt_onnx_graph_check_operators(builder, graph);
  if (builder->diagnostics->error_count > 0) return first_error(builder->diagnostics);
  if (!tfrt_onnx_graph_name(builder, graph)) return first_error(builder->diagnostics);
  TFRT_RETURN_IF_ERROR(tfrt_diagnostics_status(builder->diagnostics));
  return tfrt_onnx_functions_build(builder, graph, options, out_module);
}

static tfrt_status_t import_model(tfrt_ir_context_t* context, const Onnx__ModelProto* model,
                                  const tfrt_op_tables_t* tables,
                                  const tfrt_onnx_options_t* options,
                                  tfrt_diagnostics_t* diagnostics, tfrt_string_builder_t* summary,
                                  tfrt_ir_operation_t** out_module) {
  tfrt_op_index_t ops;
  TFRT_RETURN_IF_ERROR(tfrt_op_index_initialize(&ops, tables, tfrt_ir_context_allocator(context)));
  tfrt_onnx_builder_t builder = {
      .context = context,
      .ops = &ops,
      .diagnostics = diagnostics,
      .directory = options->directory,
      .file = tfrt_ir_string_of(context, diagnostics->file),
      .tensor_type = tfrt_ir_type_dialect(context, tfrt_string_view_of(TFRT_ONNX_TENSOR_TYPE)),
  };
  tfrt_status_t status = builder.file && builder.tensor_type
                             ? convert(&builder, model, options, out_module)
                             : tfrt_status_out_of_memory();
  if (!status) status = tfrt_ir_context_status(context);
  if (!status) tfrt_onnx_summary_append(&builder, model, options, summary);
  tfrt_op_index_deinitialize(&ops);
  return status;
}

tfrt_status_t tfrt_onnx_import(tfrt_ir_context_t* context, const uint8_t* data, size_t size,
                               const tfrt_op_tables_t* tables, const tfrt_onnx_options_t* options,
                               tfrt_diagnostics_t* diagnostics, tfrt_string_builder_t* summary,
                               tfrt_ir_operation_t** out_module) {
  Onnx__ModelProto* model;
  *out_module = NULL;
  tfrt_status_t status = tfrt_onnx_model_unpack(data, size, &model);
  if (!status) {
    status = import_model(context, model, tables, options, diagnostics, summary, out_module);
  }
  tfrt_onnx_model_free(model);
  if (status && diagnostics->error_count == 0) {
    tfrt_diagnostics_report_at(diagnostics, TFRT_SEVERITY_ERROR, NULL, "%s",
                               tfrt_status_message(status));
  }
  return status;
}
