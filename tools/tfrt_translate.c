// SPDX-License-Identifier: Apache-2.0
//
// The two translators under the name and with the flags that TFRT's tests use.

#include "host_runtime/base/file.h"
#include "tools/common/program_translation.h"
#include "tools/common/shared_libraries.h"
#include "tools/common/translate_main.h"

static const char* output = TFRT_FILE_STANDARD_INPUT;
static const char* shared_libs = NULL;
static bool mlir_to_bef = false;
static bool bef_to_mlir = false;
static bool split_input = false;
static bool verify_diagnostics = false;
static tfrt_text_to_bef_options_t bef_options;
static tfrt_bef_to_text_options_t text_options;

static const tfrt_flag_t flags[] = {
    {.name = "mlir-to-bef",
     .kind = TFRT_FLAG_BOOL,
     .storage = &mlir_to_bef,
     .help = "translate text to BEF"},
    {.name = "bef-to-mlir",
     .kind = TFRT_FLAG_BOOL,
     .storage = &bef_to_mlir,
     .help = "translate BEF to text"},
    {.name = "o",
     .kind = TFRT_FLAG_TEXT,
     .storage = &output,
     .value = "FILE",
     .help = "where the result goes; - (as without this flag) is the standard output"},
    {.name = "disable-optional-sections",
     .kind = TFRT_FLAG_BOOL,
     .storage = &bef_options.no_optional_sections,
     .help = "to BEF: leave out what only turns it back into text"},
    {.name = "exact-tfrt-bytes",
     .kind = TFRT_FLAG_BOOL,
     .storage = &bef_options.exact_tfrt_bytes,
     .help = "to BEF: write the very bytes that TFRT's translator writes"},
    {.name = "split-input-file",
     .kind = TFRT_FLAG_BOOL,
     .storage = &split_input,
     .help = "to BEF: take the text between lines '// -----' for programs of their own"},
    {.name = "verify-diagnostics",
     .kind = TFRT_FLAG_BOOL,
     .storage = &verify_diagnostics,
     .help = "succeed if the errors are those of the comments 'expected-error {{...}}'"},
    {.name = "mlir-print-op-generic",
     .kind = TFRT_FLAG_BOOL,
     .storage = &text_options.generic,
     .help = "to text: write every op in generic form"},
    {.name = "mlir-print-debuginfo",
     .kind = TFRT_FLAG_BOOL,
     .storage = &text_options.locations,
     .help = "to text: write the location behind each op"},
    {.name = TFRT_SHARED_LIBRARIES_FLAG,
     .kind = TFRT_FLAG_TEXT,
     .storage = &shared_libs,
     .value = TFRT_SHARED_LIBRARIES_VALUE,
     .help = TFRT_SHARED_LIBRARIES_HELP},
};

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
  if (!bef_to_mlir || (!split_input && !verify_diagnostics)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "--%s is for texts, and --bef-to-mlir reads none",
                            split_input ? "split-input-file" : "verify-diagnostics");
}

static tfrt_status_t translate(tfrt_string_view_t input, tfrt_diagnostics_t* diagnostics,
                               tfrt_string_builder_t* result) {
  if (mlir_to_bef) return tfrt_program_text_to_bef(input, &bef_options, diagnostics, result);
  return tfrt_program_bef_to_text(input, &text_options, diagnostics, result);
}

int main(int argument_count, char** arguments) {
  static const tfrt_translate_program_t program = {.table = &table,
                                                   .output = &output,
                                                   .split_input = &split_input,
                                                   .verify_diagnostics = &verify_diagnostics,
                                                   .shared_libs = &shared_libs,
                                                   .separator = "",
                                                   .check = check,
                                                   .translate = translate};
  return tfrt_translate_main(&program, argument_count, arguments);
}
