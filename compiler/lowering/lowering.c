// SPDX-License-Identifier: Apache-2.0

#include "compiler/lowering/lowering.h"

#include <stdio.h>

#include "compiler/ir/device_operation.h"
#include "compiler/lowering/lowering_impl.h"
#include "host_runtime/base/number_text.h"

// --- Helpers ----------------------------------------------------------------------------------

static void report(tfrt_diagnostics_t* diagnostics, const tfrt_ir_operation_t* operation,
                   const char* message) {
  if (diagnostics->text.size) {
    tfrt_diagnostics_report(diagnostics, TFRT_SEVERITY_ERROR, operation->text_offset, "%s",
                            message);
  } else {
    tfrt_diagnostics_report_at(diagnostics, TFRT_SEVERITY_ERROR, operation->location, "%s",
                               message);
  }
}

void tfrt_lowering_fail(tfrt_lowering_t* lowering, const tfrt_ir_operation_t* operation,
                        const char* format, ...) {
  char message[512];
  char whole[640];
  va_list arguments;
  va_start(arguments, format);
  tfrt_number_text_format_v(message, sizeof(message), format, arguments);
  va_end(arguments);
  snprintf(whole, sizeof(whole), "'%.100s' op %s", operation->name->data, message);
  report(lowering->diagnostics, operation, whole);
  lowering->failed = true;
}

void* tfrt_lowering_allocate(tfrt_lowering_t* lowering, size_t count, size_t size) {
  void* memory = tfrt_ir_context_allocate_array(lowering->context, count, size);
  if (!memory) lowering->out_of_memory = true;
  return memory;
}

tfrt_ir_operation_t* tfrt_lowering_make(tfrt_lowering_t* lowering,
                                        const tfrt_lowering_op_t* parts) {
  tfrt_ir_operation_parts_t all = {
      .name = tfrt_ir_string_of(lowering->context, parts->name),
      .location = parts->like->location,
      .operands = parts->operands,
      .operand_count = parts->operand_count,
      .result_types = parts->types,
      .result_count = parts->type_count,
      .attributes = parts->attributes,
      .attribute_count = parts->attribute_count,
      .successors = parts->successors,
      .successor_count = parts->successor_count,
      .region_count = parts->region_count,
  };
  bool ok = all.name != NULL;
  for (uint32_t i = 0; ok && i < parts->type_count; ++i) ok = parts->types[i] != NULL;
  for (uint32_t i = 0; ok && i < parts->attribute_count; ++i) {
    ok = parts->attributes[i].name && parts->attributes[i].value;
  }
  if (ok) all.descriptor = tfrt_op_index_find(&lowering->index, tfrt_ir_string_view(all.name));
  tfrt_ir_operation_t* op = ok ? tfrt_ir_operation_create(lowering->context, &all) : NULL;
  if (op) {
    op->text_offset = parts->like->text_offset;
  } else {
    lowering->out_of_memory = true;
  }
  return op;
}

tfrt_ir_named_attribute_t tfrt_lowering_named(tfrt_lowering_t* lowering, const char* name,
                                              const tfrt_ir_attribute_t* value) {
  return (tfrt_ir_named_attribute_t){tfrt_ir_string_of(lowering->context, name), value};
}

const tfrt_ir_attribute_t* tfrt_lowering_i32(tfrt_lowering_t* lowering, int32_t value) {
  const tfrt_ir_type_t* type = tfrt_ir_type_integer(lowering->context, 32, TFRT_IR_SIGNLESS);
  return type ? tfrt_ir_attribute_integer(lowering->context, type, value) : NULL;
}

const tfrt_ir_attribute_t* tfrt_lowering_string(tfrt_lowering_t* lowering,
                                                tfrt_string_view_t text) {
  return tfrt_ir_attribute_string(lowering->context, text, NULL);
}

const tfrt_ir_attribute_t* tfrt_lowering_segments(tfrt_lowering_t* lowering, const int32_t* sizes,
                                                  uint32_t count) {
  const tfrt_ir_type_t* type = tfrt_ir_type_integer(lowering->context, 32, TFRT_IR_SIGNLESS);
  return type ? tfrt_ir_attribute_dense_array(lowering->context, type, sizes, count) : NULL;
}

const tfrt_ir_type_t* tfrt_lowering_chain_type(tfrt_lowering_t* lowering) {
  return tfrt_ir_type_dialect(lowering->context, tfrt_string_view_of("!tfrt.chain"));
}

const tfrt_ir_type_t* tfrt_lowering_type(tfrt_lowering_t* lowering, const tfrt_ir_type_t* type) {
  while (type->kind == TFRT_IR_TYPE_DIALECT && type->element) type = type->element;
  if (tfrt_ir_type_is(type, "!async.token")) return tfrt_lowering_chain_type(lowering);
  if (tfrt_ir_type_is(type, TFRT_IR_DEVICE_TOKEN)) {
    return tfrt_ir_type_dialect(lowering->context, tfrt_string_view_of("!tfrt_gpu.event"));
  }
  if (type->kind == TFRT_IR_TYPE_INDEX) {
    return tfrt_ir_type_integer(lowering->context, 64, TFRT_IR_SIGNLESS);
  }
  return type;
}

const tfrt_ir_string_t* tfrt_lowering_new_name(tfrt_lowering_t* lowering, tfrt_string_view_t base,
                                               const char* suffix) {
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_ir_context_allocator(lowering->context));
  tfrt_string_builder_append_view(&text, base);
  tfrt_string_builder_append_text(&text, suffix);
  while (!text.failed &&
         tfrt_ir_symbol_table_find(lowering->symbols, tfrt_string_builder_view(&text))) {
    tfrt_string_builder_append_char(&text, '_');
  }
  const tfrt_ir_string_t* name =
      text.failed ? NULL : tfrt_ir_string_get(lowering->context, tfrt_string_builder_view(&text));
  tfrt_string_builder_deinitialize(&text);
  if (!name) lowering->out_of_memory = true;
  return name;
}

// --- Functions ----------------------------------------------------------------------------------

tfrt_lowering_function_t* tfrt_lowering_add(tfrt_lowering_t* lowering, tfrt_ir_operation_t* op,
                                            tfrt_lowering_kind_t kind) {
  tfrt_lowering_function_t* function = tfrt_lowering_allocate(lowering, 1, sizeof(*function));
  if (!function) return NULL;
  function->op = op;
  function->kind = kind;
  function->body_name = tfrt_lowering_new_name(lowering, tfrt_ir_symbol_name(op), ".body");
  *lowering->last_next = function;
  lowering->last_next = &function->next;
  // Found by the name again: no other user of meanings is at work.
  const tfrt_ir_string_t* name = tfrt_ir_string_get(lowering->context, tfrt_ir_symbol_name(op));
  if (!name || !function->body_name) return NULL;
  tfrt_ir_string_set_meaning(name, function);
  return function;
}

tfrt_lowering_function_t* tfrt_lowering_find(const tfrt_lowering_t* lowering,
                                             const tfrt_ir_attribute_t* symbol) {
  (void)lowering;
  if (!symbol || symbol->kind != TFRT_IR_ATTRIBUTE_SYMBOL || symbol->count != 1) return NULL;
  return symbol->names[0]->meaning;
}

static bool uses_language(tfrt_ir_operation_t* op, void* user_data) {
  bool* uses = user_data;
  *uses = *uses || tfrt_lowering_is_language(op);
  return !*uses;
}

// True if |op| is a function that is lowered.
static bool is_lowered(tfrt_ir_operation_t* op) {
  bool uses = false;
  if (!tfrt_ir_is_function(op) || !op->regions[0].first_block) return false;
  if (op->regions[0].first_block != op->regions[0].last_block) return true;
  tfrt_ir_operation_walk(op, uses_language, &uses);
  return uses;
}

static bool note_lacking(tfrt_ir_operation_t* op, void* user_data) {
  bool* lacks = user_data;
  *lacks = *lacks || tfrt_ir_operation_lacks_chains(op);
  return !*lacks;
}

bool tfrt_lowering_lacks_chains(tfrt_ir_operation_t* module) {
  bool lacks = false;
  for (tfrt_ir_operation_t* op = tfrt_ir_module_block(module)->first; op && !lacks; op = op->next) {
    if (is_lowered(op)) tfrt_ir_operation_walk(op, note_lacking, &lacks);
  }
  return lacks;
}

// Lists the functions that have ops of the language; names mean nothing else from now on.
static void list_functions(tfrt_lowering_t* lowering) {
  tfrt_ir_block_t* block = tfrt_ir_module_block(lowering->module);
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    const tfrt_ir_string_t* name = tfrt_ir_string_get(lowering->context, tfrt_ir_symbol_name(op));
    if (name) tfrt_ir_string_set_meaning(name, NULL);
  }
  for (tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    if (!is_lowered(op)) continue;
    if (tfrt_ir_operation_attribute(op, "tfrt.sync")) {
      tfrt_lowering_fail(lowering, op, "is synchronous, so it can't wait or have several blocks");
      return;
    }
    tfrt_lowering_add(lowering, op,
                      tfrt_ir_is_async_function(op) ? TFRT_LOWERING_ASYNC : TFRT_LOWERING_FUNCTION);
  }
}

static bool forget_operands(tfrt_ir_operation_t* op, void* user_data) {
  (void)user_data;
  for (uint32_t i = 0; i < op->operand_count; ++i) tfrt_ir_operand_set(&op->operands[i], NULL);
  return true;
}

// Takes out what was lowered, the functions without a body whose calls were, and code of kernels.
static void erase_old(tfrt_lowering_t* lowering) {
  for (tfrt_lowering_function_t* function = lowering->first; function; function = function->next) {
    tfrt_ir_operation_walk(function->op, forget_operands, NULL);
    tfrt_ir_operation_erase(function->op);
  }
  tfrt_ir_block_t* block = tfrt_ir_module_block(lowering->module);
  for (tfrt_ir_operation_t* op = block->first; op;) {
    tfrt_ir_operation_t* next = op->next;
    bool is_external = tfrt_ir_is_function(op) && !op->regions[0].first_block &&
                       !tfrt_ir_operation_attribute(op, "tfrt.native");
    // The code of kernels is where they are launched.
    bool is_gone = is_external || (op->descriptor && tfrt_ir_operation_is(op, "gpu.binary"));
    if (is_gone) tfrt_ir_operation_erase(op);
    op = next;
  }
}

static void run(tfrt_lowering_t* lowering) {
  list_functions(lowering);
  bool any = lowering->first != NULL;
  // Tasks add functions at the end.
  for (tfrt_lowering_function_t* function = lowering->first; function && !lowering->failed;
       function = function->next) {
    tfrt_lowering_counts(function->op);
    tfrt_lowering_structure(lowering, &function->op->regions[0]);
    tfrt_lowering_outline(lowering, function);
  }
  for (tfrt_lowering_function_t* function = lowering->first;
       function && !lowering->failed && !lowering->out_of_memory; function = function->next) {
    tfrt_lowering_function(lowering, function);
  }
  if (any && !lowering->failed && !lowering->out_of_memory) erase_old(lowering);
}

bool tfrt_lower_language(tfrt_ir_context_t* context, tfrt_ir_operation_t* module,
                         const tfrt_op_tables_t* tables, tfrt_diagnostics_t* diagnostics) {
  tfrt_lowering_t lowering = {.context = context, .diagnostics = diagnostics, .module = module};
  lowering.last_next = &lowering.first;
  lowering.symbols = tfrt_ir_symbol_table_create(context, module);
  tfrt_status_t status =
      tfrt_op_index_initialize(&lowering.index, tables, tfrt_ir_context_allocator(context));
  if (!status && lowering.symbols) run(&lowering);
  bool out_of_memory = status || !lowering.symbols || lowering.out_of_memory;
  if (!status) tfrt_op_index_deinitialize(&lowering.index);
  tfrt_status_release(status);
  if (out_of_memory) report(diagnostics, module, "out of memory for the lowering");
  return !out_of_memory && !lowering.failed;
}
