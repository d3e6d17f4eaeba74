// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/administration.h"

#include <inttypes.h>
#include <string.h>

#include "distributed/call/incoming_call.h"
#include "distributed/job/detached_job.h"
#include "distributed/job/job_closing.h"
#include "distributed/service/text_answer.h"
#include "host_runtime/base/number_text.h"

// Longer than any name of a job or call with a place.
#define TFRT_ADMINISTRATION_MAX_TEXT (TFRT_STATUS_MAX_TEXT_SIZE + 128)

// The target of a cancel.
typedef struct tfrt_administration_target_s {
  bool is_call;
  uint8_t job[TFRT_WIRE_JOB_ID_SIZE];
  uint64_t caller;  // incarnation
  uint64_t number;
  // Where the caller's program makes the call, and in which function; "" and 0: not known.
  char function[TFRT_WIRE_MAX_NAME_SIZE + 1];
  char file[TFRT_STATUS_MAX_TEXT_SIZE];
  uint32_t line;
  uint32_t column;
} tfrt_administration_target_t;

// Reads the number behind the colon at |text|, and moves |*end| before that; false if there is
// none.
static bool tfrt_administration_read_number(const char* text, const char** end,
                                            uint32_t* out_number) {
  size_t size = strspn(text + 1, "0123456789");
  if (size == 0 || size > 9 || text + 1 + size != *end) return false;
  uint64_t number = 0;
  tfrt_number_text_parse_u64(tfrt_string_view_make(text + 1, size), &number);
  *out_number = (uint32_t)number;
  *end = text;
  return true;
}

// The last colon of |text| before |end|, or |text|.
static const char* tfrt_administration_find_colon(const char* text, const char* end) {
  while (end > text && *--end != ':') continue;
  return end;
}

// Reads "FILE:LINE:COLUMN"; false if |text| is something else.
static bool tfrt_administration_read_place(const char* text,
                                           tfrt_administration_target_t* out_target) {
  const char* end = text + strlen(text);
  const char* column = tfrt_administration_find_colon(text, end);
  const char* line = tfrt_administration_find_colon(text, column);
  if (line == text || (size_t)(line - text) >= sizeof(out_target->file) ||
      !tfrt_administration_read_number(column, &end, &out_target->column) ||
      !tfrt_administration_read_number(line, &end, &out_target->line)) {
    return false;
  }
  memcpy(out_target->file, text, (size_t)(line - text));
  return true;
}

// Takes "@FUNCTION " off the beginning of |*text|, if it is there.
static void tfrt_administration_take_function(const char** text,
                                              tfrt_administration_target_t* out_target) {
  const char* end = **text == '@' ? strchr(*text, ' ') : NULL;
  if (!end) return;
  size_t size = (size_t)(end - *text - 1);
  // A longer one is left out of the error.
  if (size < sizeof(out_target->function)) memcpy(out_target->function, *text + 1, size);
  *text = end + 1;
}

// Reads "call CALLER NUMBER", with a place behind it or without; false if |text| is something else.
static bool tfrt_administration_read_call(const char* text,
                                          tfrt_administration_target_t* out_target) {
  if (strncmp(text, "call ", 5) != 0) return false;
  const char* place = text + 5;
  if (!tfrt_number_text_parse_hex(tfrt_text_answer_take_word(&place), &out_target->caller) ||
      !tfrt_number_text_parse_u64(tfrt_text_answer_take_word(&place), &out_target->number)) {
    return false;
  }
  if (*place == '\0') return place[-1] != ' ';
  tfrt_administration_take_function(&place, out_target);
  return tfrt_administration_read_place(place, out_target);
}

static tfrt_status_t tfrt_administration_read(const tfrt_execution_t* execution,
                                              tfrt_administration_target_t* out_target) {
  char text[TFRT_ADMINISTRATION_MAX_TEXT];
  tfrt_text_answer_read_question(execution, text, sizeof(text));
  if (strncmp(text, "job ", 4) == 0 && tfrt_text_answer_read_job(text + 4, out_target->job) &&
      text[4 + 2 * TFRT_WIRE_JOB_ID_SIZE] == '\0') {
    return NULL;
  }
  out_target->is_call = tfrt_administration_read_call(text, out_target);
  if (out_target->is_call) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT,
      "cancel wants `job ID`, `call CALLER NUMBER` or `call CALLER NUMBER [@FUNCTION] PLACE`, not "
      "`%s`",
      text);
}

static tfrt_status_t tfrt_administration_end_job(tfrt_node_t* node, const uint8_t* id) {
  tfrt_job_t* job =
      tfrt_job_find(node, tfrt_string_view_make((const char*)id, TFRT_WIRE_JOB_ID_SIZE));
  tfrt_detached_job_t* detached = tfrt_detached_job_find(node, id);
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

// The error (+1) that the results of the call |execution| become.
static tfrt_status_t tfrt_administration_reason(const tfrt_execution_t* execution,
                                                const tfrt_administration_target_t* target) {
  tfrt_status_origin_t place;
  if (target->file[0]) {
    place = (tfrt_status_origin_t){.rank = tfrt_job_rank_of(execution->job, target->caller),
                                   .incarnation = target->caller,
                                   .function = target->function,
                                   .file = target->file,
                                   .line = target->line,
                                   .column = target->column};
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
                                                  const tfrt_administration_target_t* target) {
  tfrt_peer_t* peer = tfrt_peer_find(node, target->caller);
  tfrt_execution_t* execution = peer ? tfrt_incoming_call_find(peer, target->number) : NULL;
  if (!execution) return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no such call runs here");
  tfrt_status_t reason = tfrt_administration_reason(execution, target);
  tfrt_execution_cancel(execution, reason);
  tfrt_status_release(reason);
  return NULL;
}

tfrt_status_t tfrt_administration_cancel(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  tfrt_administration_target_t target = {0};
  TFRT_RETURN_IF_ERROR(tfrt_administration_read(execution, &target));
  tfrt_node_t* node = execution->node;
  tfrt_node_lock_tables(node);
  tfrt_status_t status = target.is_call ? tfrt_administration_end_call(node, &target)
                                        : tfrt_administration_end_job(node, target.job);
  tfrt_node_unlock(node);
  if (!status) tfrt_string_builder_append_text(out, "cancelled");
  return status;
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
