// SPDX-License-Identifier: Apache-2.0
//
// Any text through the pass that checks reference counts: it ends, changes nothing, says what is
// wrong whenever something is, and says the same when it is asked again.

#include <stdlib.h>

#include "compiler/passes/async_ref_count_verifier.h"
#include "compiler/printer/printer.h"
#include "tests/compiler/ref_counts_fuzz.h"
#include "tests/support/fuzz_target.h"
#include "tools/kernels/op_tables.h"

static void print(const fuzzed_program_t* program, tfrt_string_builder_t* text) {
  tfrt_string_builder_initialize(text, tfrt_allocator_system());
  tfrt_print_operation(program->module, NULL, text);
}

static bool check(fuzzed_program_t* program) {
  size_t errors = program->diagnostics.error_count;
  bool is_right = tfrt_verify_async_ref_counts(program->context, tfrt_all_op_tables(),
                                               program->module, &program->diagnostics);
  if (is_right != (program->diagnostics.error_count == errors)) abort();
  return is_right;
}

static void try_program(fuzzed_program_t* program) {
  tfrt_string_builder_t before;
  tfrt_string_builder_t after;
  print(program, &before);
  bool is_right = check(program);
  bool is_right_again = check(program);
  if (is_right != is_right_again) abort();
  fuzzed_program_check(program);
  print(program, &after);
  if (!tfrt_string_view_equal(tfrt_string_builder_view(&before),
                              tfrt_string_builder_view(&after))) {
    abort();
  }
  tfrt_string_builder_deinitialize(&after);
  tfrt_string_builder_deinitialize(&before);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzzed_program_t program;
  fuzzed_program_open(&program, data, size);
  if (program.module) try_program(&program);
  fuzzed_program_close(&program);
  return 0;
}
