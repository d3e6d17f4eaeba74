// SPDX-License-Identifier: Apache-2.0
//
// Disassembles a host program: BEF in, MLIR text out.

#include "host_runtime/base/file.h"
#include "tools/kernels/shared_libraries.h"
#include "tools/translation/program_translation.h"
#include "tools/translation/translate_main.h"

static const char* output = TFRT_FILE_STANDARD_INPUT;
static const char* shared_libs = NULL;
static tfrt_bef_to_text_options_t options;

static const tfrt_flag_t flags[] = {
    {.name = "o",
     .kind = TFRT_FLAG_PATH,
     .storage = &output,
     .value = "FILE",
     .help = "where the text goes; - (as without this flag) is the standard output"},
    {.name = "mlir-print-op-generic",
     .kind = TFRT_FLAG_BOOL,
     .storage = &options.generic,
     .help = "write every op in generic form, as a stock mlir-opt reads it"},
    {.name = "mlir-print-debuginfo",
     .kind = TFRT_FLAG_BOOL,
     .storage = &options.locations,
     .help = "write the location behind each op"},
    {.name = TFRT_SHARED_LIBRARIES_FLAG,
     .kind = TFRT_FLAG_TEXT,
     .storage = &shared_libs,
     .value = TFRT_SHARED_LIBRARIES_VALUE,
     .help = TFRT_SHARED_LIBRARIES_HELP},
};

static const tfrt_flag_table_t table = {
    .usage = "bef_to_mlir [FLAGS] [FILE.bef]",
    .summary =
        "Translates a host program from BEF back to MLIR text. Without a file, or with -, it\n"
        "reads the standard input. What the file doesn't hold, because it was made without\n"
        "its optional sections, is made up, and a warning says so.",
    .footer =
        "Exit codes: 0 done; 1 the input is wrong, or a file can't be read or written; 2 usage.\n"
        "\n"
        "Example: bef_to_mlir fib.bef -o fib.mlir\n",
    .flags = flags,
    .flag_count = TFRT_ARRAY_SIZE(flags),
};

static tfrt_status_t translate(tfrt_file_contents_t* image, tfrt_diagnostics_t* diagnostics,
                               tfrt_string_builder_t* result) {
  return tfrt_program_bef_to_text_take(image, &options, diagnostics, result);
}

int main(int argument_count, char** arguments) {
  static const tfrt_translate_program_t program = {.table = &table,
                                                   .output = &output,
                                                   .shared_libs = &shared_libs,
                                                   .separator = "",
                                                   .translate_image_take = translate};
  return tfrt_translate_main(&program, argument_count, arguments);
}
