// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/onnx_translate.h"

#include "compiler/bef/bef_emitter.h"
#include "compiler/onnx/onnx_around.h"
#include "compiler/onnx/onnx_op_counts.h"
#include "compiler/onnx/onnx_stages.h"
#include "compiler/parser/parser.h"
#include "compiler/passes/nn_passes.h"
#include "compiler/printer/printer.h"
#include "compiler/verifier/verifier.h"

// More than the usual number: all operators that are missing are to be seen at once.
#define REPORT_LIMIT 200

// The state of a translation.
typedef struct translation_s {
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_t around;  // of the text around the model
  tfrt_ir_operation_t* module;
  const tfrt_onnx_texts_t* texts;
} translation_t;

// Makes the program fast, and then, for several hosts, stages of it.
static bool optimize(translation_t* translation, const tfrt_op_tables_t* tables,
                     const tfrt_onnx_options_t* options) {
  tfrt_ir_context_t* context = translation->context;
  tfrt_diagnostics_t* diagnostics = &translation->diagnostics;
  tfrt_onnx_op_counts_t before, after;
  bool is_pipeline = options->split == TFRT_ONNX_SPLIT_PIPELINE && options->host_count > 1;
  if (!tfrt_verify_module(context, translation->module, diagnostics)) return false;
  tfrt_onnx_count_ops(translation->module, &before);
  if (!tfrt_nn_optimize(context, tables, translation->module, diagnostics)) return false;
  tfrt_onnx_count_ops(translation->module, &after);
  tfrt_onnx_op_counts_append(&before, &after, translation->texts->summary);
  return (!is_pipeline ||
          tfrt_onnx_cut_stages(context, tables, translation->module, options->host_count)) &&
         tfrt_verify_module(context, translation->module, diagnostics);
}

// The first error of |diagnostics|, or that memory is out.
static tfrt_status_t failed(const tfrt_diagnostics_t* diagnostics) {
  tfrt_status_t status = tfrt_diagnostics_status(diagnostics);
  return status ? status : tfrt_status_out_of_memory();
}

// Makes the program of the model.
static tfrt_status_t import_model(translation_t* translation, tfrt_string_view_t model,
                                  const tfrt_op_tables_t* tables,
                                  const tfrt_onnx_options_t* options) {
  TFRT_RETURN_IF_ERROR(tfrt_onnx_import(translation->context, (const uint8_t*)model.data,
                                        model.size, tables, options, &translation->diagnostics,
                                        translation->texts->summary, &translation->module));
  return optimize(translation, tables, options) ? NULL : failed(&translation->diagnostics);
}

static tfrt_status_t begin(translation_t* translation, const char* name, tfrt_string_view_t model,
                           const tfrt_op_tables_t* tables, const tfrt_onnx_options_t* options,
                           tfrt_allocator_t allocator) {
  tfrt_ir_operation_t* around = NULL;
  tfrt_diagnostics_initialize(&translation->diagnostics, name, tfrt_string_view_make("", 0),
                              allocator);
  translation->diagnostics.limit = REPORT_LIMIT;
  tfrt_diagnostics_initialize(&translation->around,
                              options->around_name ? options->around_name : "", options->around,
                              allocator);
  TFRT_RETURN_IF_ERROR(tfrt_ir_context_allocate(allocator, &translation->context));
  if (options->around_name) {
    around = tfrt_parse_module(translation->context, tables, &translation->around);
    if (!around) return failed(&translation->around);
    tfrt_ir_context_forget_meanings(translation->context);
  }
  TFRT_RETURN_IF_ERROR(import_model(translation, model, tables, options));
  if (!around || tfrt_onnx_put_around(translation->context, tables, around, translation->module,
                                      &translation->around)) {
    return NULL;
  }
  return failed(&translation->around);
}

static void end(translation_t* translation) {
  tfrt_diagnostics_render(&translation->diagnostics, translation->texts->report);
  tfrt_diagnostics_deinitialize(&translation->diagnostics);
  tfrt_diagnostics_render(&translation->around, translation->texts->report);
  tfrt_diagnostics_deinitialize(&translation->around);
  tfrt_ir_context_free(translation->context);
}

tfrt_status_t tfrt_onnx_to_bef(const char* name, tfrt_string_view_t model,
                               const tfrt_op_tables_t* tables, const tfrt_onnx_options_t* options,
                               tfrt_allocator_t allocator, const tfrt_onnx_texts_t* texts,
                               void** out_bytes, size_t* out_size) {
  translation_t translation = {.texts = texts};
  *out_bytes = NULL;
  *out_size = 0;
  tfrt_status_t status = begin(&translation, name, model, tables, options, allocator);
  if (!status) {
    status = tfrt_bef_emit(translation.context, translation.module, NULL, &translation.diagnostics,
                           allocator, out_bytes, out_size);
  }
  end(&translation);
  return status;
}

tfrt_status_t tfrt_onnx_to_text(const char* name, tfrt_string_view_t model,
                                const tfrt_op_tables_t* tables, const tfrt_onnx_options_t* options,
                                tfrt_allocator_t allocator, const tfrt_onnx_texts_t* texts,
                                tfrt_string_builder_t* out) {
  translation_t translation = {.texts = texts};
  tfrt_status_t status = begin(&translation, name, model, tables, options, allocator);
  if (!status) {
    const tfrt_printer_options_t printer_options = {0};
    tfrt_print_operation(translation.module, &printer_options, out);
    status = tfrt_string_builder_status(out);
  }
  end(&translation);
  return status;
}
