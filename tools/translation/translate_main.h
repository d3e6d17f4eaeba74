// SPDX-License-Identifier: Apache-2.0
//
// The common part of the mains that translate programs: one input, one output, reports on the
// standard error.
//
//   input --split at // ----- ?--> pieces --translate--> results --joined--> output
//                                     |
//                                diagnostics --> standard error, or compared with the
//                                                comments `expected-error {{...}}` of the piece
//
// Thread rule: main thread only. Failure rule: exit codes 0, 1 (the input), 2 (usage).
#ifndef TFRT_TOOLS_TRANSLATION_TRANSLATE_MAIN_H_
#define TFRT_TOOLS_TRANSLATION_TRANSLATE_MAIN_H_

#include "compiler/ir/diagnostics.h"
#include "host_runtime/base/file.h"
#include "host_runtime/base/string_builder.h"
#include "tools/command_line/flags.h"

enum { TFRT_EXIT_OK = 0, TFRT_EXIT_INPUT = 1, TFRT_EXIT_USAGE = 2 };

// Translates |input|, a whole file or a piece of one. Appends the result to |result|, and reports
// to |diagnostics|, whose text is |input|; for an input that is no text it makes that empty first.
// Thread-safe.
typedef tfrt_status_t (*tfrt_translate_fn_t)(tfrt_string_view_t input,
                                             tfrt_diagnostics_t* diagnostics,
                                             tfrt_string_builder_t* result);

// The same for a whole file that is an image: takes what |image| holds, which is empty then, also
// when it fails. Thread-safe.
typedef tfrt_status_t (*tfrt_translate_image_fn_t)(tfrt_file_contents_t* image,
                                                   tfrt_diagnostics_t* diagnostics,
                                                   tfrt_string_builder_t* result);

// Says what is wrong with the flags taken together: a usage error. Thread-safe.
typedef tfrt_status_t (*tfrt_check_flags_fn_t)(void);

// Reads what the flags name, before the input: an error is one of the input. Thread-safe.
typedef tfrt_status_t (*tfrt_prepare_fn_t)(void);

// A program. The storage of the flags that it shares with others is in here.
typedef struct tfrt_translate_program_s {
  const tfrt_flag_table_t* table;
  const char* const* output;       // of the flag `o`
  const bool* split_input;         // of the flag `split-input-file`; NULL: it has none
  const bool* verify_diagnostics;  // of the flag `verify-diagnostics`; NULL: it has none
  const char* const* shared_libs;  // of the flag `shared_libs`
  const char* separator;           // between the results of two pieces
  tfrt_check_flags_fn_t check;     // NULL: any flags go together
  tfrt_prepare_fn_t prepare;       // NULL: nothing is to be read before
  tfrt_translate_fn_t translate;   // of a text
  const bool* reads_image;         // of a flag: the input is an image; NULL: if |translate| is NULL
  tfrt_translate_image_fn_t translate_image_take;
} tfrt_translate_program_t;

// Runs |program|: parses the command line, loads kernel libraries, reads the input, translates it,
// prints the reports, and writes the result unless there was an error. When diagnostics are
// verified, errors that were expected are none, and what could not be translated has no result.
// Returns the exit code. Main thread only.
int tfrt_translate_main(const tfrt_translate_program_t* program, int argument_count,
                        char** arguments);

#endif  // TFRT_TOOLS_TRANSLATION_TRANSLATE_MAIN_H_
