// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/diagnostics.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/number_text.h"

// Longest message that is kept; what is longer is cut.
#define MAX_MESSAGE 1024

// Longest piece of a source line that is shown.
#define MAX_SOURCE_LINE 200

void tfrt_diagnostics_initialize(tfrt_diagnostics_t* diagnostics, const char* file,
                                 tfrt_string_view_t text, tfrt_allocator_t allocator) {
  // Some editors begin a file of UTF-8 with its mark, which is none of the text.
  tfrt_string_view_t mark = tfrt_string_view_of("\xEF\xBB\xBF");
  if (tfrt_string_view_starts_with(text, mark)) {
    text = tfrt_string_view_make(text.data + mark.size, text.size - mark.size);
  }
  *diagnostics = (tfrt_diagnostics_t){.allocator = allocator,
                                      .file = file,
                                      .text = text,
                                      .first_line = 1,
                                      .limit = TFRT_DIAGNOSTICS_DEFAULT_LIMIT};
}

static void free_copy(tfrt_allocator_t allocator, const char* text) {
  if (text) tfrt_allocator_free(allocator, (char*)text, strlen(text) + 1);
}

void tfrt_diagnostics_deinitialize(tfrt_diagnostics_t* diagnostics) {
  for (size_t i = 0; i < diagnostics->count; ++i) {
    free_copy(diagnostics->allocator, diagnostics->reports[i].message);
    free_copy(diagnostics->allocator, diagnostics->reports[i].file);
  }
  tfrt_allocator_free(diagnostics->allocator, diagnostics->reports,
                      diagnostics->capacity * sizeof(*diagnostics->reports));
  diagnostics->reports = NULL;
  diagnostics->count = 0;
  diagnostics->capacity = 0;
}

// Counts a report of |severity| and returns true if it is to be kept.
static bool count_report(tfrt_diagnostics_t* diagnostics, tfrt_severity_t severity) {
  if (severity == TFRT_SEVERITY_NOTE) return !diagnostics->muted;
  if (severity == TFRT_SEVERITY_REMARK) {
    diagnostics->muted = false;
    return true;
  }
  if (severity == TFRT_SEVERITY_WARNING) ++diagnostics->warning_count;
  if (severity == TFRT_SEVERITY_ERROR) ++diagnostics->error_count;
  size_t count =
      severity == TFRT_SEVERITY_ERROR ? diagnostics->error_count : diagnostics->warning_count;
  diagnostics->muted = count > diagnostics->limit;
  return !diagnostics->muted;
}

static bool reserve(tfrt_diagnostics_t* diagnostics) {
  if (diagnostics->count < diagnostics->capacity) return true;
  size_t capacity = diagnostics->capacity ? 2 * diagnostics->capacity : 8;
  size_t size = sizeof(*diagnostics->reports);
  void* grown = tfrt_allocator_reallocate(diagnostics->allocator, diagnostics->reports,
                                          diagnostics->capacity * size, capacity * size);
  if (!grown) return false;
  diagnostics->reports = grown;
  diagnostics->capacity = capacity;
  return true;
}

// Keeps |report|, whose file and message are copied, if memory lasts.
static void keep(tfrt_diagnostics_t* diagnostics, tfrt_diagnostic_t report) {
  if (!reserve(diagnostics)) return;
  const char* message = report.message;
  const char* file = report.file;
  report.message = tfrt_allocator_copy_string(diagnostics->allocator, message, strlen(message));
  report.file =
      file ? tfrt_allocator_copy_string(diagnostics->allocator, file, strlen(file)) : NULL;
  if (!report.message || (file && !report.file)) {
    free_copy(diagnostics->allocator, report.message);
    free_copy(diagnostics->allocator, report.file);
    return;
  }
  diagnostics->reports[diagnostics->count++] = report;
}

// The line of |text| in which the byte |offset| lies, without its end.
static tfrt_string_view_t line_around(tfrt_string_view_t text, size_t offset, size_t* out_begin) {
  size_t begin = offset;
  while (begin > 0 && text.data[begin - 1] != '\n') --begin;
  const char* newline =
      offset < text.size ? memchr(text.data + offset, '\n', text.size - offset) : NULL;
  size_t end = newline ? (size_t)(newline - text.data) : text.size;
  if (end > begin && text.data[end - 1] == '\r') --end;
  *out_begin = begin;
  return tfrt_string_view_make(text.data + begin, end - begin);
}

// The number of the line of the text that begins at |begin|.
static uint32_t line_number(tfrt_diagnostics_t* diagnostics, size_t begin) {
  if (begin < diagnostics->known_offset || !diagnostics->known_line) {
    diagnostics->known_offset = 0;
    diagnostics->known_line = diagnostics->first_line;
  }
  for (; diagnostics->known_offset < begin; ++diagnostics->known_offset) {
    diagnostics->known_line += diagnostics->text.data[diagnostics->known_offset] == '\n';
  }
  return diagnostics->known_line;
}

void tfrt_diagnostics_report_v(tfrt_diagnostics_t* diagnostics, tfrt_severity_t severity,
                               size_t offset, const char* format, va_list arguments) {
  if (!count_report(diagnostics, severity)) return;
  char message[MAX_MESSAGE];
  tfrt_number_text_format_v(message, sizeof(message), format, arguments);
  tfrt_string_view_t text = diagnostics->text;
  if (offset > text.size) offset = text.size;
  size_t begin = 0;
  tfrt_diagnostic_t report = {.severity = severity, .file = diagnostics->file, .message = message};
  report.source_line = line_around(text, offset, &begin);
  report.line = line_number(diagnostics, begin);
  report.column = (uint32_t)(offset - begin) + 1;
  keep(diagnostics, report);
}

void tfrt_diagnostics_report(tfrt_diagnostics_t* diagnostics, tfrt_severity_t severity,
                             size_t offset, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tfrt_diagnostics_report_v(diagnostics, severity, offset, format, arguments);
  va_end(arguments);
}

// The text of line |line| of the file, or an empty view if |diagnostics| hasn't got it.
static tfrt_string_view_t line_at(const tfrt_diagnostics_t* diagnostics, uint32_t line) {
  tfrt_string_view_t text = diagnostics->text;
  if (line < diagnostics->first_line) return tfrt_string_view_make(NULL, 0);
  size_t offset = 0;
  for (uint32_t i = diagnostics->first_line; i < line; ++i) {
    const char* newline =
        offset < text.size ? memchr(text.data + offset, '\n', text.size - offset) : NULL;
    if (!newline) return tfrt_string_view_make(NULL, 0);
    offset = (size_t)(newline - text.data) + 1;
  }
  size_t begin = 0;
  return line_around(text, offset, &begin);
}

void tfrt_diagnostics_report_at(tfrt_diagnostics_t* diagnostics, tfrt_severity_t severity,
                                const tfrt_ir_location_t* location, const char* format, ...) {
  if (!count_report(diagnostics, severity)) return;
  char message[MAX_MESSAGE];
  va_list arguments;
  va_start(arguments, format);
  tfrt_number_text_format_v(message, sizeof(message), format, arguments);
  va_end(arguments);
  const tfrt_ir_location_t* place = tfrt_ir_location_nearest_file(location);
  tfrt_diagnostic_t report = {.severity = severity, .file = diagnostics->file, .message = message};
  if (place) {
    report.file = place->name->data;
    report.line = place->line;
    report.column = place->column;
  }
  if (place && diagnostics->file && strcmp(diagnostics->file, report.file) == 0) {
    report.source_line = line_at(diagnostics, place->line);
  }
  keep(diagnostics, report);
}

// Appends the source line of |report| and a caret under its column. A long line is
// shown around the column only; bytes that could disturb a terminal become dots.
static void render_source(const tfrt_diagnostic_t* report, tfrt_string_builder_t* builder) {
  tfrt_string_view_t line = report->source_line;
  size_t column = report->column ? report->column - 1 : 0;
  if (!line.size || column > line.size) return;
  size_t begin = column > MAX_SOURCE_LINE / 2 && line.size > MAX_SOURCE_LINE
                     ? column - MAX_SOURCE_LINE / 2
                     : 0;
  size_t end = line.size - begin > MAX_SOURCE_LINE ? begin + MAX_SOURCE_LINE : line.size;
  for (size_t i = begin; i < end; ++i) {
    unsigned char byte = (unsigned char)line.data[i];
    bool is_plain = byte == '\t' || (byte >= ' ' && byte != 127);
    tfrt_string_builder_append_char(builder, is_plain ? (char)byte : '.');
  }
  tfrt_string_builder_append_char(builder, '\n');
  for (size_t i = begin; i < column; ++i) {
    unsigned char byte = (unsigned char)line.data[i];
    // Later bytes of a UTF-8 character take no column on a terminal.
    if ((byte & 0xC0) != 0x80) {
      tfrt_string_builder_append_char(builder, byte == '\t' ? '\t' : ' ');
    }
  }
  tfrt_string_builder_append_text(builder, "^\n");
}

const char* tfrt_severity_name(tfrt_severity_t severity) {
  static const char* const names[] = {"error", "warning", "note", "remark"};
  return names[severity];
}

void tfrt_diagnostics_render(const tfrt_diagnostics_t* diagnostics,
                             tfrt_string_builder_t* builder) {
  for (size_t i = 0; i < diagnostics->count; ++i) {
    const tfrt_diagnostic_t* report = &diagnostics->reports[i];
    if (report->file) tfrt_string_builder_append_format(builder, "%s:", report->file);
    if (report->line) {
      tfrt_string_builder_append_format(builder, "%u:%u:", report->line, report->column);
    }
    if (report->file || report->line) tfrt_string_builder_append_char(builder, ' ');
    tfrt_string_builder_append_format(builder, "%s: %s\n", tfrt_severity_name(report->severity),
                                      report->message);
    render_source(report, builder);
  }
  if (diagnostics->error_count > diagnostics->limit) {
    tfrt_string_builder_append_format(builder, "... and %zu more errors\n",
                                      diagnostics->error_count - diagnostics->limit);
  }
}

tfrt_status_t tfrt_diagnostics_status(const tfrt_diagnostics_t* diagnostics) {
  if (!diagnostics->error_count) return NULL;
  for (size_t i = 0; i < diagnostics->count; ++i) {
    const tfrt_diagnostic_t* report = &diagnostics->reports[i];
    if (report->severity != TFRT_SEVERITY_ERROR) continue;
    if (!report->line) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s%s%s",
                                report->file ? report->file : "", report->file ? ": " : "",
                                report->message);
    }
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s:%u:%u: %s",
                              report->file ? report->file : "", report->line, report->column,
                              report->message);
  }
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "out of memory for error messages");
}
