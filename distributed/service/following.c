// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/following.h"

#include "distributed/job/detached_job.h"
#include "distributed/job/job_start.h"
#include "distributed/service/answer.h"
#include "distributed/service/answer_part.h"
#include "distributed/service/plain_following.h"
#include "host_runtime/base/plural.h"

// The arena keeps this much from part to part.
#define TFRT_FOLLOWING_KEPT_SIZE 4096

// Sets |*out_detached| to the job with the id |job|. With the lock held.
static tfrt_status_t tfrt_following_find(const tfrt_execution_t* execution, tfrt_string_view_t job,
                                         tfrt_detached_job_t** out_detached) {
  *out_detached = tfrt_detached_job_follow(execution->job, (const uint8_t*)job.data);
  if (*out_detached) return NULL;
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no such detached job is here (any more)");
}

// --- AskFollow -------------------------------------------------------------------

static void tfrt_following_visit_start(void* self, uint64_t number,
                                       const tfrt_execution_t* execution) {
  (void)number;
  tfrt_wire_follow_part_t* follow = self;
  // Once there is a request, program and arguments are here.
  if (execution->request) follow->state = TFRT_WIRE_DETACHED_RUNNING;
  follow->function = tfrt_string_view_of(tfrt_execution_function_name(execution));
}

// Sets the state and the function of |follow|.
static void tfrt_following_describe(const tfrt_detached_job_t* detached,
                                    tfrt_wire_follow_part_t* follow) {
  follow->state = TFRT_WIRE_DETACHED_STARTING;
  follow->function = tfrt_string_view_of(detached->function);
  if (detached->state == TFRT_DETACHED_JOB_ENDED) {
    follow->state = TFRT_WIRE_DETACHED_ENDED;
  } else if (detached->job) {
    tfrt_job_start_visit_all(detached->job, tfrt_following_visit_start, follow);
  }
}

static const tfrt_detached_line_t* tfrt_following_line_of(const tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_detached_line_t, link);
}

// The first kept line from number |from| on, or the list's head.
static const tfrt_list_link_t* tfrt_following_first_line(const tfrt_detached_job_t* detached,
                                                         uint64_t from) {
  const tfrt_list_link_t* link = detached->lines.next;
  for (uint64_t i = detached->first_line; i < from && link != &detached->lines; ++i) {
    link = link->next;
  }
  return link;
}

// The number behind the last line of an answer whose first is |link|, number |from|.
static uint64_t tfrt_following_end_of(const tfrt_detached_job_t* detached,
                                      const tfrt_list_link_t* link, uint64_t from) {
  size_t size = 0;
  for (; link != &detached->lines && size < TFRT_FOLLOWING_MAX_ANSWER; link = link->next) {
    size += sizeof(tfrt_detached_line_t) + tfrt_following_line_of(link)->size;
    ++from;
  }
  return from;
}

static void tfrt_following_emit_line(tfrt_answer_parts_t* parts, const tfrt_detached_line_t* line) {
  uint32_t at = 0;
  do {
    uint32_t left = line->size - at;
    uint32_t size = left < TFRT_WIRE_MAX_LINE_SIZE ? left : TFRT_WIRE_MAX_LINE_SIZE;
    tfrt_answer_parts_emit(parts, &(tfrt_wire_answer_part_t){
                                      .kind = TFRT_WIRE_PART_LINE,
                                      .line = {.rank = line->rank,
                                               .text = tfrt_string_view_make(line->text + at, size),
                                               .rest = left - size}});
    at += size;
  } while (at < line->size);
}

// With the lock held.
static void tfrt_following_emit(const tfrt_detached_job_t* detached, uint64_t from,
                                tfrt_answer_parts_t* parts) {
  if (from < detached->first_line) from = detached->first_line;
  if (from > detached->next_line) from = detached->next_line;
  const tfrt_list_link_t* link = tfrt_following_first_line(detached, from);
  uint64_t next = tfrt_following_end_of(detached, link, from);
  tfrt_wire_answer_part_t part = {.kind = TFRT_WIRE_PART_FOLLOW,
                                  .follow = {.results = detached->result_count,
                                             .from = from,
                                             .next = next,
                                             .has_more = next < detached->next_line,
                                             .is_loss = detached->is_loss}};
  tfrt_following_describe(detached, &part.follow);
  part.follow.function = tfrt_answer_parts_view(parts, part.follow.function);
  tfrt_answer_parts_emit(parts, &part);
  for (; from < next; ++from, link = link->next) {
    tfrt_following_emit_line(parts, tfrt_following_line_of(link));
  }
}

static tfrt_status_t tfrt_following_write(tfrt_execution_t* execution,
                                          const tfrt_wire_question_t* asked,
                                          tfrt_string_builder_t* out) {
  const tfrt_wire_ask_follow_t* question = &asked->follow;
  tfrt_node_t* node = execution->node;
  tfrt_detached_job_t* detached = NULL;
  tfrt_node_lock_tables(node);
  tfrt_answer_parts_t parts;
  tfrt_answer_parts_initialize(&parts, node, out);
  tfrt_status_t status = tfrt_following_find(execution, question->job, &detached);
  if (!status) tfrt_following_emit(detached, question->from, &parts);
  tfrt_status_t failure = tfrt_answer_parts_finish(&parts);
  tfrt_node_unlock(node);
  return status ? status : failure;
}

const tfrt_answerer_t tfrt_follow_answerer = {.kind = TFRT_WIRE_ASK_FOLLOW,
                                              .write = tfrt_following_write,
                                              .plain_function = TFRT_WIRE_BUILTIN_FOLLOW,
                                              .write_plain = tfrt_plain_following_write};

// --- The answer to AskFollow -----------------------------------------------------

static tfrt_status_t tfrt_following_malformed(void) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the host's answer about the job makes no sense; run the same release "
                            "everywhere");
}

tfrt_status_t tfrt_following_read(tfrt_string_view_t answer, tfrt_arena_t* arena,
                                  tfrt_wire_follow_part_t* out_follow) {
  *out_follow = (tfrt_wire_follow_part_t){0};
  while (answer.size > 0) {
    tfrt_wire_answer_part_t part;
    TFRT_RETURN_IF_ERROR(tfrt_wire_answer_next(&answer, arena, &part));
    if (part.kind == TFRT_WIRE_PART_FOLLOW) {
      *out_follow = part.follow;
      return NULL;
    }
    tfrt_arena_clear(arena, TFRT_FOLLOWING_KEPT_SIZE);
  }
  return tfrt_following_malformed();
}

// A line whose pieces come.
typedef struct tfrt_following_line_s {
  tfrt_string_builder_t text;
  uint32_t rest;  // bytes that are still to come
} tfrt_following_line_t;

static tfrt_status_t tfrt_following_take_piece(tfrt_following_line_t* line,
                                               const tfrt_wire_line_part_t* piece,
                                               tfrt_following_line_fn_t on_line, void* self) {
  bool is_first = line->rest == 0;
  bool fits = is_first || (uint64_t)piece->text.size + piece->rest == line->rest;
  if (!fits) return tfrt_following_malformed();
  line->rest = piece->rest;
  if (is_first && piece->rest == 0) {
    on_line(self, piece->rank, piece->text);
    return NULL;
  }
  tfrt_string_builder_append_view(&line->text, piece->text);
  TFRT_RETURN_IF_ERROR(tfrt_status_retain(tfrt_string_builder_status(&line->text)));
  if (piece->rest > 0) return NULL;
  on_line(self, piece->rank, tfrt_string_builder_view(&line->text));
  tfrt_string_builder_clear(&line->text);
  return NULL;
}

tfrt_status_t tfrt_following_read_lines(tfrt_string_view_t answer, tfrt_following_line_fn_t on_line,
                                        void* self) {
  tfrt_following_line_t line = {.rest = 0};
  tfrt_string_builder_initialize(&line.text, tfrt_allocator_system());
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_status_t status = NULL;
  while (answer.size > 0 && !status) {
    tfrt_wire_answer_part_t part;
    status = tfrt_wire_answer_next(&answer, &arena, &part);
    bool is_line = !status && part.kind == TFRT_WIRE_PART_LINE;
    if (is_line) status = tfrt_following_take_piece(&line, &part.line, on_line, self);
    tfrt_arena_clear(&arena, TFRT_FOLLOWING_KEPT_SIZE);
  }
  if (!status && line.rest > 0) status = tfrt_following_malformed();
  tfrt_arena_deinitialize(&arena);
  tfrt_string_builder_deinitialize(&line.text);
  return status;
}

// --- AskKeptResult ---------------------------------------------------------------

// Sets |*out_value| (+1) to the value that |question| names.
static tfrt_status_t tfrt_following_find_result(const tfrt_execution_t* execution,
                                                const tfrt_wire_ask_kept_result_t* question,
                                                tfrt_async_value_t** out_value) {
  tfrt_detached_job_t* detached = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_following_find(execution, question->job, &detached));
  if (detached->state != TFRT_DETACHED_JOB_ENDED) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "the job has not ended yet");
  }
  if (question->index < detached->result_count) {
    *out_value = tfrt_async_value_retain(detached->results[question->index]);
  } else if (question->index > detached->result_count) {
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
  tfrt_answer_question_t question;
  tfrt_answer_question_initialize(&question, execution->node);
  tfrt_status_t status = tfrt_answer_question_read(&question, execution, TFRT_WIRE_ASK_KEPT_RESULT);
  if (!status) {
    status = tfrt_following_find_result(execution, &question.message.kept_result, &value);
  }
  tfrt_answer_question_deinitialize(&question);
  if (status) value = tfrt_async_value_create_error_take(status);
  tfrt_execution_complete(execution, &value);
}
