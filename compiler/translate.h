// SPDX-License-Identifier: Apache-2.0
//
// The compiler in two calls: text to BEF, and BEF to text. What mains and tests use; the
// steps behind it have headers of their own.
//
//   text --parser--> IR --verifier--> IR --emitter--> BEF
//   BEF --loader, importer--> IR --printer--> text
//
// What is wrong with the input is rendered into a report, as compilers print it:
// file:line:column, the line, a caret. A report may hold warnings though all went well.
//
// Thread rule: thread-safe: each call has memory of its own.
// Failure rule: INVALID_ARGUMENT with the first error as its message (the report has them
// all), RESOURCE_EXHAUSTED.
#ifndef TFRT_COMPILER_TRANSLATE_H_
#define TFRT_COMPILER_TRANSLATE_H_

#include "compiler/op_index.h"
#include "host_runtime/base/string_builder.h"

typedef struct tfrt_text_to_bef_options_s {
  // Leave out types and names of attributes and types of registers: smaller, but the file
  // can't be turned back into text.
  bool no_optional_sections;
} tfrt_text_to_bef_options_t;

// Translates |text|, which was read from the file |name|, to BEF. Sets |*out_bytes| to
// the image, of |*out_size| bytes from |allocator|, aligned for loading; the caller frees
// it. Appends the report to |report|. |options| may be NULL. Thread-safe.
tfrt_status_t tfrt_translate_text_to_bef(const char* name, tfrt_string_view_t text,
                                         const tfrt_op_tables_t* tables,
                                         const tfrt_text_to_bef_options_t* options,
                                         tfrt_allocator_t allocator, tfrt_string_builder_t* report,
                                         void** out_bytes, size_t* out_size) TFRT_MUST_USE;

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

#endif  // TFRT_COMPILER_TRANSLATE_H_
