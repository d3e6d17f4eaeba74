// SPDX-License-Identifier: Apache-2.0
//
// Assembles a host program: MLIR text in, BEF out.

#include "compiler/translate.h"
#include "tools/common/op_tables.h"
#include "tools/common/translate_main.h"

static const char* output = TFRT_FILE_STANDARD_INPUT;
static bool disable_optional_sections = false;

static const tfrt_flag_t flags[] = {
    {.name = "o",
     .kind = TFRT_FLAG_TEXT,
     .storage = &output,
     .value = "FILE",
     .help = "where the BEF goes; - (as without this flag) is the standard output"},
    {.name = "disable-optional-sections",
     .kind = TFRT_FLAG_BOOL,
     .storage = &disable_optional_sections,
     .help = "leave out what only turns BEF back into text, and the names of parameters"},
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

static tfrt_status_t translate(const char* name, const tfrt_file_contents_t* input,
                               tfrt_string_builder_t* report, void** out_bytes, size_t* out_size) {
  tfrt_text_to_bef_options_t options = {.no_optional_sections = disable_optional_sections};
  tfrt_string_view_t text = tfrt_string_view_make((const char*)input->data, input->size);
  return tfrt_translate_text_to_bef(name, text, tfrt_all_op_tables(), &options,
                                    tfrt_allocator_system(), report, out_bytes, out_size);
}

int main(int argument_count, char** arguments) {
  return tfrt_translate_main(&table, &output, translate, argument_count, arguments);
}
