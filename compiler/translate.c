// SPDX-License-Identifier: Apache-2.0

#include "compiler/translate.h"

#include "compiler/bef/bef_emitter.h"
#include "compiler/bef/bef_importer.h"
#include "compiler/dialects.h"
#include "compiler/lowering/lowering.h"
#include "compiler/parser/parser.h"
#include "compiler/passes/chain_inserter.h"
#include "compiler/piecewise_print.h"
#include "compiler/printer/printer.h"
#include "compiler/verifier/verifier.h"
#include "host_runtime/bef/bef_file.h"

// The first error of |diagnostics|, or that memory is out: never OK.
static tfrt_status_t first_error(const tfrt_diagnostics_t* diagnostics) {
  tfrt_status_t status = tfrt_diagnostics_status(diagnostics);
  if (status) return status;
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "out of memory for this program");
}

// Gives the ops of |module| the costs of |profile| (NULL: none).
static bool apply_profile(tfrt_cost_profile_t* profile, tfrt_ir_context_t* context,
                          tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  if (!profile || tfrt_cost_profile_apply(profile, context, module)) return true;
  tfrt_pass_report(diagnostics, TFRT_SEVERITY_ERROR, module, "out of memory for the profile");
  return false;
}

// Text to checked IR to BEF, in |context|.
static tfrt_status_t assemble(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                              const tfrt_text_to_bef_options_t* options,
                              tfrt_diagnostics_t* diagnostics, tfrt_allocator_t allocator,
                              void** out_bytes, size_t* out_size) {
  tfrt_ir_operation_t* module = tfrt_parse_module(context, tables, diagnostics);
  if (!module || !tfrt_verify_module(context, module, diagnostics)) {
    return first_error(diagnostics);
  }
  bool inserts = !options || !options->no_insert_chains;
  // The lowering puts the control of a block in the place of chains that are missing.
  if (!inserts && !tfrt_check_no_chain_missing(module, diagnostics)) {
    return first_error(diagnostics);
  }
  if (!tfrt_lower_language(context, module, tables, diagnostics) ||
      !tfrt_verify_module(context, module, diagnostics)) {
    return first_error(diagnostics);
  }
  if (inserts && !tfrt_insert_chains(context, tables, module, diagnostics)) {
    return first_error(diagnostics);
  }
  if (!apply_profile(options ? options->profile : NULL, context, module, diagnostics)) {
    return first_error(diagnostics);
  }
  bool bare = options && options->no_optional_sections;
  bool exact = options && options->exact_tfrt_bytes;
  tfrt_bef_emitter_options_t emitter_options = {
      .no_optional_sections = bare, .no_argument_names = bare, .exact_tfrt_bytes = exact};
  return tfrt_bef_emit(context, module, &emitter_options, diagnostics, allocator, out_bytes,
                       out_size);
}

tfrt_status_t tfrt_assemble_text(const tfrt_op_tables_t* tables,
                                 const tfrt_text_to_bef_options_t* options,
                                 tfrt_allocator_t allocator, tfrt_diagnostics_t* diagnostics,
                                 void** out_bytes, size_t* out_size) {
  *out_bytes = NULL;
  *out_size = 0;
  tfrt_ir_context_t* context = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_ir_context_allocate(allocator, &context));
  tfrt_status_t status =
      assemble(context, tables, options, diagnostics, allocator, out_bytes, out_size);
  tfrt_ir_context_free(context);
  return status;
}

tfrt_status_t tfrt_translate_text_to_bef(const char* name, tfrt_string_view_t text,
                                         const tfrt_op_tables_t* tables,
                                         const tfrt_text_to_bef_options_t* options,
                                         tfrt_allocator_t allocator, tfrt_string_builder_t* report,
                                         void** out_bytes, size_t* out_size) {
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, name, text, allocator);
  tfrt_status_t status =
      tfrt_assemble_text(tables, options, allocator, &diagnostics, out_bytes, out_size);
  tfrt_diagnostics_render(&diagnostics, report);
  tfrt_diagnostics_deinitialize(&diagnostics);
  return status;
}

// Lowers |module|. Chains that a lowered function lacks are put in: nobody could tell afterwards
// that the control of its block is not all that an op waits for.
static bool lower(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                  tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  bool lacks_chains = tfrt_lowering_lacks_chains(module);
  return tfrt_lower_language(context, module, tables, diagnostics) &&
         tfrt_verify_module(context, module, diagnostics) &&
         (!lacks_chains || tfrt_insert_chains(context, tables, module, diagnostics));
}

// Text to checked IR to text, in |context|.
static tfrt_status_t optimize(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                              const tfrt_text_to_text_options_t* options,
                              tfrt_diagnostics_t* diagnostics, tfrt_string_builder_t* text) {
  tfrt_ir_operation_t* module = tfrt_parse_module(context, tables, diagnostics);
  if (!module) return first_error(diagnostics);
  // First: what else is wrong may follow from an op that nobody knows.
  if (options->known_dialects_only && !tfrt_check_dialects(module, tables, diagnostics)) {
    return first_error(diagnostics);
  }
  if (!tfrt_verify_module(context, module, diagnostics)) return first_error(diagnostics);
  if (!apply_profile(options->profile, context, module, diagnostics) ||
      !tfrt_passes_run(options->passes, options->pass_count, context, tables, module,
                       diagnostics)) {
    return first_error(diagnostics);
  }
  if (options->lowers && !lower(context, tables, module, diagnostics)) {
    return first_error(diagnostics);
  }
  tfrt_printer_options_t printer_options = {.generic = options->generic,
                                            .locations = options->locations,
                                            .unnamed_values = options->unnamed_values};
  tfrt_print_operation(module, &printer_options, text);
  tfrt_print_resources(context, module, &printer_options, text);
  return tfrt_string_builder_status(text);
}

tfrt_status_t tfrt_optimize_text(const tfrt_op_tables_t* tables,
                                 const tfrt_text_to_text_options_t* options,
                                 tfrt_allocator_t allocator, tfrt_diagnostics_t* diagnostics,
                                 tfrt_string_builder_t* text) {
  static const tfrt_text_to_text_options_t no_options = {0};
  if (options && tfrt_print_piecewise(tables, options, allocator, diagnostics, text)) return NULL;
  tfrt_ir_context_t* context = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_ir_context_allocate(allocator, &context));
  tfrt_status_t status =
      optimize(context, tables, options ? options : &no_options, diagnostics, text);
  tfrt_ir_context_free(context);
  return status;
}

// Appends the text of |file|, op by op in |context|. Returns false, and nothing is appended, if the
// file must be gone through as a whole.
static bool disassemble_stepwise(tfrt_ir_context_t* context, const tfrt_bef_file_t* file,
                                 const tfrt_op_tables_t* tables,
                                 const tfrt_printer_options_t* options,
                                 tfrt_string_builder_t* text) {
  if (text->failed) return false;
  size_t size_before = text->size;
  tfrt_bef_importer_t* importer = NULL;
  const tfrt_ir_operation_t* module =
      tfrt_bef_importer_open(context, file, tables, options->locations, &importer);
  if (module) {
    tfrt_printer_options_t stepwise = *options;
    stepwise.next = tfrt_bef_importer_next;
    stepwise.user_data = importer;
    tfrt_print_operation(module, &stepwise, text);
  }
  bool is_whole = tfrt_bef_importer_close(importer) && module && !text->failed;
  if (is_whole) return true;
  text->size = size_before;
  text->failed = false;
  return false;
}

// BEF to IR to text.
static tfrt_status_t disassemble(const tfrt_bef_file_t* file, const tfrt_op_tables_t* tables,
                                 const tfrt_bef_to_text_options_t* options,
                                 tfrt_allocator_t allocator, tfrt_diagnostics_t* diagnostics,
                                 tfrt_string_builder_t* text) {
  tfrt_printer_options_t printer_options = {0};
  if (options) {
    printer_options.generic = options->generic;
    printer_options.locations = options->locations;
  }
  tfrt_ir_context_t* context = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_ir_context_allocate(allocator, &context));
  bool is_done = disassemble_stepwise(context, file, tables, &printer_options, text);
  tfrt_ir_context_free(context);
  if (is_done) return NULL;
  TFRT_RETURN_IF_ERROR(tfrt_ir_context_allocate(allocator, &context));
  tfrt_ir_operation_t* module = NULL;
  tfrt_status_t status = tfrt_bef_import(context, file, tables, diagnostics, &module);
  if (!status) {
    tfrt_print_operation(module, &printer_options, text);
    status = tfrt_string_builder_status(text);
  }
  tfrt_ir_context_free(context);
  return status;
}

// Appends the text of |file| (consumed; NULL: |status|, which is consumed, too, says why).
static tfrt_status_t disassemble_take(tfrt_bef_file_t* file, tfrt_status_t status,
                                      const tfrt_op_tables_t* tables,
                                      const tfrt_bef_to_text_options_t* options,
                                      tfrt_allocator_t allocator, tfrt_diagnostics_t* diagnostics,
                                      tfrt_string_builder_t* text) {
  if (status) {
    tfrt_diagnostics_report_at(diagnostics, TFRT_SEVERITY_ERROR, NULL, "%s",
                               tfrt_status_message(status));
  }
  if (!status) status = disassemble(file, tables, options, allocator, diagnostics, text);
  tfrt_bef_file_release(file);
  return status;
}

tfrt_status_t tfrt_disassemble_image(const void* bytes, size_t size, const tfrt_op_tables_t* tables,
                                     const tfrt_bef_to_text_options_t* options,
                                     tfrt_allocator_t allocator, tfrt_diagnostics_t* diagnostics,
                                     tfrt_string_builder_t* text) {
  tfrt_bef_file_t* file = NULL;
  tfrt_status_t status = tfrt_bef_file_create(bytes, size, allocator, &file);
  return disassemble_take(file, status, tables, options, allocator, diagnostics, text);
}

tfrt_status_t tfrt_disassemble_take_contents(tfrt_file_contents_t* image,
                                             const tfrt_op_tables_t* tables,
                                             const tfrt_bef_to_text_options_t* options,
                                             tfrt_allocator_t allocator,
                                             tfrt_diagnostics_t* diagnostics,
                                             tfrt_string_builder_t* text) {
  // A text is mostly shorter than its image. Memory that is not written to costs nothing.
  tfrt_string_builder_reserve(text, image->size);
  tfrt_bef_file_t* file = NULL;
  tfrt_status_t status = tfrt_bef_file_create_around(image, allocator, &file);
  return disassemble_take(file, status, tables, options, allocator, diagnostics, text);
}

tfrt_status_t tfrt_translate_bef_to_text(const char* name, const void* bytes, size_t size,
                                         const tfrt_op_tables_t* tables,
                                         const tfrt_bef_to_text_options_t* options,
                                         tfrt_allocator_t allocator, tfrt_string_builder_t* report,
                                         tfrt_string_builder_t* text) {
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, name, tfrt_string_view_make(NULL, 0), allocator);
  tfrt_status_t status =
      tfrt_disassemble_image(bytes, size, tables, options, allocator, &diagnostics, text);
  tfrt_diagnostics_render(&diagnostics, report);
  tfrt_diagnostics_deinitialize(&diagnostics);
  return status;
}
