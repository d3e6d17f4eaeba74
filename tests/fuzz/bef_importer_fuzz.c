// SPDX-License-Identifier: Apache-2.0
//
// Any program as text: what the verifier lets through becomes a module or an error, and the
// module can be printed.

#include <stdlib.h>

#include "compiler/bef/bef_importer.h"
#include "compiler/printer/printer.h"
#include "tests/support/fuzz_target.h"

static void print(const tfrt_ir_operation_t* module) {
  tfrt_printer_options_t options = {.generic = true, .locations = true};
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_print_operation(module, &options, &text);
  if (text.size == 0) abort();
  tfrt_string_builder_deinitialize(&text);
}

static void import(const tfrt_bef_file_t* file) {
  static const tfrt_op_tables_t kNoTables = {0};
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t diagnostics;
  tfrt_ir_operation_t* module;
  tfrt_status_t status = tfrt_ir_context_allocate(tfrt_allocator_system(), &context);
  if (status) abort();
  tfrt_diagnostics_initialize(&diagnostics, "file.bef", tfrt_string_view_of(""),
                              tfrt_allocator_system());
  status = tfrt_bef_import(context, file, &kNoTables, &diagnostics, &module);
  if (tfrt_status_is_ok(status) != (module != NULL)) abort();
  if (module) print(module);
  tfrt_status_release(status);
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_ir_context_free(context);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tfrt_bef_file_t* file;
  tfrt_status_t status = tfrt_bef_file_create(data, size, tfrt_allocator_system(), &file);
  if (!status) import(file);
  tfrt_status_release(status);
  tfrt_bef_file_release(file);
  return 0;
}
