// SPDX-License-Identifier: Apache-2.0
//
// The two translations that mains offer, with all op tables that this build has, as steps of
// a tfrt_translate_program_t.
//
// Thread rule: thread-safe. Failure rule: INVALID_ARGUMENT with the first error as its
// message, RESOURCE_EXHAUSTED; the diagnostics have all of them.
#ifndef TFRT_TOOLS_TRANSLATION_PROGRAM_TRANSLATION_H_
#define TFRT_TOOLS_TRANSLATION_PROGRAM_TRANSLATION_H_

#include "compiler/translate.h"

// Appends the BEF image of |text|, the text of |diagnostics|, to |result|. Thread-compatible
// (caller synchronises).
tfrt_status_t tfrt_program_text_to_bef(tfrt_string_view_t text,
                                       const tfrt_text_to_bef_options_t* options,
                                       tfrt_diagnostics_t* diagnostics,
                                       tfrt_string_builder_t* result) TFRT_MUST_USE;

// Appends the text of the BEF image |image|, which is not the text of |diagnostics|, to
// |result|. Takes what |image| holds, which is empty then, also when it fails. Thread-compatible
// (caller synchronises).
tfrt_status_t tfrt_program_bef_to_text_take(tfrt_file_contents_t* image,
                                            const tfrt_bef_to_text_options_t* options,
                                            tfrt_diagnostics_t* diagnostics,
                                            tfrt_string_builder_t* result) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_TRANSLATION_PROGRAM_TRANSLATION_H_
