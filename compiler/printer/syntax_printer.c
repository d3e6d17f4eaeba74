// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of the ops of the language, whose op-table entries say `syntax FAMILY`.

#include "compiler/op_table/op_form.h"
#include "compiler/printer/printer_impl.h"

static const tfrt_printer_syntax_t* const sources[] = {
    tfrt_printer_arith_syntaxes, tfrt_printer_cf_syntaxes,     tfrt_printer_scf_syntaxes,
    tfrt_printer_async_syntaxes, tfrt_printer_memref_syntaxes, tfrt_printer_gpu_syntaxes,
};

void tfrt_printer_text(tfrt_printer_t* printer, const char* text) {
  tfrt_string_builder_append_text(printer->builder, text);
}

void tfrt_printer_colon_type(tfrt_printer_t* printer, const tfrt_ir_type_t* type) {
  tfrt_printer_text(printer, " : ");
  tfrt_printer_text(printer, type->text->data);
}

void tfrt_printer_operand_types(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                                uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_printer_text(printer, i ? ", " : " : ");
    tfrt_printer_text(printer, operation->operands[first + i].value->type->text->data);
  }
}

void tfrt_printer_arrow_results(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation,
                                uint32_t first) {
  if (operation->result_count <= first) return;
  tfrt_printer_text(printer, " -> (");
  for (uint32_t i = first; i < operation->result_count; ++i) {
    if (i > first) tfrt_printer_text(printer, ", ");
    tfrt_printer_text(printer, operation->results[i].type->text->data);
  }
  tfrt_printer_text(printer, ")");
}

bool tfrt_printer_has_shape(const tfrt_ir_operation_t* operation, uint32_t operands,
                            uint32_t results, uint32_t regions) {
  return operation->operand_count == operands && operation->result_count == results &&
         operation->region_count == regions && !operation->successor_count;
}

bool tfrt_printer_region_ends_plainly(const tfrt_ir_region_t* region, const char* end) {
  const tfrt_ir_block_t* block = tfrt_ir_region_single_block(region);
  const tfrt_ir_operation_t* last = block ? block->last : NULL;
  return last && tfrt_ir_operation_is(last, end) && !last->attribute_count &&
         tfrt_printer_has_shape(last, 0, 0, 0);
}

static const tfrt_printer_syntax_t* find(const tfrt_ir_operation_t* operation) {
  tfrt_string_view_t family = tfrt_op_form_family(operation->descriptor);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(sources); ++i) {
    for (const tfrt_printer_syntax_t* syntax = sources[i]; syntax->family; ++syntax) {
      if (tfrt_string_view_equal(family, tfrt_string_view_of(syntax->family))) return syntax;
    }
  }
  return NULL;
}

bool tfrt_printer_syntax_fits(const tfrt_ir_operation_t* operation) {
  const tfrt_printer_syntax_t* syntax = find(operation);
  return syntax && syntax->fits(operation);
}

void tfrt_printer_syntax(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  find(operation)->print(printer, operation);
}
