// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/administration.h"

#include <stdio.h>

#include "distributed/call/incoming_call.h"
#include "distributed/job/detached_job.h"
#include "distributed/job/job_life.h"

static tfrt_status_t tfrt_administration_end_job(tfrt_node_t* node, tfrt_string_view_t id) {
  tfrt_job_t* job = tfrt_job_find(node, id);
  tfrt_detached_job_t* detached = tfrt_detached_job_find(node, (const uint8_t*)id.data);
  if (detached && tfrt_detached_job_is_kept(detached)) {
    tfrt_detached_job_drop(detached);
    return NULL;
  }
  if (!job || tfrt_job_is_closed(job)) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no such job is here");
  }
  tfrt_status_t reason =
      tfrt_status_create(TFRT_STATUS_CANCELLED, "cancelled by an administrator (tfrt cancel)");
  tfrt_job_close(job, reason);
  tfrt_status_release(reason);
  return NULL;
}

// A place that a question names; its texts end with a 0 here.
typedef struct tfrt_administration_place_s {
  char function[TFRT_WIRE_MAX_NAME_SIZE + 1];
  char file[TFRT_WIRE_MAX_PATH_SIZE + 1];
} tfrt_administration_place_t;

// The error (+1) that the results of the call |execution| become.
static tfrt_status_t tfrt_administration_reason(const tfrt_execution_t* execution,
                                                const tfrt_wire_ask_cancel_t* target) {
  tfrt_status_origin_t place;
  tfrt_administration_place_t texts;
  if (target->place) {
    const tfrt_wire_location_t* there = target->place;
    snprintf(texts.function, sizeof(texts.function), "%.*s",
             TFRT_STRING_VIEW_ARGUMENTS(there->function));
    snprintf(texts.file, sizeof(texts.file), "%.*s", TFRT_STRING_VIEW_ARGUMENTS(there->file));
    place = (tfrt_status_origin_t){.rank = tfrt_job_rank_of(execution->job, target->caller),
                                   .incarnation = target->caller,
                                   .function = texts.function,
                                   .file = texts.file,
                                   .line = there->line,
                                   .column = there->column};
  } else {
    tfrt_execution_function_place(execution, &place);
    place.rank = execution->job->rank;
  }
  tfrt_status_t plain = tfrt_status_create(
      TFRT_STATUS_CANCELLED, "cancelled by an administrator (tfrt cancel) while it ran @%s",
      tfrt_execution_function_name(execution));
  tfrt_status_t reason = tfrt_status_with_origin(plain, &place);
  tfrt_status_release(plain);
  return reason;
}

static tfrt_status_t tfrt_administration_end_call(tfrt_node_t* node,
                                                  const tfrt_wire_ask_cancel_t* target) {
  tfrt_peer_t* peer = tfrt_peer_find(node, target->caller);
  tfrt_execution_t* execution = peer ? tfrt_incoming_call_find(peer, target->number) : NULL;
  if (!execution) return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no such call runs here");
  tfrt_status_t reason = tfrt_administration_reason(execution, target);
  tfrt_execution_cancel(execution, reason);
  tfrt_status_release(reason);
  return NULL;
}

tfrt_status_t tfrt_administration_cancel(tfrt_execution_t* execution,
                                         const tfrt_wire_ask_cancel_t* target,
                                         tfrt_string_builder_t* out) {
  tfrt_node_t* node = execution->node;
  tfrt_node_lock_tables(node);
  tfrt_status_t status = target->job.size > 0 ? tfrt_administration_end_job(node, target->job)
                                              : tfrt_administration_end_call(node, target);
  tfrt_node_unlock(node);
  if (status) return status;
  return tfrt_wire_answer_append(&(tfrt_wire_answer_part_t){.kind = TFRT_WIRE_PART_DONE}, out);
}

tfrt_status_t tfrt_administration_drain(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  tfrt_node_t* node = execution->node;
  tfrt_node_lock_tables(node);
  size_t count = tfrt_job_count_running(node, execution->job);
  tfrt_node_unlock(node);
  node->options.on_drain(node->options.on_drain_self);
  tfrt_string_builder_append_format(out, "%zu", count);
  return NULL;
}
