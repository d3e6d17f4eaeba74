// SPDX-License-Identifier: Apache-2.0
//
// Any text through the pass that places reference counts: each program stays right, its counts are
// balanced on every path, and a second run changes nothing.

#include <stdlib.h>

#include "compiler/passes/async_ref_count_verifier.h"
#include "compiler/passes/async_ref_counter.h"
#include "tests/compiler/ref_counts_fuzz.h"
#include "tests/support/fuzz_target.h"
#include "tools/kernels/op_tables.h"

static void count(fuzzed_program_t* program) {
  if (!tfrt_count_async_references(program->context, tfrt_all_op_tables(), program->module,
                                   &program->diagnostics)) {
    abort();
  }
  fuzzed_program_check(program);
  if (!tfrt_verify_async_ref_counts(program->context, tfrt_all_op_tables(), program->module,
                                    &program->diagnostics)) {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzzed_program_t program;
  fuzzed_program_open(&program, data, size);
  if (program.module) {
    count(&program);
    count(&program);
  }
  fuzzed_program_close(&program);
  return 0;
}
