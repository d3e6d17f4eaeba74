// SPDX-License-Identifier: Apache-2.0
#include "distributed/administration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "distributed/detached_job.h"
#include "distributed/incoming_call.h"
#include "distributed/text_answer.h"

// Longer than any name of a job or call.
#define TFRT_ADMINISTRATION_MAX_TEXT 64

// What is to be cancelled.
typedef struct tfrt_administration_target_s {
  bool is_call;
  uint8_t job[TFRT_WIRE_JOB_ID_SIZE];
  uint64_t caller;  // incarnation
  uint64_t number;
} tfrt_administration_target_t;

static tfrt_status_t tfrt_administration_read(const tfrt_execution_t* execution,
                                              tfrt_administration_target_t* out_target) {
  char text[TFRT_ADMINISTRATION_MAX_TEXT];
  tfrt_text_answer_read_question(execution, text, sizeof(text));
  int end = 0;
  if (strncmp(text, "job ", 4) == 0 && tfrt_text_answer_read_job(text + 4, out_target->job) &&
      text[4 + 2 * TFRT_WIRE_JOB_ID_SIZE] == '\0') {
    return NULL;
  }
  out_target->is_call = sscanf(text, "call %16" SCNx64 " %" SCNu64 "%n", &out_target->caller,
                               &out_target->number, &end) == 2 &&
                        text[end] == '\0';
  if (out_target->is_call) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "cancel wants `job ID` or `call CALLER NUMBER`, not `%s`", text);
}

static tfrt_status_t tfrt_administration_end_job(tfrt_node_t* node, const uint8_t* id,
                                                 tfrt_status_t reason) {
  tfrt_job_t* job =
      tfrt_job_find(node, tfrt_string_view_make((const char*)id, TFRT_WIRE_JOB_ID_SIZE));
  tfrt_detached_job_t* detached = tfrt_detached_job_find(node, id);
  if (detached && tfrt_detached_job_is_kept(detached)) {
    tfrt_detached_job_drop(detached);
    return NULL;
  }
  if (!job || job->closed) return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no such job is here");
  tfrt_job_close(job, reason);
  return NULL;
}

static tfrt_status_t tfrt_administration_end_call(tfrt_node_t* node, uint64_t caller,
                                                  uint64_t number, tfrt_status_t reason) {
  tfrt_peer_t* peer = tfrt_peer_find(node, caller);
  if (peer && tfrt_incoming_call_cancel(peer, number, reason)) return NULL;
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no such call runs here");
}

tfrt_status_t tfrt_administration_cancel(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  tfrt_administration_target_t target = {0};
  TFRT_RETURN_IF_ERROR(tfrt_administration_read(execution, &target));
  tfrt_node_t* node = execution->node;
  tfrt_status_t reason =
      tfrt_status_create(TFRT_STATUS_CANCELLED, "cancelled by an administrator (tfrt cancel)");
  tfrt_node_lock_tables(node);
  tfrt_status_t status =
      target.is_call ? tfrt_administration_end_call(node, target.caller, target.number, reason)
                     : tfrt_administration_end_job(node, target.job, reason);
  tfrt_node_unlock(node);
  tfrt_status_release(reason);
  if (!status) tfrt_string_builder_append_text(out, "cancelled");
  return status;
}

tfrt_status_t tfrt_administration_drain(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  tfrt_node_t* node = execution->node;
  // Without the job of who asks.
  size_t count = tfrt_node_job_count(node) - 1;
  node->options.on_drain(node->options.on_drain_self);
  tfrt_string_builder_append_format(out, "%zu", count);
  return NULL;
}
