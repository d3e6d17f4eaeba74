// SPDX-License-Identifier: Apache-2.0

#include "compiler/piecewise_print.h"

#include "compiler/dialects.h"
#include "compiler/parser/piecewise_parser.h"
#include "compiler/printer/printer.h"
#include "compiler/verifier/verifier.h"

// Smaller texts are gone through faster as a whole.
#define FROM ((size_t)4 * 1024 * 1024)

typedef struct state_s {
  const tfrt_op_tables_t* tables;
  const tfrt_text_to_text_options_t* options;
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t diagnostics;  // whether there is an error; nobody reads what it is
  tfrt_piecewise_parser_t* parser;
  tfrt_verifier_t* verifier;
} state_t;

static bool check_dialects(state_t* state, const tfrt_ir_operation_t* operation) {
  return !state->options->known_dialects_only ||
         tfrt_check_dialects(operation, state->tables, &state->diagnostics);
}

static tfrt_ir_operation_t* read_function(const tfrt_ir_operation_t* head, void* user_data) {
  state_t* state = user_data;
  tfrt_ir_operation_t* function = tfrt_piecewise_parser_read(state->parser, head);
  bool ok = function && check_dialects(state, function) &&
            tfrt_function_verifier_check(state->verifier, head, function);
  return ok ? function : NULL;
}

// Appends the program to |text|; false if it must be gone through as a whole.
static bool print(state_t* state, tfrt_string_builder_t* text) {
  tfrt_ir_operation_t* module = tfrt_piecewise_parser_open(state->context, state->tables,
                                                           &state->diagnostics, &state->parser);
  // Resources are printed in the order in which functions use them.
  if (!module || state->context->resource_owners || !check_dialects(state, module) ||
      !tfrt_function_verifier_open(state->context, module, &state->diagnostics, &state->verifier)) {
    return false;
  }
  tfrt_printer_options_t options = {.generic = true,
                                    .locations = state->options->locations,
                                    .unnamed_values = true,
                                    .read = read_function,
                                    .user_data = state,
                                    // Numbers are longer than in most texts.
                                    .expected_size = state->diagnostics.text.size / 4 * 5};
  tfrt_print_operation(module, &options, text);
  // No report, not even a warning, may be lost.
  return !text->failed && !state->context->failed && !state->diagnostics.count;
}

// Whether all that is wanted of a text of |size| bytes is to print it.
static bool is_for_pieces(const tfrt_text_to_text_options_t* options, size_t size) {
  return !options->pass_count && !options->lowers && !options->profile && options->generic &&
         options->unnamed_values &&
         size >= (options->piecewise_from ? options->piecewise_from : FROM);
}

bool tfrt_print_piecewise(const tfrt_op_tables_t* tables,
                          const tfrt_text_to_text_options_t* options, tfrt_allocator_t allocator,
                          const tfrt_diagnostics_t* diagnostics, tfrt_string_builder_t* text) {
  if (text->failed || !is_for_pieces(options, diagnostics->text.size)) return false;
  state_t state = {.tables = tables, .options = options};
  tfrt_status_t status = tfrt_ir_context_allocate(allocator, &state.context);
  if (status) {
    tfrt_status_release(status);
    return false;
  }
  tfrt_diagnostics_initialize(&state.diagnostics, diagnostics->file, diagnostics->text, allocator);
  state.diagnostics.first_line = diagnostics->first_line;
  size_t size_before = text->size;
  bool ok = print(&state, text);
  if (!ok) {
    text->size = size_before;
    text->failed = false;
  }
  tfrt_function_verifier_close(state.verifier);
  tfrt_piecewise_parser_close(state.parser);
  tfrt_diagnostics_deinitialize(&state.diagnostics);
  tfrt_ir_context_free(state.context);
  return ok;
}
