// SPDX-License-Identifier: Apache-2.0
//
// Loads a program that a user names: a BEF file as it is, or a text, which is translated
// first. Which of them it is, the first byte tells: that of BEF begins no text. A file that is
// called NAME.bef is no text in any case: a broken one has one error, and not one for each byte.
//
// Thread rule: thread-compatible.
// Failure rule: for a text with mistakes, INVALID_ARGUMENT whose message is the whole list of
// diagnostics, each `file:line:col: error: ...` with the line and a caret.
#ifndef TFRT_TOOLS_TRANSLATION_PROGRAM_LOADER_H_
#define TFRT_TOOLS_TRANSLATION_PROGRAM_LOADER_H_

#include "compiler/translate.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/bef/bef_file.h"

// Sets |*out_file| (+1) to the program in the file |path| ("-": the standard input).
// A text is translated with |options| (NULL: none). Its diagnostics are appended to
// |out_diagnostics|, also warnings. Thread-compatible.
tfrt_status_t tfrt_program_loader_load(const char* path, const tfrt_text_to_bef_options_t* options,
                                       tfrt_string_builder_t* out_diagnostics,
                                       tfrt_bef_file_t** out_file) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_TRANSLATION_PROGRAM_LOADER_H_
