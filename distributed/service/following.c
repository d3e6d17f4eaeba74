// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/following.h"

#include <inttypes.h>

#include "distributed/job/detached_job.h"
#include "distributed/job/job_start.h"
#include "distributed/service/answer.h"
#include "distributed/service/plain_form.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/plural.h"

// "HEX NUMBER", and more than that.
#define TFRT_FOLLOWING_MAX_TEXT 96

// Sets |*out_detached| and |*out_number| to what the argument of |execution| names. With the lock
// held.
static tfrt_status_t tfrt_following_find(const tfrt_execution_t* execution,
                                         tfrt_detached_job_t** out_detached, uint64_t* out_number) {
  char text[TFRT_FOLLOWING_MAX_TEXT];
  uint8_t id[TFRT_WIRE_JOB_ID_SIZE];
  tfrt_answer_read_question(execution, text, sizeof(text));
  const char* rest = text + 2 * TFRT_WIRE_JOB_ID_SIZE;
  *out_detached = NULL;
  bool is_good = tfrt_plain_read_job(text, id) && rest[0] == ' ' &&
                 tfrt_number_text_parse_u64(tfrt_string_view_of(rest + 1), out_number);
  if (!is_good) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "`ID NUMBER` was wanted, not `%s`",
                              text);
  }
  *out_detached = tfrt_detached_job_follow(execution->job, id);
  if (*out_detached) return NULL;
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no such detached job is here (any more)");
}

// --- FOLLOW --------------------------------------------------------------------

// How the one start of a job is.
typedef struct tfrt_following_state_s {
  const char* state;
  const char* function;
} tfrt_following_state_t;

static void tfrt_following_visit_start(void* self, uint64_t number,
                                       const tfrt_execution_t* execution) {
  (void)number;
  tfrt_following_state_t* state = self;
  // Once there is a request, program and arguments are here.
  if (execution->request) state->state = "running";
  state->function = tfrt_execution_function_name(execution);
}

static tfrt_following_state_t tfrt_following_state_of(const tfrt_detached_job_t* detached) {
  tfrt_following_state_t state = {.state = "starting", .function = detached->function};
  if (detached->state == TFRT_DETACHED_JOB_ENDED) {
    state.state = "ended";
  } else if (detached->job) {
    tfrt_job_start_visit_all(detached->job, tfrt_following_visit_start, &state);
  }
  return state;
}

// Appends lines from the number |from| on. Returns the number behind the last one.
static uint64_t tfrt_following_append_lines(const tfrt_detached_job_t* detached, uint64_t from,
                                            tfrt_string_builder_t* out) {
  uint64_t number = detached->first_line;
  size_t size = 0;
  for (const tfrt_list_link_t* link = detached->lines.next;
       link != &detached->lines && size < TFRT_FOLLOWING_MAX_ANSWER; link = link->next) {
    if (number++ < from) continue;
    const tfrt_detached_line_t* line = TFRT_CONTAINER_OF(link, tfrt_detached_line_t, link);
    tfrt_string_builder_append_format(out, "%u %u\n", line->rank, line->size);
    tfrt_string_builder_append(out, line->text, line->size);
    tfrt_string_builder_append_char(out, '\n');
    size += sizeof(*line) + line->size;
  }
  return number;
}

// With the lock held.
static tfrt_status_t tfrt_following_write_all(const tfrt_execution_t* execution,
                                              tfrt_string_builder_t* lines,
                                              tfrt_string_builder_t* out) {
  tfrt_detached_job_t* detached = NULL;
  uint64_t from = 0;
  TFRT_RETURN_IF_ERROR(tfrt_following_find(execution, &detached, &from));
  if (from < detached->first_line) from = detached->first_line;
  if (from > detached->next_line) from = detached->next_line;
  uint64_t next = tfrt_following_append_lines(detached, from, lines);
  if (next < from) next = from;
  tfrt_following_state_t state = tfrt_following_state_of(detached);
  tfrt_string_builder_append_format(out, "detached state=%s function=", state.state);
  tfrt_plain_add_word(out, tfrt_string_view_of(state.function));
  tfrt_string_builder_append_format(
      out, " results=%u from=%" PRIu64 " next=%" PRIu64 " more=%d lost=%d\n",
      detached->result_count, from, next, next < detached->next_line, detached->is_loss);
  tfrt_string_builder_append_view(out, tfrt_string_builder_view(lines));
  return tfrt_status_retain(tfrt_string_builder_status(lines));
}

tfrt_status_t tfrt_following_write(tfrt_execution_t* execution, tfrt_string_builder_t* out) {
  tfrt_node_t* node = execution->node;
  tfrt_string_builder_t lines;
  tfrt_string_builder_initialize(&lines, node->options.allocator);
  tfrt_node_lock_tables(node);
  tfrt_status_t status = tfrt_following_write_all(execution, &lines, out);
  tfrt_node_unlock(node);
  tfrt_string_builder_deinitialize(&lines);
  return status;
}

// --- KEPT_RESULT ---------------------------------------------------------------

// Sets |*out_value| (+1) to the value that is asked for.
static tfrt_status_t tfrt_following_find_result(const tfrt_execution_t* execution,
                                                tfrt_async_value_t** out_value) {
  tfrt_detached_job_t* detached = NULL;
  uint64_t index = 0;
  TFRT_RETURN_IF_ERROR(tfrt_following_find(execution, &detached, &index));
  if (detached->state != TFRT_DETACHED_JOB_ENDED) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "the job has not ended yet");
  }
  if (index < detached->result_count) {
    *out_value = tfrt_async_value_retain(detached->results[index]);
  } else if (index > detached->result_count) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "the job has %u result%s",
                              detached->result_count, tfrt_plural(detached->result_count));
  } else {
    *out_value = detached->failure ? tfrt_async_value_create_error(detached->failure)
                                   : tfrt_async_value_ready_chain();
  }
  return NULL;
}

void tfrt_following_start_result(tfrt_execution_t* execution) {
  tfrt_execution_begin(execution);
  tfrt_async_value_t* value = NULL;
  tfrt_status_t status = tfrt_following_find_result(execution, &value);
  if (status) value = tfrt_async_value_create_error_take(status);
  tfrt_execution_complete(execution, &value);
}
