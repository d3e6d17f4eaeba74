// SPDX-License-Identifier: Apache-2.0

#include "tools/common/translate_main.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/macros.h"

// Prints |status| (consumed) as an error of |program|.
static void print_error_take(const char* program, tfrt_status_t status) {
  fprintf(stderr, "%s: error: %s\n", program, tfrt_status_message(status));
  tfrt_status_release(status);
}

static tfrt_status_t write_output(const char* path, const void* bytes, size_t size) {
  if (strcmp(path, TFRT_FILE_STANDARD_INPUT) != 0) return tfrt_file_write(path, bytes, size);
  if (fwrite(bytes, 1, size, stdout) == size && fflush(stdout) == 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_UNKNOWN, "cannot write to the standard output: %s",
                            strerror(errno));
}

// Reads |path|, translates it, and writes the result to |output|.
static int run(const char* program, const char* path, const char* output,
               tfrt_translate_fn_t translate) {
  tfrt_file_contents_t input;
  tfrt_status_t status = tfrt_file_read(path, tfrt_allocator_system(), &input);
  if (status) {
    print_error_take(program, status);
    return TFRT_EXIT_INPUT;
  }
  tfrt_string_builder_t report;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  const char* name = strcmp(path, TFRT_FILE_STANDARD_INPUT) == 0 ? "<stdin>" : path;
  void* bytes = NULL;
  size_t size = 0;
  status = translate(name, &input, &report, &bytes, &size);
  fputs(tfrt_string_builder_text(&report), stderr);
  // The report has said what is wrong with the input; it is silent when memory was out.
  bool is_said = status && report.size;
  if (!status) status = write_output(output, bytes, size);
  int code = status ? TFRT_EXIT_INPUT : TFRT_EXIT_OK;
  if (is_said) {
    tfrt_status_release(status);
  } else if (status) {
    print_error_take(program, status);
  }
  if (bytes) tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
  tfrt_string_builder_deinitialize(&report);
  tfrt_file_contents_deinitialize(&input);
  return code;
}

int tfrt_translate_main(const tfrt_flag_table_t* table, const char* const* output,
                        tfrt_translate_fn_t translate, int argument_count, char** arguments) {
  const char* slash = strrchr(arguments[0], '/');
  const char* program = slash ? slash + 1 : arguments[0];
  tfrt_flag_list_t positional;
  bool help = false;
  tfrt_status_t status =
      tfrt_flags_parse(table, argument_count - 1, arguments + 1, &positional, &help);
  if (!status && !help && positional.count > 1) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "one input file is enough, and '%s' is the second",
                                positional.values[1]);
  }
  if (status) {
    print_error_take(program, status);
    fprintf(stderr, "Usage: %s\nTry --help.\n", table->usage);
    return TFRT_EXIT_USAGE;
  }
  if (help) {
    tfrt_flags_print_help(table);
    return TFRT_EXIT_OK;
  }
  const char* path = positional.count ? positional.values[0] : TFRT_FILE_STANDARD_INPUT;
  return run(program, path, *output, translate);
}
