// SPDX-License-Identifier: Apache-2.0
//
// Assembles a host program: MLIR text in, BEF out.

#include "host_runtime/base/file.h"
#include "tools/common/program_translation.h"
#include "tools/common/shared_libraries.h"
#include "tools/common/translate_main.h"

static const char* output = TFRT_FILE_STANDARD_INPUT;
static const char* shared_libs = NULL;
static tfrt_text_to_bef_options_t options;
static bool split_input = false;
static bool verify_diagnostics = false;

static const tfrt_flag_t flags[] = {
    {.name = "o",
     .kind = TFRT_FLAG_TEXT,
     .storage = &output,
     .value = "FILE",
     .help = "where the BEF goes; - (as without this flag) is the standard output"},
    {.name = "disable-optional-sections",
     .kind = TFRT_FLAG_BOOL,
     .storage = &options.no_optional_sections,
     .help = "leave out what only turns BEF back into text, and the names of parameters"},
    {.name = "exact-tfrt-bytes",
     .kind = TFRT_FLAG_BOOL,
     .storage = &options.exact_tfrt_bytes,
     .help = "write the very bytes that TFRT's translator writes: no names of parameters"},
    {.name = "split-input-file",
     .kind = TFRT_FLAG_BOOL,
     .storage = &split_input,
     .help = "take the text between lines '// -----' for programs of their own"},
    {.name = "verify-diagnostics",
     .kind = TFRT_FLAG_BOOL,
     .storage = &verify_diagnostics,
     .help = "succeed if the errors are those of the comments 'expected-error {{...}}'"},
    {.name = TFRT_SHARED_LIBRARIES_FLAG,
     .kind = TFRT_FLAG_TEXT,
     .storage = &shared_libs,
     .value = TFRT_SHARED_LIBRARIES_VALUE,
     .help = TFRT_SHARED_LIBRARIES_HELP},
};

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
    .flag_count = TFRT_ARRAY_SIZE(flags),
};

static tfrt_status_t translate(tfrt_string_view_t input, tfrt_diagnostics_t* diagnostics,
                               tfrt_string_builder_t* result) {
  return tfrt_program_text_to_bef(input, &options, diagnostics, result);
}

int main(int argument_count, char** arguments) {
  static const tfrt_translate_program_t program = {.table = &table,
                                                   .output = &output,
                                                   .split_input = &split_input,
                                                   .verify_diagnostics = &verify_diagnostics,
                                                   .shared_libs = &shared_libs,
                                                   .separator = "",
                                                   .translate = translate};
  return tfrt_translate_main(&program, argument_count, arguments);
}
