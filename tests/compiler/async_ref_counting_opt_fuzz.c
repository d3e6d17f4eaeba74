// SPDX-License-Identifier: Apache-2.0
//
// Any text through the pass that cancels reference counts: each program stays right. One whose
// counts were balanced, as they stand in the text or as the other pass places them, keeps them so.

#include <stdlib.h>

#include "compiler/passes/async_ref_count_optimizer.h"
#include "compiler/passes/async_ref_count_verifier.h"
#include "compiler/passes/async_ref_counter.h"
#include "tests/compiler/ref_counts_fuzz.h"
#include "tests/support/fuzz_target.h"
#include "tools/kernels/op_tables.h"

static bool is_balanced(fuzzed_program_t* program) {
  return tfrt_verify_async_ref_counts(program->context, tfrt_all_op_tables(), program->module,
                                      &program->diagnostics);
}

static void cancel(fuzzed_program_t* program) {
  bool was_balanced = is_balanced(program);
  if (!tfrt_optimize_async_ref_counts(program->context, tfrt_all_op_tables(), program->module,
                                      &program->diagnostics)) {
    abort();
  }
  fuzzed_program_check(program);
  if (was_balanced && !is_balanced(program)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzzed_program_t program;
  fuzzed_program_open(&program, data, size);
  if (program.module) {
    cancel(&program);
    if (!tfrt_count_async_references(program.context, tfrt_all_op_tables(), program.module,
                                     &program.diagnostics)) {
      abort();
    }
    cancel(&program);
  }
  fuzzed_program_close(&program);
  return 0;
}
