// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/host_context.h"

tfrt_status_t tfrt_host_context_allocate(tfrt_allocator_t allocator, tfrt_clock_t clock,
                                         tfrt_work_queue_t* work_queue, tfrt_trace_t* trace,
                                         tfrt_host_context_t** out_host) {
  *out_host = NULL;
  tfrt_host_context_t* host = tfrt_allocator_allocate_zeroed(allocator, sizeof(*host));
  if (!host) {
    tfrt_work_queue_release(work_queue);
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a host context");
  }
  host->allocator = allocator;
  host->clock = clock;
  host->work_queue = work_queue;
  host->trace = trace;
  tfrt_status_t status = tfrt_kernel_registry_allocate(allocator, &host->registry);
  if (tfrt_status_is_ok(status)) {
    *out_host = host;
  } else {
    tfrt_host_context_free(host);
  }
  return status;
}

void tfrt_host_context_free(tfrt_host_context_t* host) {
  if (!host) return;
  tfrt_work_queue_quiesce(host->work_queue);
  tfrt_work_queue_release(host->work_queue);
  tfrt_kernel_registry_free(host->registry);
  tfrt_allocator_free(host->allocator, host, sizeof(*host));
}
