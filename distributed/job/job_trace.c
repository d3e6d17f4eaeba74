// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/job_trace.h"

#include "host_runtime/base/random.h"

// The flag of W3C Trace Context that says: recorded.
#define TFRT_JOB_TRACE_SAMPLED 1u

void tfrt_job_trace_request(tfrt_job_t* job) {
  tfrt_random_entropy(&job->tracing.context, sizeof(job->tracing.context));
  job->tracing.context.flags = TFRT_JOB_TRACE_SAMPLED;
}

tfrt_status_t tfrt_job_trace_accept(tfrt_job_t* job, const tfrt_wire_trace_t* trace) {
  if (!trace || !(trace->flags & TFRT_JOB_TRACE_SAMPLED)) return NULL;
  job->tracing.context = *trace;
  tfrt_trace_t* created = NULL;
  TFRT_RETURN_IF_ERROR(
      tfrt_trace_create(TFRT_JOB_TRACE_LIMIT, job->node->options.allocator, &created));
  tfrt_job_set_trace(job, created);
  tfrt_trace_release(created);
  return NULL;
}
