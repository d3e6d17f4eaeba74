// SPDX-License-Identifier: Apache-2.0
//
// Messages of the process to its operator: one line per event, for people or for machines.
//
//   text  2026-01-31T12:00:00.000123Z warning: host 2 is suspected [host=0 job=7]
//   JSON  {"time":"2026-01-31T12:00:00.000123Z","severity":"warning",
//          "message":"host 2 is suspected","host":0,"job":7}          (on one line)
//
// An error is a value and travels to its handler; only the handler logs it, once. Hot paths don't
// log.
//
// Life:
//  1. Without any call: text, from *info* upwards, to standard error, one system call per
//     line, so that lines of several processes on one terminal stay whole.
//  2. A main may set level, format, its host's rank and another sink.
//
// Thread rule: thread-safe.
// Failure rule: none fails. A line longer than TFRT_LOG_MAX_LINE_SIZE is cut. No thread waits for
// the reader of the standard error: when its pipe is full, lines are dropped and counted, and the
// next line that there is room for is preceded by their number. A message is untrusted: control
// characters are escaped, so that one event is always one line, and bytes that are no UTF-8 become
// \ufffd.
#ifndef TFRT_HOST_RUNTIME_BASE_LOG_H_
#define TFRT_HOST_RUNTIME_BASE_LOG_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

typedef enum tfrt_log_severity_e {
  TFRT_LOG_DEBUG = 0,
  TFRT_LOG_INFO = 1,
  TFRT_LOG_WARNING = 2,
  TFRT_LOG_ERROR = 3,
  TFRT_LOG_SILENT = 4,  // as a level: nothing is logged
} tfrt_log_severity_t;

typedef enum tfrt_log_format_e {
  TFRT_LOG_FORMAT_TEXT = 0,
  TFRT_LOG_FORMAT_JSON = 1,
} tfrt_log_format_t;

// The longest line, with its newline.
#define TFRT_LOG_MAX_LINE_SIZE 4096

// The rank of a process that has none (yet).
#define TFRT_LOG_NO_HOST UINT32_MAX

// The subject of a line. 0 means: not about any.
typedef struct tfrt_log_context_s {
  uint64_t job;
  uint64_t call;
  bool has_host;  // this process is |host| in the job, whatever it is elsewhere
  uint32_t host;
} tfrt_log_context_t;

// Where lines go.
typedef struct tfrt_log_sink_s {
  // Takes one whole line of |size| bytes, with its newline and without a NUL behind.
  // Called from any thread, from several at once.
  void (*write)(void* self, tfrt_log_severity_t severity, const char* line, size_t size);
  void* self;
} tfrt_log_sink_t;

// Sets the lowest severity that is logged, the format, and the rank that each line
// names, or TFRT_LOG_NO_HOST. For the whole process. Thread-safe.
void tfrt_log_set_level(tfrt_log_severity_t level);
void tfrt_log_set_format(tfrt_log_format_t format);
void tfrt_log_set_host(uint32_t rank);

// Sends lines to |sink| from now on, which must live as long as any thread may log;
// NULL: to standard error. Thread-safe.
void tfrt_log_set_sink(const tfrt_log_sink_t* sink);

// Returns true if a line of |severity| would be written. Thread-safe.
bool tfrt_log_is_enabled(tfrt_log_severity_t severity);

// Logs the formatted message, about |context|, which may be NULL. Thread-safe.
void tfrt_log(tfrt_log_severity_t severity, const tfrt_log_context_t* context, const char* format,
              ...) TFRT_PRINTF(3, 4);
void tfrt_log_v(tfrt_log_severity_t severity, const tfrt_log_context_t* context, const char* format,
                va_list arguments);

// The name of |severity| in small letters, and the severity that |name| names: sets
// |*out_severity| and returns true, or returns false. Thread-safe.
const char* tfrt_log_severity_name(tfrt_log_severity_t severity);
bool tfrt_log_severity_parse(const char* name, tfrt_log_severity_t* out_severity);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_LOG_H_
