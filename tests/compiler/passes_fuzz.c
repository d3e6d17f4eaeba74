// SPDX-License-Identifier: Apache-2.0
//
// Any text through each pass for itself, and through the lowering of asynchronous programs: a
// program that the verifier accepts is one that it accepts behind the pass, or the pass reports an
// error.

#include <stdlib.h>

#include "compiler/lowering/lowering.h"
#include "compiler/passes/pass.h"
#include "tests/compiler/ref_counts_fuzz.h"
#include "tests/support/fuzz_target.h"
#include "tools/kernels/op_tables.h"

static bool lower(tfrt_ir_context_t* context, const tfrt_op_tables_t* tables,
                  tfrt_ir_operation_t* module, tfrt_diagnostics_t* diagnostics) {
  return tfrt_lower_language(context, module, tables, diagnostics);
}

// Returns false if the text is no program.
static bool try_pass(const tfrt_pass_t* pass, const uint8_t* data, size_t size) {
  fuzzed_program_t program;
  fuzzed_program_open(&program, data, size);
  const bool is_program = program.module != NULL;
  if (is_program) {
    const size_t errors_before = program.diagnostics.error_count;
    if (pass->run(program.context, tfrt_all_op_tables(), program.module, &program.diagnostics)) {
      fuzzed_program_check(&program);
    } else if (program.diagnostics.error_count == errors_before) {
      abort();
    }
  }
  fuzzed_program_close(&program);
  return is_program;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const tfrt_pass_t lowering = {"lower-async", "", lower};
  size_t count = 0;
  const tfrt_pass_t* passes = tfrt_all_passes(&count);
  bool is_program = try_pass(&lowering, data, size);
  for (size_t i = 0; is_program && i < count; ++i) is_program = try_pass(&passes[i], data, size);
  return 0;
}
