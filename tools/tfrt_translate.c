// SPDX-License-Identifier: Apache-2.0
//
// The two translators under the name and with the flags that TFRT's tests use.

#include <string.h>

#include "tools/translation/bef_flags.h"
#include "tools/translation/program_translation.h"

static tfrt_bef_flags_t values;
static bool mlir_to_bef = false;
static bool bef_to_mlir = false;
static tfrt_bef_to_text_options_t text_options;

// Those that mlir_to_bef doesn't have.
static const tfrt_flag_t more_flags[] = {
    {.name = "mlir-to-bef",
     .kind = TFRT_FLAG_BOOL,
     .storage = &mlir_to_bef,
     .help = "translate text to BEF"},
    {.name = "bef-to-mlir",
     .kind = TFRT_FLAG_BOOL,
     .storage = &bef_to_mlir,
     .help = "translate BEF to text"},
    {.name = "mlir-print-op-generic",
     .kind = TFRT_FLAG_BOOL,
     .storage = &text_options.generic,
     .help = "to text: write every op in generic form"},
    {.name = "mlir-print-debuginfo",
     .kind = TFRT_FLAG_BOOL,
     .storage = &text_options.locations,
     .help = "to text: write the location behind each op"},
};
#define MORE_FLAG_COUNT TFRT_ARRAY_SIZE(more_flags)

static tfrt_flag_t flags[MORE_FLAG_COUNT + TFRT_BEF_FLAG_COUNT];

static const tfrt_flag_table_t table = {
    .usage = "tfrt_translate --mlir-to-bef | --bef-to-mlir [FLAGS] [FILE]",
    .summary =
        "Translates a host program between MLIR text and BEF. Without a file, or with -, it\n"
        "reads the standard input. mlir_to_bef and bef_to_mlir are the same by shorter names.",
    .footer =
        "Exit codes: 0 done; 1 the input is wrong, or a file can't be read or written; 2 usage.\n"
        "\n"
        "Example: tfrt_translate --mlir-to-bef fib.mlir | tfrt_translate --bef-to-mlir\n",
    .flags = flags,
    .flag_count = TFRT_ARRAY_SIZE(flags),
};

static tfrt_status_t check(void) {
  if (mlir_to_bef == bef_to_mlir) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "one of --mlir-to-bef and --bef-to-mlir is needed");
  }
  if (!bef_to_mlir || (!values.split_input && !values.verify_diagnostics)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "--%s is for texts, and --bef-to-mlir reads none",
                            values.split_input ? "split-input-file" : "verify-diagnostics");
}

static tfrt_status_t translate(tfrt_string_view_t input, tfrt_diagnostics_t* diagnostics,
                               tfrt_string_builder_t* result) {
  return tfrt_program_text_to_bef(input, &values.options, diagnostics, result);
}

static tfrt_status_t translate_image(tfrt_file_contents_t* image, tfrt_diagnostics_t* diagnostics,
                                     tfrt_string_builder_t* result) {
  return tfrt_program_bef_to_text_take(image, &text_options, diagnostics, result);
}

static tfrt_status_t prepare(void) { return tfrt_bef_flags_prepare(&values); }

int main(int argument_count, char** arguments) {
  memcpy(flags, more_flags, sizeof(more_flags));
  tfrt_bef_flags_initialize(&values, flags + MORE_FLAG_COUNT);
  tfrt_translate_program_t program =
      tfrt_bef_flags_program(&values, &table, check, prepare, translate);
  program.reads_image = &bef_to_mlir;
  program.translate_image_take = translate_image;
  return tfrt_translate_main(&program, argument_count, arguments);
}
