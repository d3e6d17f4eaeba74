// SPDX-License-Identifier: Apache-2.0
//
// The compiler in a few calls: text to BEF, BEF to text, text to text. Mains and tests use it; the
// single steps have headers of their own.
//
//   text --parser--> IR --verifier--> IR --insert-chains--> IR --emitter--> BEF
//   BEF --loader, importer--> IR --printer--> text
//   text --parser--> IR --verifier--> IR --passes--> IR --printer--> text
//
// Errors in the input are rendered into a report, as compilers print them: file:line:column, the
// line, a caret. The report of a successful call may hold warnings.
//
// Thread rule: thread-safe: each call has memory of its own.
// Failure rule: INVALID_ARGUMENT with the first error as its message (the report has them
// all), RESOURCE_EXHAUSTED.
#ifndef TFRT_COMPILER_TRANSLATE_H_
#define TFRT_COMPILER_TRANSLATE_H_

#include "compiler/ir/diagnostics.h"
#include "compiler/op_table/op_index.h"
#include "compiler/passes/cost_profile.h"
#include "compiler/passes/pass.h"
#include "host_runtime/base/file.h"
#include "host_runtime/base/string_builder.h"

typedef struct tfrt_text_to_bef_options_s {
  // Leave out types and names of attributes and types of registers: smaller, but the file
  // can't be turned back into text.
  bool no_optional_sections;
  // Write the bytes that TFRT's translator writes: without the names of parameters, for which
  // it has no section. (What only programs of ours say, call options, stays.)
  bool exact_tfrt_bytes;
  // Refuse text in which a chain is missing, and put none in.
  bool no_insert_chains;
  // The costs of ops for which the program says none, or NULL.
  tfrt_cost_profile_t* profile;
} tfrt_text_to_bef_options_t;

// Translates |text|, which was read from the file |name|, to BEF. Sets |*out_bytes| to
// the image, of |*out_size| bytes from |allocator|, aligned for loading; the caller frees
// it. Appends the report to |report|. |options| may be NULL. Thread-safe.
tfrt_status_t tfrt_translate_text_to_bef(const char* name, tfrt_string_view_t text,
                                         const tfrt_op_tables_t* tables,
                                         const tfrt_text_to_bef_options_t* options,
                                         tfrt_allocator_t allocator, tfrt_string_builder_t* report,
                                         void** out_bytes, size_t* out_size) TFRT_MUST_USE;

// The same for a caller that looks at the reports one by one, or whose text is a piece of a
// file: translates the text of |diagnostics| and reports to them. Thread-compatible (caller
// synchronises).
tfrt_status_t tfrt_assemble_text(const tfrt_op_tables_t* tables,
                                 const tfrt_text_to_bef_options_t* options,
                                 tfrt_allocator_t allocator, tfrt_diagnostics_t* diagnostics,
                                 void** out_bytes, size_t* out_size) TFRT_MUST_USE;

typedef struct tfrt_text_to_text_options_s {
  const tfrt_pass_t* const* passes;  // in the order in which they run
  size_t pass_count;
  bool lowers;                   // after the passes, to what goes to BEF
  tfrt_cost_profile_t* profile;  // gives ops their costs before the passes; or NULL
  bool known_dialects_only;      // ops of a dialect that no op table has are errors
  bool unnamed_values;           // values are numbered, as MLIR's tools do
  bool generic;                  // every op in generic form
  bool locations;                // with locations
  // Texts of this size or more, in bytes, are gone through function by function, in less memory, if
  // they are only checked and printed, with |generic| and |unnamed_values|; 0: a size where this is
  // worth while.
  size_t piecewise_from;
} tfrt_text_to_text_options_t;

// Checks the text of |diagnostics|, runs passes on the program, and appends its text to
// |text|, unless there was an error; reports to |diagnostics|. |options| may be NULL.
// Thread-compatible (caller synchronises).
tfrt_status_t tfrt_optimize_text(const tfrt_op_tables_t* tables,
                                 const tfrt_text_to_text_options_t* options,
                                 tfrt_allocator_t allocator, tfrt_diagnostics_t* diagnostics,
                                 tfrt_string_builder_t* text) TFRT_MUST_USE;

typedef struct tfrt_bef_to_text_options_s {
  bool generic;    // every op in generic form
  bool locations;  // with locations
} tfrt_bef_to_text_options_t;

// Translates the |size| bytes of BEF at |bytes|, which were read from the file |name|,
// and appends the text to |text| and the report to |report|. |bytes| needs no alignment.
// |options| may be NULL. Thread-safe.
tfrt_status_t tfrt_translate_bef_to_text(const char* name, const void* bytes, size_t size,
                                         const tfrt_op_tables_t* tables,
                                         const tfrt_bef_to_text_options_t* options,
                                         tfrt_allocator_t allocator, tfrt_string_builder_t* report,
                                         tfrt_string_builder_t* text) TFRT_MUST_USE;

// The same for a caller that looks at the reports one by one. Thread-compatible (caller
// synchronises).
tfrt_status_t tfrt_disassemble_image(const void* bytes, size_t size, const tfrt_op_tables_t* tables,
                                     const tfrt_bef_to_text_options_t* options,
                                     tfrt_allocator_t allocator, tfrt_diagnostics_t* diagnostics,
                                     tfrt_string_builder_t* text) TFRT_MUST_USE;

// The same for a file that was read or mapped: takes what |image| holds, which is empty then, also
// when it fails. Thread-compatible (caller synchronises).
tfrt_status_t tfrt_disassemble_take_contents(tfrt_file_contents_t* image,
                                             const tfrt_op_tables_t* tables,
                                             const tfrt_bef_to_text_options_t* options,
                                             tfrt_allocator_t allocator,
                                             tfrt_diagnostics_t* diagnostics,
                                             tfrt_string_builder_t* text) TFRT_MUST_USE;

#endif  // TFRT_COMPILER_TRANSLATE_H_
