// SPDX-License-Identifier: Apache-2.0

#include "compiler/verifier/verifier.h"

#include <stdio.h>

#include "compiler/verifier/verifier_impl.h"
#include "host_runtime/base/number_text.h"

static void report_v(tfrt_verifier_t* verifier, tfrt_severity_t severity,
                     const tfrt_ir_operation_t* operation, const char* format, va_list arguments) {
  if (verifier->diagnostics->text.size) {
    tfrt_diagnostics_report_v(verifier->diagnostics, severity, operation->text_offset, format,
                              arguments);
    return;
  }
  char message[1024];
  tfrt_number_text_format_v(message, sizeof(message), format, arguments);
  tfrt_diagnostics_report_at(verifier->diagnostics, severity, operation->location, "%s", message);
}

void tfrt_verifier_report(tfrt_verifier_t* verifier, tfrt_severity_t severity,
                          const tfrt_ir_operation_t* operation, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report_v(verifier, severity, operation, format, arguments);
  va_end(arguments);
}

void tfrt_verifier_op_error(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* operation,
                            const char* format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  tfrt_number_text_format_v(message, sizeof(message), format, arguments);
  va_end(arguments);
  tfrt_verifier_report(verifier, TFRT_SEVERITY_ERROR, operation, "'%s' op %s",
                       operation->name->data, message);
}

// --- Blocks ----------------------------------------------------------------------------------

static void check_region(tfrt_verifier_t* verifier, tfrt_ir_region_t* region, bool ordered);

static void check_operation(tfrt_verifier_t* verifier, tfrt_ir_operation_t* operation) {
  if (tfrt_ir_operation_is_terminator(operation) && operation->next) {
    tfrt_verifier_op_error(verifier, operation, "must be the last operation in the parent block");
  }
  tfrt_verifier_check_op(verifier, operation);
  // In the regions of unknown ops nobody knows what order means.
  bool isolated = operation->descriptor || tfrt_ir_is_function(operation);
  for (uint32_t i = 0; i < operation->region_count; ++i) {
    check_region(verifier, &operation->regions[i], isolated);
  }
}

static void check_ops(tfrt_verifier_t* verifier, tfrt_ir_region_t* region, bool ordered) {
  for (tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
      if (ordered) tfrt_verifier_check_order(verifier, op);
      if (!tfrt_verifier_is_like_good(verifier, op)) check_operation(verifier, op);
    }
  }
}

// |ordered|: values come before their uses, and control goes from block to block.
static void check_region(tfrt_verifier_t* verifier, tfrt_ir_region_t* region, bool ordered) {
  for (tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    tfrt_ir_block_number_ops(block);
  }
  const tfrt_ir_block_t* only = tfrt_ir_region_single_block(region);
  bool is_plain = only && !(only->last && only->last->successor_count);
  if (!ordered || !region->first_block || is_plain) {
    check_ops(verifier, region, ordered);
    return;
  }
  tfrt_verifier_region_t entry = {.outer = verifier->regions};
  tfrt_status_t status = tfrt_dominance_initialize(&entry.dominance, region,
                                                   tfrt_ir_context_allocator(verifier->context));
  if (status) {
    tfrt_status_release(status);
    verifier->out_of_memory = true;
    return;
  }
  verifier->regions = &entry;
  tfrt_verifier_check_blocks(verifier, region);
  check_ops(verifier, region, true);
  verifier->regions = entry.outer;
  tfrt_dominance_deinitialize(&entry.dominance);
}

// --- Functions and modules ---------------------------------------------------------------------

// Checks the first block's arguments against the function's type.
static void check_parameters(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* function,
                             const tfrt_ir_type_t* type, const tfrt_ir_block_t* block) {
  bool fits = block->argument_count == type->input_count;
  for (uint32_t i = 0; fits && i < type->input_count; ++i) {
    fits = block->arguments[i]->type == type->inputs[i];
  }
  if (fits) return;
  tfrt_verifier_op_error(verifier, function,
                         "entry block arguments don't match the function type '%s'",
                         type->text->data);
}

static bool is_private(const tfrt_ir_operation_t* function) {
  const tfrt_ir_attribute_t* visibility = tfrt_ir_operation_attribute(function, "sym_visibility");
  return visibility && visibility->kind == TFRT_IR_ATTRIBUTE_STRING &&
         tfrt_string_view_equal(tfrt_ir_attribute_text(visibility), tfrt_string_view_of("private"));
}

static void check_function(tfrt_verifier_t* verifier, tfrt_ir_operation_t* function) {
  const tfrt_ir_type_t* type = tfrt_ir_function_type(function);
  tfrt_string_view_t name = tfrt_ir_symbol_name(function);
  if (!type || !name.size || function->region_count != 1) {
    tfrt_verifier_op_error(verifier, function,
                           "needs the attributes 'sym_name' and 'function_type', and one region");
    return;
  }
  if (function->regions[0].unread) {
    function->regions[0].unread->symbols = verifier->nearest;
    return;
  }
  if (tfrt_ir_is_async_function(function)) tfrt_verifier_check_language(verifier, function);
  bool native = tfrt_ir_operation_attribute(function, "tfrt.native") != NULL;
  tfrt_ir_region_t* region = &function->regions[0];
  if (!region->first_block) {
    // The compiler replaces calls of the private ones that it knows; BEF has no others.
    if (native || is_private(function)) return;
    tfrt_verifier_op_error(verifier, function,
                           "has no body, and external functions are not allowed: only private ones "
                           "and those with the attribute 'tfrt.native'");
    return;
  }
  check_parameters(verifier, function, type, region->first_block);
  size_t errors_before = verifier->diagnostics->error_count;
  check_region(verifier, region, true);
  // Errors inside of the region are reported first, and alone: others may follow from them.
  if (verifier->diagnostics->error_count > errors_before) return;
  const tfrt_ir_operation_t* last = region->first_block->last;
  bool is_single = region->first_block == region->last_block;
  // An op that no table knows may end a block.
  bool may_end = last && (!last->descriptor || tfrt_ir_operation_is_terminator(last));
  if (is_single && !may_end) {
    tfrt_verifier_report(
        verifier, TFRT_SEVERITY_ERROR, last ? last : function,
        "function '@%.*s' must end in one: all functions need to have a tfrt.return",
        TFRT_STRING_VIEW_ARGUMENTS(name));
  }
}

// Reports each symbol that another op of |module| has before it.
static void check_symbols(tfrt_verifier_t* verifier, const tfrt_ir_symbol_table_t* table,
                          const tfrt_ir_operation_t* module) {
  for (tfrt_ir_operation_t* op = tfrt_ir_module_block(module)->first; op; op = op->next) {
    tfrt_string_view_t name = tfrt_ir_symbol_name(op);
    const tfrt_ir_operation_t* first = name.size ? tfrt_ir_symbol_table_find(table, name) : op;
    if (first == op) continue;
    tfrt_verifier_report(verifier, TFRT_SEVERITY_ERROR, op, "redefinition of symbol named '%.*s'",
                         TFRT_STRING_VIEW_ARGUMENTS(name));
    tfrt_verifier_report(verifier, TFRT_SEVERITY_NOTE, first,
                         "see existing symbol definition here");
  }
}

// The parser's nesting limit bounds the recursion.
static void check_module(tfrt_verifier_t* verifier, tfrt_ir_operation_t* module) {
  const tfrt_ir_symbol_table_t* table = tfrt_ir_symbol_table_create(verifier->context, module);
  if (!table) {
    verifier->out_of_memory = true;
    return;
  }
  if (!verifier->symbols) verifier->symbols = table;
  check_symbols(verifier, table, module);
  if (tfrt_ir_is_compiled_module(module)) return;
  const tfrt_ir_symbol_table_t* outer = verifier->nearest;
  verifier->nearest = table;
  tfrt_ir_block_t* block = tfrt_ir_module_block(module);
  tfrt_ir_block_number_ops(block);
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    if (tfrt_ir_is_function(op)) {
      check_function(verifier, op);
    } else if (tfrt_ir_is_module(op)) {
      check_module(verifier, op);
    } else {
      check_operation(verifier, op);
    }
  }
  verifier->nearest = outer;
}

bool tfrt_verify_module(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                        tfrt_diagnostics_t* diagnostics) {
  tfrt_verifier_t verifier = {.context = context, .diagnostics = diagnostics};
  size_t errors_before = diagnostics->error_count;
  check_module(&verifier, module);
  // Needs callees that fit.
  bool good = diagnostics->error_count == errors_before && !verifier.out_of_memory;
  if (good && verifier.has_host_calls) {
    tfrt_verifier_check_lent_arguments(&verifier, module);
  }
  if (verifier.out_of_memory) {
    tfrt_verifier_report(&verifier, TFRT_SEVERITY_ERROR, module, "out of memory for its checks");
  }
  return diagnostics->error_count == errors_before;
}

// --- Function by function ----------------------------------------------------------------------

bool tfrt_function_verifier_open(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                                 tfrt_diagnostics_t* diagnostics, tfrt_verifier_t** out_verifier) {
  tfrt_verifier_t* verifier =
      tfrt_allocator_allocate_zeroed(tfrt_ir_context_allocator(context), sizeof(*verifier));
  *out_verifier = verifier;
  if (!verifier) return false;
  verifier->context = context;
  verifier->diagnostics = diagnostics;
  size_t errors_before = diagnostics->error_count;
  check_module(verifier, module);
  return diagnostics->error_count == errors_before && !verifier->out_of_memory &&
         !verifier->has_host_calls;
}

bool tfrt_function_verifier_check(tfrt_verifier_t* verifier, const tfrt_ir_operation_t* head,
                                  tfrt_ir_operation_t* function) {
  verifier->nearest = head->regions[0].unread->symbols;
  // It is in a compiled module.
  if (!verifier->nearest) return true;
  size_t errors_before = verifier->diagnostics->error_count;
  check_function(verifier, function);
  return verifier->diagnostics->error_count == errors_before && !verifier->out_of_memory &&
         !verifier->has_host_calls;
}

void tfrt_function_verifier_close(tfrt_verifier_t* verifier) {
  if (!verifier) return;
  tfrt_allocator_free(tfrt_ir_context_allocator(verifier->context), verifier, sizeof(*verifier));
}
