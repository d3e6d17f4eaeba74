// SPDX-License-Identifier: Apache-2.0
//
// The custom forms of the ops of the language, whose op-table entries say `syntax`.

#include "compiler/printer/printer_impl.h"

static const tfrt_printer_syntax_t* const dialects[] = {tfrt_printer_cf_syntaxes};

static const tfrt_printer_syntax_t* find(const tfrt_ir_operation_t* operation) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(dialects); ++i) {
    for (const tfrt_printer_syntax_t* syntax = dialects[i]; syntax->name; ++syntax) {
      if (tfrt_ir_operation_is(operation, syntax->name)) return syntax;
    }
  }
  return NULL;
}

bool tfrt_printer_syntax_fits(const tfrt_ir_operation_t* operation) {
  const tfrt_printer_syntax_t* syntax = find(operation);
  return syntax && syntax->fits(operation);
}

void tfrt_printer_syntax(tfrt_printer_t* printer, const tfrt_ir_operation_t* operation) {
  tfrt_string_builder_append_view(printer->builder, tfrt_ir_string_view(operation->name));
  find(operation)->print(printer, operation);
}
