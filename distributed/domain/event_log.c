// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/event_log.h"

#include <inttypes.h>
#include <stdio.h>

void tfrt_event_log_peer_name(const tfrt_session_t* session,
                              char out_name[TFRT_EVENT_LOG_NAME_SIZE]) {
  tfrt_string_view_t name = tfrt_session_peer_name(session);
  if (name.size == 0) name = tfrt_session_address(session);
  if (name.size > 0) {
    snprintf(out_name, TFRT_EVENT_LOG_NAME_SIZE, "%.*s", TFRT_STRING_VIEW_ARGUMENTS(name));
  } else {
    snprintf(out_name, TFRT_EVENT_LOG_NAME_SIZE, "%016" PRIx64,
             tfrt_session_peer_incarnation(session));
  }
}

tfrt_log_context_t tfrt_event_log_context(const tfrt_job_t* job, uint64_t call) {
  return (tfrt_log_context_t){
      .job = job->handle, .call = call, .has_host = true, .host = job->rank};
}
