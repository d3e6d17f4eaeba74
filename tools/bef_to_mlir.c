// SPDX-License-Identifier: Apache-2.0
//
// Disassembles a host program: BEF in, MLIR text out.

#include "compiler/translate.h"
#include "tools/common/op_tables.h"
#include "tools/common/translate_main.h"

static const char* output = TFRT_FILE_STANDARD_INPUT;
static bool generic = false;
static bool locations = false;

static const tfrt_flag_t flags[] = {
    {.name = "o",
     .kind = TFRT_FLAG_TEXT,
     .storage = &output,
     .value = "FILE",
     .help = "where the text goes; - (as without this flag) is the standard output"},
    {.name = "mlir-print-op-generic",
     .kind = TFRT_FLAG_BOOL,
     .storage = &generic,
     .help = "write every op in generic form, as a stock mlir-opt reads it"},
    {.name = "mlir-print-debuginfo",
     .kind = TFRT_FLAG_BOOL,
     .storage = &locations,
     .help = "write the location behind each op"},
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

static tfrt_status_t translate(const char* name, const tfrt_file_contents_t* input,
                               tfrt_string_builder_t* report, void** out_bytes, size_t* out_size) {
  tfrt_bef_to_text_options_t options = {.generic = generic, .locations = locations};
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  tfrt_status_t status =
      tfrt_translate_bef_to_text(name, input->data, input->size, tfrt_all_op_tables(), &options,
                                 tfrt_allocator_system(), report, &text);
  if (!status && text.size) {
    *out_bytes = tfrt_allocator_copy_string(text.allocator, text.data, text.size - 1);
    if (!*out_bytes) {
      status = tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "out of memory for the text");
    } else {
      ((char*)*out_bytes)[text.size - 1] = '\n';  // takes the place of the copy's NUL
      *out_size = text.size;
    }
  }
  tfrt_string_builder_deinitialize(&text);
  return status;
}

int main(int argument_count, char** arguments) {
  return tfrt_translate_main(&table, &output, translate, argument_count, arguments);
}
