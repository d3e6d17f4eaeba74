// SPDX-License-Identifier: Apache-2.0
#include "tools/output/chrome_trace.h"

#include <string.h>

#include "host_runtime/base/file.h"
#include "tools/output/json.h"

// Spans are copied out of a trace in blocks of this many.
#define TFRT_CHROME_TRACE_BLOCK 64

static void chrome_trace_append_host(tfrt_string_builder_t* out,
                                     const tfrt_chrome_trace_host_t* host) {
  tfrt_string_builder_append_format(
      out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":", host->rank);
  tfrt_json_append_string(out, tfrt_string_view_of(host->name));
  tfrt_string_builder_append_text(out, "}}");
}

// Times in the format are microseconds; three decimals keep the nanoseconds. A time may be
// negative: a host's clock begins when the host does.
static void chrome_trace_append_time(tfrt_string_builder_t* out, const char* name,
                                     int64_t time_ns) {
  uint64_t size = time_ns < 0 ? 0 - (uint64_t)time_ns : (uint64_t)time_ns;
  tfrt_string_builder_append_format(out, ",\"%s\":%s%llu.%03llu", name, time_ns < 0 ? "-" : "",
                                    (unsigned long long)(size / 1000),
                                    (unsigned long long)(size % 1000));
}

static void chrome_trace_append_span(tfrt_string_builder_t* out,
                                     const tfrt_chrome_trace_host_t* host,
                                     const tfrt_trace_span_t* span) {
  tfrt_string_builder_append_text(out, ",\n{\"ph\":\"X\",\"name\":");
  tfrt_json_append_string(out, tfrt_string_view_of(span->name));
  tfrt_string_builder_append_text(out, ",\"cat\":");
  tfrt_json_append_string(out, tfrt_string_view_of(span->category));
  tfrt_string_builder_append_format(out, ",\"pid\":%u,\"tid\":%u", host->rank, span->thread);
  chrome_trace_append_time(out, "ts", span->begin_ns + host->clock_offset_ns);
  chrome_trace_append_time(out, "dur", span->end_ns - span->begin_ns);
  tfrt_string_builder_append_format(out, ",\"args\":{\"request\":%llu}}",
                                    (unsigned long long)span->request);
}

// One end of an arrow, |phase|; false if |span| is none.
static bool chrome_trace_append_flow(tfrt_string_builder_t* out,
                                     const tfrt_chrome_trace_host_t* host,
                                     const tfrt_trace_span_t* span) {
  bool is_out = strcmp(span->category, "flow.out") == 0;
  if (!is_out && strcmp(span->category, "flow.in") != 0) return false;
  // An end belongs to the slice around it.
  tfrt_string_builder_append_format(out, ",\n{\"ph\":\"%s\",\"name\":\"call\",\"cat\":\"flow\",",
                                    is_out ? "s" : "f\",\"bp\":\"e");
  tfrt_string_builder_append_text(out, "\"id\":");
  tfrt_json_append_string(out, tfrt_string_view_of(span->name));
  tfrt_string_builder_append_format(out, ",\"pid\":%u,\"tid\":%u", host->rank, span->thread);
  chrome_trace_append_time(out, "ts", span->begin_ns + host->clock_offset_ns);
  tfrt_string_builder_append_char(out, '}');
  return true;
}

static void chrome_trace_append_spans(tfrt_string_builder_t* out,
                                      const tfrt_chrome_trace_host_t* host) {
  static tfrt_trace_span_t spans[TFRT_CHROME_TRACE_BLOCK];
  size_t first = 0;
  for (size_t count;
       (count = tfrt_trace_read(host->trace, first, spans, TFRT_CHROME_TRACE_BLOCK)) > 0;
       first += count) {
    for (size_t i = 0; i < count; ++i) {
      if (chrome_trace_append_flow(out, host, &spans[i])) continue;
      chrome_trace_append_span(out, host, &spans[i]);
    }
  }
}

tfrt_status_t tfrt_chrome_trace_write(const char* path, const tfrt_chrome_trace_host_t* hosts,
                                      size_t host_count) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_string_builder_append_text(&out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  for (size_t i = 0; i < host_count; ++i) {
    if (i > 0) tfrt_string_builder_append_text(&out, ",\n");
    chrome_trace_append_host(&out, &hosts[i]);
    chrome_trace_append_spans(&out, &hosts[i]);
  }
  tfrt_string_builder_append_text(&out, "\n]}\n");
  tfrt_status_t status = tfrt_string_builder_status(&out);
  if (tfrt_status_is_ok(status)) {
    status =
        tfrt_file_write(path, tfrt_string_builder_text(&out), tfrt_string_builder_view(&out).size);
  }
  tfrt_string_builder_deinitialize(&out);
  return status;
}
