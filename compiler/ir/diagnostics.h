// SPDX-License-Identifier: Apache-2.0
//
// Errors and warnings about a program, with the place in its text:
//
//   prog.mlir:3:8: error: use of undeclared value '%b'
//     %c = tfrt.add.i32 %a, %b
//                           ^
//
// Life:
//  1. Initialised with the name and the text of the input (borrowed).
//  2. Reported to by lexer, parser, verifier, passes and emitter. After a limit of errors
//     further ones are only counted.
//  3. Rendered, or looked at one by one, and deinitialised.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: a report that memory is out for is still counted.
#ifndef TFRT_COMPILER_IR_DIAGNOSTICS_H_
#define TFRT_COMPILER_IR_DIAGNOSTICS_H_

#include <stdarg.h>

#include "compiler/ir/location.h"
#include "host_runtime/base/string_builder.h"

// Errors that are kept by default; more of them are only counted.
#define TFRT_DIAGNOSTICS_DEFAULT_LIMIT 20

typedef enum tfrt_severity_e {
  TFRT_SEVERITY_ERROR = 0,
  TFRT_SEVERITY_WARNING,
  TFRT_SEVERITY_NOTE,    // belongs to the report before it
  TFRT_SEVERITY_REMARK,  // what a pass was asked to say
} tfrt_severity_t;

// One report. Strings live as long as the diagnostics.
typedef struct tfrt_diagnostic_s {
  tfrt_severity_t severity;
  const char* file;  // NULL: no place
  uint32_t line;     // 1-based; 0: no place
  uint32_t column;   // 1-based, in bytes
  const char* message;
  tfrt_string_view_t source_line;  // empty if the text is not at hand
} tfrt_diagnostic_t;

typedef struct tfrt_diagnostics_s {
  tfrt_allocator_t allocator;
  const char* file;         // of the input; borrowed
  tfrt_string_view_t text;  // the input; borrowed; empty when it isn't text
  uint32_t first_line;      // the number of the text's first line: 1, or set by the caller
  tfrt_diagnostic_t* reports;
  size_t count;
  size_t capacity;
  size_t error_count;    // all errors, also those that are not kept
  size_t warning_count;  // likewise
  size_t limit;          // errors that are kept
  bool muted;            // the last report was not kept: nor are its notes
  // The beginning of a line of |text| and its number: where the next report, which is mostly
  // further down, begins to count.
  size_t known_offset;
  uint32_t known_line;
} tfrt_diagnostics_t;

// Makes |diagnostics| empty, for the input |text| named |file|; both are borrowed until
// deinitialisation. |text| may be empty. A caller whose text is a piece of the file sets
// |first_line| behind this, so that places are those in the file. Thread-compatible (caller
// synchronises).
void tfrt_diagnostics_initialize(tfrt_diagnostics_t* diagnostics, const char* file,
                                 tfrt_string_view_t text, tfrt_allocator_t allocator);

// Gives back the memory of |diagnostics|. Thread-compatible (caller synchronises).
void tfrt_diagnostics_deinitialize(tfrt_diagnostics_t* diagnostics);

// Reports the formatted message at byte |offset| of the input's text.
// Thread-compatible (caller synchronises).
void tfrt_diagnostics_report(tfrt_diagnostics_t* diagnostics, tfrt_severity_t severity,
                             size_t offset, const char* format, ...) TFRT_PRINTF(4, 5);
void tfrt_diagnostics_report_v(tfrt_diagnostics_t* diagnostics, tfrt_severity_t severity,
                               size_t offset, const char* format, va_list arguments);

// Reports at |location|, which may be NULL: its nearest file, line and column. The
// source line is shown if the file is the input. Thread-compatible (caller
// synchronises).
void tfrt_diagnostics_report_at(tfrt_diagnostics_t* diagnostics, tfrt_severity_t severity,
                                const tfrt_ir_location_t* location, const char* format, ...)
    TFRT_PRINTF(4, 5);

// Returns true if the next error will be kept, so that its reporter may take time for a good text.
// Thread-compatible (caller synchronises).
static inline bool tfrt_diagnostics_keeps_errors(const tfrt_diagnostics_t* diagnostics) {
  return diagnostics->error_count < diagnostics->limit;
}

// The word for |severity|, e.g. "error". Static. Thread-safe.
const char* tfrt_severity_name(tfrt_severity_t severity);

// Appends every report to |builder|, in order, as shown above, and a last line about
// those that were not kept, if any. Thread-compatible (caller synchronises).
void tfrt_diagnostics_render(const tfrt_diagnostics_t* diagnostics, tfrt_string_builder_t* builder);

// OK if there was no error, else INVALID_ARGUMENT (+1) with the first error as its
// message. Thread-compatible (caller synchronises).
tfrt_status_t tfrt_diagnostics_status(const tfrt_diagnostics_t* diagnostics) TFRT_MUST_USE;

#endif  // TFRT_COMPILER_IR_DIAGNOSTICS_H_
