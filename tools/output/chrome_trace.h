// SPDX-License-Identifier: Apache-2.0
//
// Writes traces in Chrome's trace event format, which Perfetto and chrome://tracing draw:
// one process row per host, one line per thread, one complete event ("ph": "X") per span, and one
// arrow ("ph": "s" and "f") from where a call leaves a host to where it begins on another.
//
//   host 0  thread 0   [ tfrt.call ]--s
//   host 1  thread 0                  '--f [ @f [ kernel ][ kernel ] ]
//
// The ends of an arrow are spans of no length, of the categories "flow.out" and "flow.in"
// (distributed/service/tracing.h), with the same name. A host's clock may be wrong by a bit: an
// arrow that would go backwards still ends within the call.
//
// Thread rule: thread-compatible. Failure rule: see file.h.
#ifndef TFRT_TOOLS_OUTPUT_CHROME_TRACE_H_
#define TFRT_TOOLS_OUTPUT_CHROME_TRACE_H_

#include "host_runtime/base/trace.h"

// One host's spans, and how its clock differs from that of the file: what is added to each
// of its times, in ns.
typedef struct tfrt_chrome_trace_host_s {
  uint32_t rank;
  const char* name;
  tfrt_trace_t* trace;
  int64_t clock_offset_ns;
} tfrt_chrome_trace_host_t;

// Writes |host_count| hosts to the file |path|. Errors: those of the file. Thread-compatible.
tfrt_status_t tfrt_chrome_trace_write(const char* path, const tfrt_chrome_trace_host_t* hosts,
                                      size_t host_count) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_OUTPUT_CHROME_TRACE_H_
