// SPDX-License-Identifier: Apache-2.0
#include "tools/executor/scope_printer.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/log.h"

// The longest trace that is kept, and how much of each thread is logged.
#define TFRT_SCOPE_PRINTER_SPANS ((size_t)1 << 20)
#define TFRT_SCOPE_PRINTER_LOGGED 100
#define TFRT_SCOPE_PRINTER_THREADS 256

static void scope_printer_print_enter(void* self, const char* name) {
  (void)self;
  printf("Scope:%s\n", name);
}

static void scope_printer_print_leave(void* self) {
  (void)self;
  puts("End Scope");
}

tfrt_status_t tfrt_scope_printer_start(tfrt_scope_printer_t* printer, const char* level,
                                       bool prints) {
  static const char* const levels[] = {[TFRT_SCOPE_DEFAULT] = "default",
                                       [TFRT_SCOPE_VERBOSE] = "verbose",
                                       [TFRT_SCOPE_DEBUG] = "debug"};
  static const tfrt_trace_sink_t sink = {.enter = scope_printer_print_enter,
                                         .leave = scope_printer_print_leave};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(levels); ++i) {
    if (strcmp(levels[i], level) != 0) continue;
    printer->level = (tfrt_scope_level_t)i;
    printer->prints = prints;
    TFRT_RETURN_IF_ERROR(tfrt_trace_create(prints ? 0 : TFRT_SCOPE_PRINTER_SPANS,
                                           tfrt_allocator_system(), &printer->trace));
    if (prints) tfrt_trace_set_sink(printer->trace, &sink);
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "--tracing_level=%s: there are default, verbose and debug", level);
}

tfrt_trace_t* tfrt_scope_printer_kernel_trace(const tfrt_scope_printer_t* printer) {
  return printer->level == TFRT_SCOPE_DEBUG ? printer->trace : NULL;
}

int64_t tfrt_scope_printer_enter(tfrt_scope_printer_t* printer, tfrt_scope_level_t level,
                                 const char* name) {
  if (!printer->trace || level > printer->level) return 0;
  tfrt_trace_enter(printer->trace, name);
  return tfrt_clock_now_ns(tfrt_clock_system());
}

void tfrt_scope_printer_leave(tfrt_scope_printer_t* printer, tfrt_scope_level_t level,
                              const char* name, int64_t begin_ns) {
  if (!printer->trace || level > printer->level) return;
  tfrt_trace_leave(printer->trace, "driver", name, begin_ns, tfrt_clock_now_ns(tfrt_clock_system()),
                   0);
}

// Logs |span| unless its thread has had its share.
static void scope_printer_log(const tfrt_trace_span_t* span, uint32_t* counts) {
  if (span->thread >= TFRT_SCOPE_PRINTER_THREADS) return;
  if (counts[span->thread]++ >= TFRT_SCOPE_PRINTER_LOGGED) return;
  tfrt_log(TFRT_LOG_INFO, NULL, "thread %u: %s '%s' took %lld ns", span->thread, span->category,
           span->name, (long long)(span->end_ns - span->begin_ns));
}

void tfrt_scope_printer_end(tfrt_scope_printer_t* printer) {
  if (!printer->trace) return;
  uint32_t counts[TFRT_SCOPE_PRINTER_THREADS] = {0};
  tfrt_trace_span_t spans[64];
  size_t first = 0;
  size_t count;
  while ((count = tfrt_trace_read(printer->trace, first, spans, TFRT_ARRAY_SIZE(spans))) > 0) {
    for (size_t i = 0; i < count; ++i) scope_printer_log(&spans[i], counts);
    first += count;
  }
  tfrt_trace_release(printer->trace);
  printer->trace = NULL;
}
