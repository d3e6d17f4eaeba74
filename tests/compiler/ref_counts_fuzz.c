// SPDX-License-Identifier: Apache-2.0

#include "tests/compiler/ref_counts_fuzz.h"

#include <stdlib.h>

#include "compiler/verifier/verifier.h"
#include "tools/kernels/op_tables.h"

void fuzzed_program_open(fuzzed_program_t* program, const uint8_t* data, size_t size) {
  tfrt_string_view_t text = tfrt_string_view_make((const char*)data, size);
  if (tfrt_ir_context_allocate(tfrt_allocator_system(), &program->context)) abort();
  tfrt_diagnostics_initialize(&program->diagnostics, "f", text, tfrt_allocator_system());
  program->module =
      tfrt_parse_module(program->context, tfrt_all_op_tables(), &program->diagnostics);
  bool is_right = program->module &&
                  tfrt_verify_module(program->context, program->module, &program->diagnostics);
  if (!is_right) program->module = NULL;
}

void fuzzed_program_check(fuzzed_program_t* program) {
  if (!tfrt_verify_module(program->context, program->module, &program->diagnostics)) abort();
}

void fuzzed_program_close(fuzzed_program_t* program) {
  tfrt_diagnostics_deinitialize(&program->diagnostics);
  tfrt_ir_context_free(program->context);
}
