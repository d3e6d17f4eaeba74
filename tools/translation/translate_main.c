// SPDX-License-Identifier: Apache-2.0

#include "tools/translation/translate_main.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/bef/bef_format.h"
#include "tools/kernels/op_tables.h"
#include "tools/process/process_memory.h"
#include "tools/process/standard_streams.h"
#include "tools/translation/diagnostic_verifier.h"
#include "tools/translation/text_splitter.h"

// Prints |status| (consumed) as an error of |program|.
static void print_error_take(const char* program, tfrt_status_t status) {
  fprintf(stderr, "%s: error: %s\n", program, tfrt_status_message(status));
  tfrt_status_release(status);
}

static tfrt_status_t write_output(const char* path, tfrt_string_view_t bytes) {
  if (strcmp(path, TFRT_FILE_STANDARD_INPUT) != 0) {
    return tfrt_file_write(path, bytes.data, bytes.size);
  }
  if (fwrite(bytes.data, 1, bytes.size, stdout) == bytes.size && fflush(stdout) == 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_UNKNOWN, "cannot write to the standard output: %s",
                            strerror(errno));
}

// --- Reports ------------------------------------------------------------------------------

// Compares |diagnostics| with the comments of their text.
static bool verify(const tfrt_diagnostics_t* diagnostics, tfrt_string_builder_t* report) {
  tfrt_diagnostic_verifier_t verifier;
  tfrt_diagnostic_verifier_initialize(&verifier, false, tfrt_process_memory());
  tfrt_diagnostic_verifier_add_text(&verifier, diagnostics->file, diagnostics->text,
                                    diagnostics->first_line);
  for (size_t i = 0; i < diagnostics->count; ++i) {
    const tfrt_diagnostic_t* entry = &diagnostics->reports[i];
    tfrt_diagnostic_verifier_check(&verifier, tfrt_severity_name(entry->severity), entry->file,
                                   entry->line, entry->column, entry->message);
  }
  bool ok = tfrt_diagnostic_verifier_finish(&verifier, report);
  tfrt_diagnostic_verifier_deinitialize(&verifier);
  return ok;
}

// --- Pieces ---------------------------------------------------------------------------------

// Appends the translation of |piece|, which begins with line |first_line| of |name|, to
// |result|, or, unless that is NULL, that of |image|, which is taken. Returns an error only if it
// was not reported yet; |*out_ok|: no error.
static tfrt_status_t translate_piece(const tfrt_translate_program_t* program, const char* name,
                                     tfrt_string_view_t piece, tfrt_file_contents_t* image,
                                     uint32_t first_line, tfrt_string_builder_t* result,
                                     bool* out_ok) {
  bool verifies = program->verify_diagnostics && *program->verify_diagnostics;
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, name, piece, tfrt_process_memory());
  diagnostics.first_line = first_line;
  if (verifies) diagnostics.limit = SIZE_MAX;
  tfrt_string_builder_t report;
  tfrt_string_builder_initialize(&report, tfrt_process_memory());
  size_t size_before = result->size;
  tfrt_status_t status = image ? program->translate_image_take(image, &diagnostics, result)
                               : program->translate(piece, &diagnostics, result);
  // A failed translation leaves no partial result.
  if (status) result->size = size_before;
  // The reports have the errors of the input, but none when memory was out.
  bool is_said = status && diagnostics.count;
  if (verifies) {
    *out_ok = verify(&diagnostics, &report);
  } else {
    tfrt_diagnostics_render(&diagnostics, &report);
    *out_ok = !status;
  }
  fputs(tfrt_string_builder_text(&report), stderr);
  tfrt_string_builder_deinitialize(&report);
  tfrt_diagnostics_deinitialize(&diagnostics);
  if (is_said) {
    tfrt_status_release(status);
    return NULL;
  }
  return status;
}

// Translates all pieces of |input|, as translate_piece() does one.
static tfrt_status_t translate_pieces(const tfrt_translate_program_t* program, const char* name,
                                      tfrt_string_view_t input, tfrt_string_builder_t* result,
                                      bool* out_ok) {
  *out_ok = true;
  if (!program->split_input || !*program->split_input) {
    return translate_piece(program, name, input, NULL, 1, result, out_ok);
  }
  tfrt_text_splitter_t splitter;
  tfrt_text_splitter_initialize(&splitter, input);
  tfrt_string_view_t piece;
  uint32_t first_line = 0;
  for (bool is_first = true; tfrt_text_splitter_next(&splitter, &piece, &first_line);
       is_first = false) {
    bool ok = false;
    if (!is_first) tfrt_string_builder_append_text(result, program->separator);
    TFRT_RETURN_IF_ERROR(translate_piece(program, name, piece, NULL, first_line, result, &ok));
    *out_ok = *out_ok && ok;
  }
  return NULL;
}

// --- The whole --------------------------------------------------------------------------------

// Reads |path|, translates it, and writes the result.
static int run(const char* program_name, const char* path,
               const tfrt_translate_program_t* program) {
  tfrt_file_contents_t input;
  const bool is_image = program->reads_image ? *program->reads_image : !program->translate;
  tfrt_allocator_t memory = tfrt_process_memory();
  tfrt_status_t status = tfrt_file_map(path, TFRT_BEF_MAX_SIZE, memory, &input);
  if (status) {
    print_error_take(program_name, status);
    return TFRT_EXIT_INPUT;
  }
  tfrt_string_builder_t result;
  tfrt_string_builder_initialize(&result, memory);
  const char* name = strcmp(path, TFRT_FILE_STANDARD_INPUT) == 0 ? "<stdin>" : path;
  bool ok = false;
  tfrt_string_view_t bytes = tfrt_string_view_make((const char*)input.data, input.size);
  if (is_image) {
    status = translate_piece(program, name, bytes, &input, 1, &result, &ok);
  } else {
    status = translate_pieces(program, name, bytes, &result, &ok);
  }
  if (!status) status = tfrt_string_builder_status(&result);
  if (!status && ok) status = write_output(*program->output, tfrt_string_builder_view(&result));
  int code = ok && !status ? TFRT_EXIT_OK : TFRT_EXIT_INPUT;
  if (status) print_error_take(program_name, status);
  tfrt_string_builder_deinitialize(&result);
  tfrt_file_contents_deinitialize(&input);
  return code;
}

int tfrt_translate_main(const tfrt_translate_program_t* program, int argument_count,
                        char** arguments) {
  tfrt_standard_streams_open();
  const char* slash = strrchr(arguments[0], '/');
  const char* name = slash ? slash + 1 : arguments[0];
  tfrt_flag_list_t positional;
  bool help = false;
  tfrt_status_t status =
      tfrt_flags_parse(program->table, argument_count - 1, arguments + 1, &positional, &help);
  if (!status && !help && positional.count > 1) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "one input file is enough, and '%s' is the second",
                                positional.values[1]);
  }
  if (!status && !help && program->check) status = program->check();
  if (status) {
    print_error_take(name, status);
    fprintf(stderr, "Usage: %s\nTry --help.\n", program->table->usage);
    return TFRT_EXIT_USAGE;
  }
  if (help) return TFRT_EXIT_OK;
  const char* path = positional.count ? positional.values[0] : TFRT_FILE_STANDARD_INPUT;
  status = tfrt_op_tables_load_libraries(*program->shared_libs);
  if (!status && program->prepare) status = program->prepare();
  if (!status) return run(name, path, program);
  print_error_take(name, status);
  return TFRT_EXIT_INPUT;
}
