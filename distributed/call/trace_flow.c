// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/trace_flow.h"

#include <inttypes.h>
#include <stdio.h>

void tfrt_trace_flow_add(const tfrt_job_t* job, const char* category, uint64_t caller,
                         uint64_t number, uint64_t callee, uint64_t request) {
  tfrt_trace_t* trace = tfrt_job_trace(job);
  if (!trace) return;
  char name[sizeof(((tfrt_trace_span_t*)NULL)->name)];
  snprintf(name, sizeof(name), "%016" PRIx64 ".%" PRIu64 ".%016" PRIx64, caller, number, callee);
  int64_t now_ns = tfrt_clock_now_ns(job->node->options.host->clock);
  tfrt_trace_add(trace, category, name, now_ns, now_ns, request);
}
