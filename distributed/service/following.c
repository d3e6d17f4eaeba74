// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/following.h"

#include <inttypes.h>
#include <string.h>

#include "distributed/job/detached_job.h"
#include "distributed/job/job_start.h"
#include "distributed/service/plain_form.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/plural.h"

// The arena keeps this much from part to part.
#define TFRT_FOLLOWING_KEPT_SIZE 4096

// Sets |*out_detached| to the job with the id |job|. With the lock held.
static tfrt_status_t following_find(const tfrt_execution_t* execution, tfrt_string_view_t job,
                                    tfrt_detached_job_t** out_detached) {
  *out_detached = tfrt_detached_job_follow(execution->job, (const uint8_t*)job.data);
  if (*out_detached) return NULL;
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "no such detached job is here (any more)");
}

// --- AskFollow -------------------------------------------------------------------

static void following_visit_start(void* self, uint64_t number, const tfrt_execution_t* execution) {
  (void)number;
  tfrt_wire_follow_part_t* follow = self;
  // Once there is a request, program and arguments are here.
  if (execution->request) follow->state = TFRT_WIRE_DETACHED_RUNNING;
  follow->function = tfrt_string_view_of(tfrt_execution_function_name(execution));
}

// Sets the state and the function of |follow|.
static void following_describe(const tfrt_detached_job_t* detached,
                               tfrt_wire_follow_part_t* follow) {
  follow->state = TFRT_WIRE_DETACHED_STARTING;
  follow->function = tfrt_string_view_of(detached->function);
  if (detached->state == TFRT_DETACHED_JOB_ENDED) {
    follow->state = TFRT_WIRE_DETACHED_ENDED;
  } else if (detached->job) {
    tfrt_job_start_visit_all(detached->job, following_visit_start, follow);
  }
}

static const tfrt_detached_line_t* following_line_of(const tfrt_list_link_t* link) {
  return TFRT_CONTAINER_OF(link, tfrt_detached_line_t, link);
}

// The first kept line from number |from| on, or the list's head.
static const tfrt_list_link_t* following_first_line(const tfrt_detached_job_t* detached,
                                                    uint64_t from) {
  const tfrt_list_link_t* link = detached->lines.next;
  for (uint64_t i = detached->first_line; i < from && link != &detached->lines; ++i) {
    link = link->next;
  }
  return link;
}

// The number behind the last line of an answer whose first is |link|, number |from|.
static uint64_t following_end_of(const tfrt_detached_job_t* detached, const tfrt_list_link_t* link,
                                 uint64_t from) {
  size_t size = 0;
  for (; link != &detached->lines && size < TFRT_FOLLOWING_MAX_ANSWER; link = link->next) {
    size += sizeof(tfrt_detached_line_t) + following_line_of(link)->size;
    ++from;
  }
  return from;
}

static void following_emit_line(tfrt_answer_parts_t* parts, const tfrt_detached_line_t* line) {
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
static void following_emit(const tfrt_detached_job_t* detached, uint64_t from,
                           tfrt_answer_parts_t* parts) {
  if (from < detached->first_line) from = detached->first_line;
  if (from > detached->next_line) from = detached->next_line;
  const tfrt_list_link_t* link = following_first_line(detached, from);
  uint64_t next = following_end_of(detached, link, from);
  tfrt_wire_answer_part_t part = {.kind = TFRT_WIRE_PART_FOLLOW,
                                  .follow = {.results = detached->result_count,
                                             .from = from,
                                             .next = next,
                                             .has_more = next < detached->next_line,
                                             .is_loss = detached->is_loss}};
  following_describe(detached, &part.follow);
  part.follow.function = tfrt_answer_parts_view(parts, part.follow.function);
  tfrt_answer_parts_emit(parts, &part);
  for (; from < next; ++from, link = link->next) {
    following_emit_line(parts, following_line_of(link));
  }
}

static tfrt_status_t following_write(tfrt_execution_t* execution, const tfrt_wire_question_t* asked,
                                     tfrt_string_builder_t* out) {
  const tfrt_wire_ask_follow_t* question = &asked->follow;
  tfrt_node_t* node = execution->node;
  tfrt_detached_job_t* detached = NULL;
  tfrt_node_lock_tables(node);
  tfrt_answer_parts_t parts;
  tfrt_answer_parts_initialize(&parts, node, out);
  tfrt_status_t status = following_find(execution, question->job, &detached);
  if (!status) following_emit(detached, question->from, &parts);
  tfrt_status_t failure = tfrt_answer_parts_finish(&parts);
  tfrt_node_unlock(node);
  return status ? status : failure;
}

// --- Answers of earlier versions ---------------------------------------------------
//
// Versions before FEATURE_FOLLOW send a text in the built-in function FOLLOW (proto/call.proto):
//
//   detached state=running function=main results=0 from=0 next=2 more=0 lost=0
//   0 5
//   hello
//   1 0

static const char* const tfrt_following_states[] = {[TFRT_WIRE_DETACHED_RUNNING] = "running",
                                                    [TFRT_WIRE_DETACHED_STARTING] = "starting",
                                                    [TFRT_WIRE_DETACHED_ENDED] = "ended"};

static void following_text_write_head(const tfrt_wire_follow_part_t* follow,
                                      tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(
      out, "detached state=%s function=", tfrt_following_states[follow->state]);
  tfrt_plain_add_word(out, follow->function);
  tfrt_string_builder_append_format(
      out, " results=%u from=%" PRIu64 " next=%" PRIu64 " more=%d lost=%d\n", follow->results,
      follow->from, follow->next, follow->has_more, follow->is_loss);
}

// |*rest| bytes of the line before are still to come.
static void following_text_write_line(const tfrt_wire_line_part_t* line, uint32_t* rest,
                                      tfrt_string_builder_t* out) {
  if (*rest == 0) {
    tfrt_string_builder_append_format(out, "%u %" PRIu64 "\n", line->rank,
                                      (uint64_t)line->text.size + line->rest);
  }
  tfrt_string_builder_append_view(out, line->text);
  *rest = line->rest;
  if (*rest == 0) tfrt_string_builder_append_char(out, '\n');
}

// A text that parts are written to.
typedef struct tfrt_following_text_s {
  tfrt_string_builder_t* out;
  uint32_t rest;  // bytes of the line before that are still to come
} tfrt_following_text_t;

static tfrt_status_t following_text_write_part(void* self, const tfrt_wire_answer_part_t* part) {
  tfrt_following_text_t* text = self;
  if (part->kind == TFRT_WIRE_PART_FOLLOW) {
    following_text_write_head(&part->follow, text->out);
  } else if (part->kind == TFRT_WIRE_PART_LINE) {
    following_text_write_line(&part->line, &text->rest, text->out);
  }
  return tfrt_status_retain(tfrt_string_builder_status(text->out));
}

// Appends |answer|, of FollowPart and LineParts, to |out| as text.
static tfrt_status_t following_text_write(tfrt_string_view_t answer, tfrt_string_builder_t* out) {
  tfrt_following_text_t text = {.out = out};
  return tfrt_wire_answer_each(answer, following_text_write_part, &text);
}

static tfrt_status_t following_text_malformed(const char* what) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the host's answer about the job has no %s; run the same release "
                            "everywhere",
                            what);
}

// Takes what is before the first |separator| off |*text|, which loses both; all if there is none.
static tfrt_string_view_t following_text_cut(tfrt_string_view_t* text, char separator) {
  tfrt_string_view_t whole = *text;
  const char* end = whole.size > 0 ? memchr(whole.data, separator, whole.size) : NULL;
  size_t size = end ? (size_t)(end - whole.data) : whole.size;
  size_t behind = end ? size + 1 : size;
  *text = tfrt_string_view_make(whole.data + behind, whole.size - behind);
  return tfrt_string_view_make(whole.data, size);
}

// The property |name| of the line |line|; "" for none and for `-`.
static tfrt_string_view_t following_text_property(tfrt_string_view_t line, const char* name) {
  while (line.size > 0) {
    tfrt_string_view_t value = following_text_cut(&line, ' ');
    tfrt_string_view_t found = following_text_cut(&value, '=');
    if (!tfrt_string_view_equal(found, tfrt_string_view_of(name))) continue;
    if (!tfrt_string_view_equal(value, tfrt_string_view_of("-"))) return value;
  }
  return tfrt_string_view_of("");
}

// Sets |*out_number| to the number |name| of |line|, which is at most |limit|; false if it is none.
static bool following_text_number(tfrt_string_view_t line, const char* name, uint64_t limit,
                                  uint64_t* out_number) {
  return tfrt_number_text_parse_u64(following_text_property(line, name), out_number) &&
         *out_number <= limit;
}

static uint32_t following_text_state(tfrt_string_view_t name) {
  for (uint32_t i = 0; i < TFRT_ARRAY_SIZE(tfrt_following_states); ++i) {
    if (tfrt_string_view_equal(name, tfrt_string_view_of(tfrt_following_states[i]))) return i;
  }
  return TFRT_WIRE_DETACHED_RUNNING;
}

static tfrt_status_t following_text_read_head(tfrt_string_view_t line, tfrt_string_builder_t* out) {
  tfrt_string_view_t kind = following_text_cut(&line, ' ');
  uint64_t results = 0;
  uint64_t more = 0;
  uint64_t lost = 0;
  tfrt_wire_answer_part_t part = {.kind = TFRT_WIRE_PART_FOLLOW};
  tfrt_wire_follow_part_t* follow = &part.follow;
  if (!tfrt_string_view_equal(kind, tfrt_string_view_of("detached")) ||
      !following_text_number(line, "results", UINT32_MAX, &results) ||
      !following_text_number(line, "from", UINT64_MAX, &follow->from) ||
      !following_text_number(line, "next", UINT64_MAX, &follow->next) ||
      !following_text_number(line, "more", 1, &more) ||
      !following_text_number(line, "lost", 1, &lost)) {
    return following_text_malformed("state");
  }
  follow->state = following_text_state(following_text_property(line, "state"));
  follow->function = following_text_property(line, "function");
  follow->results = (uint32_t)results;
  follow->has_more = more != 0;
  follow->is_loss = lost != 0;
  return tfrt_wire_answer_append(&part, out);
}

// Takes a line off |*text| and appends its parts.
static tfrt_status_t following_text_read_line(tfrt_string_view_t* text,
                                              tfrt_string_builder_t* out) {
  uint64_t rank = 0;
  uint64_t size = 0;
  tfrt_string_view_t head = following_text_cut(text, '\n');
  tfrt_string_view_t first = following_text_cut(&head, ' ');
  if (!tfrt_number_text_parse_u64(first, &rank) || !tfrt_number_text_parse_u64(head, &size) ||
      rank > UINT32_MAX || size > UINT32_MAX || size >= text->size || text->data[size] != '\n') {
    return following_text_malformed("line where one was announced");
  }
  uint64_t at = 0;
  do {
    uint64_t left = size - at;
    uint64_t piece = left < TFRT_WIRE_MAX_LINE_SIZE ? left : TFRT_WIRE_MAX_LINE_SIZE;
    TFRT_RETURN_IF_ERROR(tfrt_wire_answer_append(
        &(tfrt_wire_answer_part_t){.kind = TFRT_WIRE_PART_LINE,
                                   .line = {.rank = (uint32_t)rank,
                                            .text = tfrt_string_view_make(text->data + at, piece),
                                            .rest = (uint32_t)(left - piece)}},
        out));
    at += piece;
  } while (at < size);
  *text = tfrt_string_view_make(text->data + size + 1, text->size - size - 1);
  return NULL;
}

// Appends the parts that |text| says to |out|.
static tfrt_status_t following_text_read(tfrt_string_view_t text, tfrt_string_builder_t* out) {
  TFRT_RETURN_IF_ERROR(following_text_read_head(following_text_cut(&text, '\n'), out));
  while (text.size > 0) TFRT_RETURN_IF_ERROR(following_text_read_line(&text, out));
  return NULL;
}

const tfrt_answerer_t tfrt_follow_answerer = {.kind = TFRT_WIRE_ASK_FOLLOW,
                                              .write = following_write,
                                              .plain_function = TFRT_WIRE_BUILTIN_FOLLOW,
                                              .write_plain = following_text_write};

// --- The answer to AskFollow -----------------------------------------------------

static tfrt_status_t following_malformed(void) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the host's answer about the job makes no sense; run the same release "
                            "everywhere");
}

// Sets |*out_follow|, whose function is in |arena|, to the FollowPart of |answer|.
static tfrt_status_t following_read_state(tfrt_string_view_t answer, tfrt_arena_t* arena,
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
  return following_malformed();
}

// A line whose pieces come.
typedef struct tfrt_following_line_s {
  tfrt_string_builder_t text;
  uint32_t rest;                     // bytes that are still to come
  tfrt_following_line_fn_t on_line;  // called for each line
  void* self;
} tfrt_following_line_t;

static tfrt_status_t following_take_part(void* self, const tfrt_wire_answer_part_t* part) {
  if (part->kind != TFRT_WIRE_PART_LINE) return NULL;
  tfrt_following_line_t* line = self;
  const tfrt_wire_line_part_t* piece = &part->line;
  bool is_first = line->rest == 0;
  bool fits = is_first || (uint64_t)piece->text.size + piece->rest == line->rest;
  if (!fits) return following_malformed();
  line->rest = piece->rest;
  if (is_first && piece->rest == 0) {
    line->on_line(line->self, piece->rank, piece->text);
    return NULL;
  }
  tfrt_string_builder_append_view(&line->text, piece->text);
  TFRT_RETURN_IF_ERROR(tfrt_status_retain(tfrt_string_builder_status(&line->text)));
  if (piece->rest > 0) return NULL;
  line->on_line(line->self, piece->rank, tfrt_string_builder_view(&line->text));
  tfrt_string_builder_clear(&line->text);
  return NULL;
}

// Calls |on_line| for each line of |answer|, its pieces put together.
static tfrt_status_t following_read_lines(tfrt_string_view_t answer,
                                          tfrt_following_line_fn_t on_line, void* self) {
  tfrt_following_line_t line = {.on_line = on_line, .self = self};
  tfrt_string_builder_initialize(&line.text, tfrt_allocator_system());
  tfrt_status_t status = tfrt_wire_answer_each(answer, following_take_part, &line);
  if (!status && line.rest > 0) status = following_malformed();
  tfrt_string_builder_deinitialize(&line.text);
  return status;
}

static tfrt_status_t following_read_parts(tfrt_string_view_t answer,
                                          const tfrt_following_reader_t* reader) {
  tfrt_wire_follow_part_t follow;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_status_t status = following_read_state(answer, &arena, &follow);
  if (!status) reader->on_state(reader->self, &follow);
  tfrt_arena_deinitialize(&arena);
  return status ? status : following_read_lines(answer, reader->on_line, reader->self);
}

tfrt_status_t tfrt_following_read(tfrt_answer_form_t form, tfrt_string_view_t answer,
                                  const tfrt_following_reader_t* reader) {
  if (form == TFRT_ANSWER_MESSAGE) return following_read_parts(answer, reader);
  tfrt_string_builder_t parts;
  tfrt_string_builder_initialize(&parts, tfrt_allocator_system());
  tfrt_status_t status = following_text_read(answer, &parts);
  if (!status) status = following_read_parts(tfrt_string_builder_view(&parts), reader);
  tfrt_string_builder_deinitialize(&parts);
  return status;
}

// --- AskKeptResult ---------------------------------------------------------------

// With the lock held.
static tfrt_status_t following_find_locked(const tfrt_execution_t* execution,
                                           const tfrt_wire_ask_kept_result_t* question,
                                           tfrt_async_value_t** out_value) {
  tfrt_detached_job_t* detached = NULL;
  TFRT_RETURN_IF_ERROR(following_find(execution, question->job, &detached));
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

static tfrt_status_t following_find_result(tfrt_execution_t* execution,
                                           const tfrt_wire_question_t* question,
                                           tfrt_async_value_t** out_value) {
  tfrt_node_lock_tables(execution->node);
  tfrt_status_t status = following_find_locked(execution, &question->kept_result, out_value);
  tfrt_node_unlock(execution->node);
  return status;
}

const tfrt_answerer_t tfrt_kept_result_answerer = {.kind = TFRT_WIRE_ASK_KEPT_RESULT,
                                                   .find = following_find_result,
                                                   .plain_function = TFRT_WIRE_BUILTIN_KEPT_RESULT};
