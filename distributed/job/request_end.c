// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/request_end.h"

#include "distributed/job/cancelled_requests.h"
#include "distributed/job/job.h"
#include "distributed/service/sending.h"

bool tfrt_request_end_forget(tfrt_job_t* job, uint64_t request) {
  tfrt_cancelled_requests_remove(job, request);
  bool has_met = tfrt_turn_table_forget(&job->turns, request);
  bool was_closed = tfrt_mailbox_forget_closed(&job->mailbox, request);
  tfrt_sending_end_request(job, request);
  return has_met || was_closed;
}

void tfrt_request_end_tell(tfrt_job_t* job, uint64_t request, bool is_cancelled, bool can_meet) {
  // Others may have met without the root.
  bool has_met = tfrt_request_end_forget(job, request) || can_meet;
  if (!has_met && !is_cancelled) return;
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_END_REQUEST,
                           .end_request = {.request = request}};
  tfrt_job_tell_members(job, &body, !is_cancelled);
}
