// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/request/request_deadline.h"

struct tfrt_request_deadline_s {
  tfrt_timer_t timer;
  tfrt_ref_count_t ref_count;  // one for the owner, one for the timer while it waits or runs
  tfrt_timer_queue_t* timers;
  tfrt_request_context_t* request;  // +1
};

static void request_deadline_release(tfrt_request_deadline_t* deadline) {
  if (!tfrt_ref_count_decrement(&deadline->ref_count)) return;
  tfrt_request_context_t* request = deadline->request;
  tfrt_allocator_free(request->allocator, deadline, sizeof(*deadline));
  tfrt_request_context_release(request);
}

static void request_deadline_on_time(tfrt_timer_t* timer) {
  tfrt_request_deadline_t* deadline = TFRT_CONTAINER_OF(timer, tfrt_request_deadline_t, timer);
  tfrt_status_t reason =
      tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED, "the deadline of the request has passed");
  tfrt_request_context_cancel(deadline->request, reason);
  tfrt_status_release(reason);
  request_deadline_release(deadline);
}

tfrt_status_t tfrt_request_deadline_start(tfrt_request_context_t* request,
                                          tfrt_timer_queue_t* timers,
                                          tfrt_request_deadline_t** out_deadline) {
  *out_deadline = NULL;
  if (request->options.deadline_ns == TFRT_REQUEST_NO_DEADLINE) return NULL;
  tfrt_request_deadline_t* deadline =
      tfrt_allocator_allocate_zeroed(request->allocator, sizeof(*deadline));
  if (!deadline) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a deadline");
  }
  tfrt_ref_count_initialize(&deadline->ref_count);
  tfrt_ref_count_increment(&deadline->ref_count);
  deadline->timers = timers;
  deadline->request = tfrt_request_context_retain(request);
  tfrt_timer_start(timers, &deadline->timer, request->options.deadline_ns,
                   request_deadline_on_time);
  *out_deadline = deadline;
  return NULL;
}

void tfrt_request_deadline_stop(tfrt_request_deadline_t* deadline) {
  if (!deadline) return;
  if (tfrt_timer_cancel(deadline->timers, &deadline->timer)) {
    request_deadline_release(deadline);
  }
  request_deadline_release(deadline);
}
