// SPDX-License-Identifier: Apache-2.0
//
// Assembles a host program: MLIR text in, BEF out.

#include "tools/translation/bef_flags.h"
#include "tools/translation/program_translation.h"

static tfrt_bef_flags_t values;
static tfrt_flag_t flags[TFRT_BEF_FLAG_COUNT];

static const tfrt_flag_table_t table = {
    .usage = "mlir_to_bef [FLAGS] [FILE.mlir]",
    .summary =
        "Translates a host program from MLIR text to BEF, the binary form that bef_executor\n"
        "and tfrt run. Without a file, or with -, it reads the standard input.",
    .footer =
        "Ops with an entry in the op tables (docs/kernels.md) may be written in their custom\n"
        "form; any op may be written in MLIR's generic form.\n"
        "\n"
        "Exit codes: 0 done; 1 the input is wrong, or a file can't be read or written; 2 usage.\n"
        "\n"
        "Example: mlir_to_bef fib.mlir -o fib.bef && bef_executor fib.bef\n",
    .flags = flags,
    .flag_count = TFRT_BEF_FLAG_COUNT,
};

static tfrt_status_t translate(tfrt_string_view_t input, tfrt_diagnostics_t* diagnostics,
                               tfrt_string_builder_t* result) {
  return tfrt_program_text_to_bef(input, &values.options, diagnostics, result);
}

static tfrt_status_t prepare(void) { return tfrt_bef_flags_prepare(&values); }

int main(int argument_count, char** arguments) {
  tfrt_bef_flags_initialize(&values, flags);
  tfrt_translate_program_t program =
      tfrt_bef_flags_program(&values, &table, NULL, prepare, translate);
  return tfrt_translate_main(&program, argument_count, arguments);
}
