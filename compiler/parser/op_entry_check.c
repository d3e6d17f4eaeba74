// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/op_entry_check.h"

#include <string.h>

#include "compiler/op_table/schema.h"
#include "compiler/parser/parser.h"
#include "host_runtime/executor/descriptor/descriptor_check.h"

// OK if |type| is printed just so; |what| has it.
static tfrt_status_t check_one_type(const tfrt_kernel_descriptor_t* op, const char* what,
                                    const char* name, tfrt_string_view_t type) {
  tfrt_ir_context_t* context = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, NULL, type, tfrt_allocator_system());
  const tfrt_ir_type_t* parsed = tfrt_parse_type(context, &diagnostics);
  bool is_good = parsed && tfrt_string_view_equal(tfrt_ir_string_view(parsed->text), type);
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_ir_context_free(context);
  if (is_good) return NULL;
  return tfrt_descriptor_defect(op,
                                "%s '%s' has the type '%.*s', which is none as MLIR prints types",
                                what, name, TFRT_STRING_VIEW_ARGUMENTS(type));
}

// OK if |type| is "any" or each type of the choice, or the one, that it is, is good.
static tfrt_status_t check_type(const tfrt_kernel_descriptor_t* op, const char* what,
                                const char* name, const char* type) {
  if (strcmp(type, TFRT_TYPE_ANY) == 0) return NULL;
  tfrt_string_view_t one;
  while (tfrt_kernel_descriptor_next_type(&type, &one)) {
    TFRT_RETURN_IF_ERROR(check_one_type(op, what, name, one));
  }
  return NULL;
}

static tfrt_status_t check_types(const tfrt_kernel_descriptor_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    TFRT_RETURN_IF_ERROR(check_type(op, "operand", op->operands[i].name, op->operands[i].type));
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (tfrt_kernel_descriptor_type_operand(op, op->results[i].type) != UINT32_MAX) continue;
    TFRT_RETURN_IF_ERROR(check_type(op, "result", op->results[i].name, op->results[i].type));
  }
  return NULL;
}

// OK if an op that leaves attribute |entry| out gets a value that fits.
static tfrt_status_t check_default(const tfrt_kernel_descriptor_t* op,
                                   const tfrt_attribute_descriptor_t* entry) {
  tfrt_ir_context_t* context = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_ir_context_allocate(tfrt_allocator_system(), &context));
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_string_builder_append_format(&text, "\"%s\"() : () -> ()\n", op->name);
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, NULL, tfrt_string_builder_view(&text),
                              tfrt_allocator_system());
  tfrt_kernel_table_t table = {op, 1};
  tfrt_op_tables_t tables = {.tables = &table, .count = 1};
  tfrt_ir_operation_t* module = tfrt_parse_module(context, &tables, &diagnostics);
  const tfrt_ir_attribute_t* value =
      module ? tfrt_ir_operation_attribute(tfrt_ir_module_block(module)->first, entry->name) : NULL;
  bool is_good = value && tfrt_schema_attribute_fits(entry->kind, value);
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_string_builder_deinitialize(&text);
  tfrt_ir_context_free(context);
  if (is_good) return NULL;
  return tfrt_descriptor_defect(op, "the default '%s' of attribute '%s' is not %s",
                                entry->default_value, entry->name,
                                tfrt_schema_attribute_kind_name(entry->kind));
}

static tfrt_status_t check_defaults(const tfrt_kernel_descriptor_t* op) {
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    if (op->attributes[i].default_value) {
      TFRT_RETURN_IF_ERROR(check_default(op, &op->attributes[i]));
    }
  }
  return NULL;
}

tfrt_status_t tfrt_op_entry_check(const tfrt_kernel_descriptor_t* entry) {
  TFRT_RETURN_IF_ERROR(tfrt_descriptor_check_op(entry));
  TFRT_RETURN_IF_ERROR(check_types(entry));
  return check_defaults(entry);
}
