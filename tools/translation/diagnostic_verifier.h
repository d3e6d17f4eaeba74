// SPDX-License-Identifier: Apache-2.0
//
// Compares the diagnostics of a run with those that comments in the source ask for, so that a
// test says next to a line what is wrong with it:
//
//   // expected-error@+1 {{expected 2 operands}}       of the next line
//   op %a                                  // expected-remark {{stream id: 0}}   of this one
//
//   expected-KIND          KIND is error, warning, note or remark
//   expected-KIND-re       each {{REGEX}} within TEXT is an extended regular expression
//   @+N, @-N, @above,      the line: N lines down or up; the nearest line up, or down,
//   @below, @unknown       that has no such comment; or no place at all. Without one: this line
//   {{TEXT}}               what the message contains, up to the last }} of the line
//
// Each comment stands for one diagnostic, and each diagnostic has to have its comment.
//
// Life:
//  1. Initialised.
//  2. Texts are added; or, if it reads files, a file is read when a diagnostic first names it.
//  3. Diagnostics are checked, one by one.
//  4. Finished: mismatches are reported. Deinitialised.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: memory that is out, or a file that can't be read, makes diagnostics unexpected
// and so the verification fail; it never passes by mistake.
#ifndef TFRT_TOOLS_TRANSLATION_DIAGNOSTIC_VERIFIER_H_
#define TFRT_TOOLS_TRANSLATION_DIAGNOSTIC_VERIFIER_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/arena.h"
#include "host_runtime/base/string_builder.h"

typedef struct tfrt_diagnostic_verifier_s {
  tfrt_allocator_t allocator;
  tfrt_arena_t arena;  // of names and texts
  struct tfrt_expectation_s* expectations;
  size_t expectation_count;
  size_t expectation_capacity;
  const char** files;  // whose expectations are known
  size_t file_count;
  size_t file_capacity;
  tfrt_string_builder_t report;
  bool reads_files;
  bool is_sorted;
  bool failed;
} tfrt_diagnostic_verifier_t;

// Makes |verifier| empty. |reads_files|: a file that a diagnostic names is read when no text
// was added for it. Thread-compatible.
void tfrt_diagnostic_verifier_initialize(tfrt_diagnostic_verifier_t* verifier, bool reads_files,
                                         tfrt_allocator_t allocator);

// Gives back the memory of |verifier|. Thread-compatible.
void tfrt_diagnostic_verifier_deinitialize(tfrt_diagnostic_verifier_t* verifier);

// Takes the expectations of |text|, which begins with line |first_line| of |file|; nothing of
// it is kept. Thread-compatible.
void tfrt_diagnostic_verifier_add_text(tfrt_diagnostic_verifier_t* verifier, const char* file,
                                       tfrt_string_view_t text, uint32_t first_line);

// Checks the diagnostic |message| of |kind| (error, warning, note, remark) at a place; |file|
// may be NULL and |line| 0: none. Returns true if it was expected. Thread-compatible.
bool tfrt_diagnostic_verifier_check(tfrt_diagnostic_verifier_t* verifier, const char* kind,
                                    const char* file, uint32_t line, uint32_t column,
                                    const char* message);

// Appends to |report| a line for each diagnostic that was not expected and for each that was
// and didn't come. Returns true if there is none. Thread-compatible.
bool tfrt_diagnostic_verifier_finish(tfrt_diagnostic_verifier_t* verifier,
                                     tfrt_string_builder_t* report);

#endif  // TFRT_TOOLS_TRANSLATION_DIAGNOSTIC_VERIFIER_H_
