// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host_runtime/base/clock.h"
#include "host_runtime/base/log_output.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/utf8.h"

// Each setting stands alone and orders nothing else, so all accesses are relaxed, but
// for the sink's.
static _Atomic int current_level = TFRT_LOG_INFO;
static _Atomic int current_format = TFRT_LOG_FORMAT_TEXT;
static _Atomic uint32_t current_host = TFRT_LOG_NO_HOST;
static _Atomic(const tfrt_log_sink_t*) current_sink = NULL;

static const char* const severity_names[] = {"debug", "info", "warning", "error", "silent"};

void tfrt_log_set_level(tfrt_log_severity_t level) {
  atomic_store_explicit(&current_level, (int)level, memory_order_relaxed);
}

void tfrt_log_set_format(tfrt_log_format_t format) {
  atomic_store_explicit(&current_format, (int)format, memory_order_relaxed);
}

void tfrt_log_set_host(uint32_t rank) {
  atomic_store_explicit(&current_host, rank, memory_order_relaxed);
}

void tfrt_log_set_sink(const tfrt_log_sink_t* sink) {
  // Release: the sink's content; pairs with the acquire load in write_line().
  atomic_store_explicit(&current_sink, sink, memory_order_release);
}

bool tfrt_log_is_enabled(tfrt_log_severity_t severity) {
  return severity < TFRT_LOG_SILENT &&
         (int)severity >= atomic_load_explicit(&current_level, memory_order_relaxed);
}

// A line under construction. Text that does not fit is dropped; |reserved| bytes stay free for the
// text that has to follow.
typedef struct line_s {
  char text[TFRT_LOG_MAX_LINE_SIZE];
  size_t size;
  size_t reserved;
} line_t;

// Closing quote or bracket, all of the fields, and the newline.
#define TAIL_SIZE 160

// False: it does not fit.
static bool append(line_t* line, const char* bytes, size_t size) {
  if (size > sizeof line->text - line->reserved - line->size) return false;
  memcpy(line->text + line->size, bytes, size);
  line->size += size;
  return true;
}

static void append_text(line_t* line, const char* text) { append(line, text, strlen(text)); }

static void append_number(line_t* line, const char* name, uint64_t number) {
  char text[64];
  int size = snprintf(text, sizeof text, "%s%llu", name, (unsigned long long)number);
  if (size > 0) append(line, text, (size_t)size);
}

static void append_time(line_t* line) {
  int64_t now_ns = tfrt_wall_time_ns();
  char text[TFRT_NUMBER_TEXT_DATE_SIZE];
  append_text(line, tfrt_number_text_date(now_ns / TFRT_NANOSECONDS_PER_SECOND, 'T', text));
  int length =
      snprintf(text, sizeof text, ".%06dZ", (int)(now_ns % TFRT_NANOSECONDS_PER_SECOND / 1000));
  if (length > 0) append(line, text, (size_t)length);
}

// Escapes as JSON does: in both formats, so that an event can't forge another line. Ends with the
// first character that does not fit.
static void append_escaped(line_t* line, const char* text, bool quotes_too) {
  size_t size = strlen(text);
  for (const char *p = text, *end = text + size; p < end; p += size) {
    char shown[TFRT_UTF8_SHOWN_SIZE];
    size = tfrt_utf8_show(tfrt_string_view_make(p, (size_t)(end - p)), shown);
    if (quotes_too && (*p == '"' || *p == '\\')) snprintf(shown, sizeof shown, "\\%c", *p);
    if (!append(line, shown, strlen(shown))) return;
  }
}

static void build_text(line_t* line, tfrt_log_severity_t severity,
                       const tfrt_log_context_t* context, uint32_t host, const char* message) {
  append_time(line);
  append_text(line, " ");
  append_text(line, severity_names[severity]);
  append_text(line, ": ");
  append_escaped(line, message, false);
  line->reserved = 0;
  const char* separator = " [";
  if (host != TFRT_LOG_NO_HOST) {
    append_number(line, " [host=", host);
    separator = " ";
  }
  if (context->job) {
    append_text(line, separator);
    append_number(line, "job=", context->job);
    separator = " ";
  }
  if (context->call) {
    append_text(line, separator);
    append_number(line, "call=", context->call);
    separator = " ";
  }
  append_text(line, separator[1] == '[' ? "\n" : "]\n");
}

static void build_json(line_t* line, tfrt_log_severity_t severity,
                       const tfrt_log_context_t* context, uint32_t host, const char* message) {
  append_text(line, "{\"time\":\"");
  append_time(line);
  append_text(line, "\",\"severity\":\"");
  append_text(line, severity_names[severity]);
  append_text(line, "\",\"message\":\"");
  append_escaped(line, message, true);
  line->reserved = 0;
  append_text(line, "\"");
  if (host != TFRT_LOG_NO_HOST) append_number(line, ",\"host\":", host);
  if (context->job) append_number(line, ",\"job\":", context->job);
  if (context->call) append_number(line, ",\"call\":", context->call);
  append_text(line, "}\n");
}

// Lines that the standard error could not take, and nobody has heard of yet.
static _Atomic(uint64_t) dropped_count;

static void write_line(const line_t* line) {
  if (!tfrt_log_output_write(line->text, line->size)) {
    atomic_fetch_add_explicit(&dropped_count, 1, memory_order_relaxed);
  }
}

// Says how many lines were dropped, when there is room again.
static void write_dropped(bool is_json, uint32_t host) {
  uint64_t count = atomic_load_explicit(&dropped_count, memory_order_relaxed);
  if (TFRT_LIKELY(count == 0)) return;
  // One thread says it, and what is dropped meanwhile counts anew.
  if (!atomic_compare_exchange_strong_explicit(&dropped_count, &count, 0, memory_order_relaxed,
                                               memory_order_relaxed)) {
    return;
  }
  static const tfrt_log_context_t no_context = {0};
  char message[128];
  snprintf(message, sizeof message, "%llu line%s of this log %s dropped: nobody read it",
           (unsigned long long)count, count == 1 ? "" : "s", count == 1 ? "was" : "were");
  line_t line = {.size = 0, .reserved = TAIL_SIZE};
  (is_json ? build_json : build_text)(&line, TFRT_LOG_WARNING, &no_context, host, message);
  if (tfrt_log_output_write(line.text, line.size)) return;
  atomic_fetch_add_explicit(&dropped_count, count, memory_order_relaxed);
}

void tfrt_log_v(tfrt_log_severity_t severity, const tfrt_log_context_t* context, const char* format,
                va_list arguments) {
  if (!tfrt_log_is_enabled(severity)) return;
  // Logging must not change what the caller is about to look at.
  int saved_errno = errno;
  static const tfrt_log_context_t no_context = {0};
  char message[TFRT_LOG_MAX_LINE_SIZE];
  message[0] = '\0';
  tfrt_number_text_format_v(message, sizeof message, format, arguments);
  line_t line = {.size = 0, .reserved = TAIL_SIZE};
  uint32_t host = atomic_load_explicit(&current_host, memory_order_relaxed);
  if (context && context->has_host) host = context->host;
  bool is_json =
      atomic_load_explicit(&current_format, memory_order_relaxed) == TFRT_LOG_FORMAT_JSON;
  (is_json ? build_json : build_text)(&line, severity, context ? context : &no_context, host,
                                      message);
  // Acquire: pairs with the release store in tfrt_log_set_sink().
  const tfrt_log_sink_t* sink = atomic_load_explicit(&current_sink, memory_order_acquire);
  if (sink) {
    sink->write(sink->self, severity, line.text, line.size);
  } else {
    write_dropped(is_json, host);
    write_line(&line);
  }
  errno = saved_errno;
}

void tfrt_log(tfrt_log_severity_t severity, const tfrt_log_context_t* context, const char* format,
              ...) {
  va_list arguments;
  va_start(arguments, format);
  tfrt_log_v(severity, context, format, arguments);
  va_end(arguments);
}

const char* tfrt_log_severity_name(tfrt_log_severity_t severity) {
  return (unsigned)severity < TFRT_ARRAY_SIZE(severity_names) ? severity_names[severity]
                                                              : "unknown";
}

bool tfrt_log_severity_parse(const char* name, tfrt_log_severity_t* out_severity) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(severity_names); ++i) {
    if (strcmp(name, severity_names[i]) == 0) {
      *out_severity = (tfrt_log_severity_t)i;
      return true;
    }
  }
  return false;
}
