// SPDX-License-Identifier: Apache-2.0
//
// Any text to the parser and the verifier. Accepted text must be printed, in both forms, as text
// that is accepted again and printed the same. A program that the verifier accepts goes through all
// passes. The verifier must also accept the resulting program and its text. Gone through piece by
// piece, a text is printed as it is as a whole.

#include <stdlib.h>

#include "compiler/lowering/lowering.h"
#include "compiler/parser/parser.h"
#include "compiler/passes/pass.h"
#include "compiler/printer/printer.h"
#include "compiler/translate.h"
#include "compiler/verifier/verifier.h"
#include "tests/support/fuzz_target.h"
#include "tools/kernels/op_tables.h"

// Appends what |text| is printed as to |printed|; false if it isn't taken.
static bool reprint(tfrt_string_view_t text, const tfrt_printer_options_t* options, bool verify,
                    tfrt_string_builder_t* printed) {
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t diagnostics;
  if (tfrt_ir_context_allocate(tfrt_allocator_system(), &context)) abort();
  tfrt_diagnostics_initialize(&diagnostics, "f", text, tfrt_allocator_system());
  tfrt_ir_operation_t* module = tfrt_parse_module(context, tfrt_all_op_tables(), &diagnostics);
  if ((module == NULL) != (diagnostics.error_count > 0)) abort();
  if (module) tfrt_print_operation(module, options, printed);
  if (module && verify) tfrt_verify_module(context, module, &diagnostics);
  tfrt_string_builder_t report;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  tfrt_diagnostics_render(&diagnostics, &report);
  tfrt_string_builder_deinitialize(&report);
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_ir_context_free(context);
  return module != NULL;
}

// Appends what all passes make of |text| to |printed|; false if there is an error.
static bool optimize(tfrt_string_view_t text, bool run_passes, tfrt_string_builder_t* printed) {
  tfrt_ir_context_t* context;
  tfrt_diagnostics_t diagnostics;
  if (tfrt_ir_context_allocate(tfrt_allocator_system(), &context)) abort();
  tfrt_diagnostics_initialize(&diagnostics, "f", text, tfrt_allocator_system());
  tfrt_ir_operation_t* module = tfrt_parse_module(context, tfrt_all_op_tables(), &diagnostics);
  bool ok = module && tfrt_verify_module(context, module, &diagnostics);
  if (ok && run_passes) {
    static const char* const names[] = {"tfrt-print-stream", "inline", "canonicalize"};
    const tfrt_pass_t* passes[TFRT_ARRAY_SIZE(names)];
    for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) passes[i] = tfrt_pass_find(names[i]);
    if (!tfrt_passes_run(passes, TFRT_ARRAY_SIZE(names), context, tfrt_all_op_tables(), module,
                         &diagnostics))
      abort();
  }
  // The lowered program is printed; a program that has no lowering is reported.
  if (ok && run_passes) {
    size_t errors_before = diagnostics.error_count;
    bool lowered = tfrt_lower_language(context, module, tfrt_all_op_tables(), &diagnostics);
    if (!lowered && diagnostics.error_count == errors_before) abort();
    ok = lowered && tfrt_verify_module(context, module, &diagnostics);
  }
  if (ok) tfrt_print_operation(module, NULL, printed);
  tfrt_diagnostics_deinitialize(&diagnostics);
  tfrt_ir_context_free(context);
  return ok;
}

static void try_passes(tfrt_string_view_t text) {
  tfrt_string_builder_t first;
  tfrt_string_builder_t second;
  tfrt_string_builder_initialize(&first, tfrt_allocator_system());
  tfrt_string_builder_initialize(&second, tfrt_allocator_system());
  if (optimize(text, true, &first) && !optimize(tfrt_string_builder_view(&first), false, &second)) {
    abort();
  }
  tfrt_string_builder_deinitialize(&first);
  tfrt_string_builder_deinitialize(&second);
}

// Appends |text| in generic form to |printed|, gone through piece by piece from |piecewise_from|
// bytes on; false if there is an error.
static bool exchange(tfrt_string_view_t text, bool locations, size_t piecewise_from,
                     tfrt_string_builder_t* printed) {
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, "f", text, tfrt_allocator_system());
  const tfrt_text_to_text_options_t options = {.generic = true,
                                               .unnamed_values = true,
                                               .locations = locations,
                                               .piecewise_from = piecewise_from};
  tfrt_status_t status = tfrt_optimize_text(tfrt_all_op_tables(), &options, tfrt_allocator_system(),
                                            &diagnostics, printed);
  tfrt_diagnostics_deinitialize(&diagnostics);
  bool ok = !status;
  tfrt_status_release(status);
  return ok;
}

// Piece by piece, |text| is printed as it is as a whole.
static void try_pieces(tfrt_string_view_t text, bool locations) {
  tfrt_string_builder_t first;
  tfrt_string_builder_t second;
  tfrt_string_builder_initialize(&first, tfrt_allocator_system());
  tfrt_string_builder_initialize(&second, tfrt_allocator_system());
  bool ok = exchange(text, locations, SIZE_MAX, &first);
  if (ok != exchange(text, locations, 1, &second)) abort();
  if (ok && !tfrt_string_view_equal(tfrt_string_builder_view(&first),
                                    tfrt_string_builder_view(&second))) {
    abort();
  }
  tfrt_string_builder_deinitialize(&first);
  tfrt_string_builder_deinitialize(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const tfrt_printer_options_t forms[] = {
      {.locations = false}, {.locations = true}, {.generic = true}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(forms); ++i) {
    tfrt_string_builder_t first;
    tfrt_string_builder_t second;
    tfrt_string_builder_initialize(&first, tfrt_allocator_system());
    tfrt_string_builder_initialize(&second, tfrt_allocator_system());
    if (reprint(tfrt_string_view_make((const char*)data, size), &forms[i], i == 0, &first)) {
      if (!reprint(tfrt_string_builder_view(&first), &forms[i], false, &second)) abort();
      if (!tfrt_string_view_equal(tfrt_string_builder_view(&first),
                                  tfrt_string_builder_view(&second))) {
        abort();
      }
    }
    tfrt_string_builder_deinitialize(&first);
    tfrt_string_builder_deinitialize(&second);
  }
  try_passes(tfrt_string_view_make((const char*)data, size));
  try_pieces(tfrt_string_view_make((const char*)data, size), false);
  try_pieces(tfrt_string_view_make((const char*)data, size), true);
  return 0;
}
