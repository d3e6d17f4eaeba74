// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/plain_following.h"

#include <inttypes.h>
#include <string.h>

#include "host_runtime/base/number_text.h"

// The arena keeps this much from part to part.
#define TFRT_PLAIN_KEPT_SIZE 4096

static const char* const tfrt_plain_detached_states[] = {[TFRT_WIRE_DETACHED_RUNNING] = "running",
                                                         [TFRT_WIRE_DETACHED_STARTING] = "starting",
                                                         [TFRT_WIRE_DETACHED_ENDED] = "ended"};

// --- Parts to text ---------------------------------------------------------------

static void tfrt_plain_following_write_head(const tfrt_wire_follow_part_t* follow,
                                            tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(
      out, "detached state=%s function=", tfrt_plain_detached_states[follow->state]);
  tfrt_plain_add_word(out, follow->function);
  tfrt_string_builder_append_format(
      out, " results=%u from=%" PRIu64 " next=%" PRIu64 " more=%d lost=%d\n", follow->results,
      follow->from, follow->next, follow->has_more, follow->is_loss);
}

// |*rest| bytes of the line before are still to come.
static void tfrt_plain_following_write_line(const tfrt_wire_line_part_t* line, uint32_t* rest,
                                            tfrt_string_builder_t* out) {
  if (*rest == 0) {
    tfrt_string_builder_append_format(out, "%u %" PRIu64 "\n", line->rank,
                                      (uint64_t)line->text.size + line->rest);
  }
  tfrt_string_builder_append_view(out, line->text);
  *rest = line->rest;
  if (*rest == 0) tfrt_string_builder_append_char(out, '\n');
}

tfrt_status_t tfrt_plain_following_write(tfrt_string_view_t answer, tfrt_string_builder_t* out) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  tfrt_status_t status = NULL;
  uint32_t rest = 0;
  while (answer.size > 0 && !status) {
    tfrt_wire_answer_part_t part;
    status = tfrt_wire_answer_next(&answer, &arena, &part);
    if (!status && part.kind == TFRT_WIRE_PART_FOLLOW) {
      tfrt_plain_following_write_head(&part.follow, out);
    } else if (!status && part.kind == TFRT_WIRE_PART_LINE) {
      tfrt_plain_following_write_line(&part.line, &rest, out);
    }
    tfrt_arena_clear(&arena, TFRT_PLAIN_KEPT_SIZE);
  }
  tfrt_arena_deinitialize(&arena);
  return status ? status : tfrt_status_retain(tfrt_string_builder_status(out));
}

// --- Text to parts ---------------------------------------------------------------

static tfrt_status_t tfrt_plain_following_malformed(const char* what) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "the host's answer about the job has no %s; run the same release "
                            "everywhere",
                            what);
}

// Takes what is before the first |separator| off |*text|, which loses both; all if there is none.
static tfrt_string_view_t tfrt_plain_following_cut(tfrt_string_view_t* text, char separator) {
  tfrt_string_view_t whole = *text;
  const char* end = whole.size > 0 ? memchr(whole.data, separator, whole.size) : NULL;
  size_t size = end ? (size_t)(end - whole.data) : whole.size;
  size_t behind = end ? size + 1 : size;
  *text = tfrt_string_view_make(whole.data + behind, whole.size - behind);
  return tfrt_string_view_make(whole.data, size);
}

// The property |name| of the line |line|; "" for none and for `-`.
static tfrt_string_view_t tfrt_plain_following_property(tfrt_string_view_t line, const char* name) {
  while (line.size > 0) {
    tfrt_string_view_t value = tfrt_plain_following_cut(&line, ' ');
    tfrt_string_view_t found = tfrt_plain_following_cut(&value, '=');
    if (!tfrt_string_view_equal(found, tfrt_string_view_of(name))) continue;
    if (!tfrt_string_view_equal(value, tfrt_string_view_of("-"))) return value;
  }
  return tfrt_string_view_of("");
}

// Sets |*out_number| to the number |name| of |line|, which is at most |limit|; false if it is none.
static bool tfrt_plain_following_number(tfrt_string_view_t line, const char* name, uint64_t limit,
                                        uint64_t* out_number) {
  return tfrt_number_text_parse_u64(tfrt_plain_following_property(line, name), out_number) &&
         *out_number <= limit;
}

static uint32_t tfrt_plain_following_state(tfrt_string_view_t name) {
  for (uint32_t i = 0; i < TFRT_ARRAY_SIZE(tfrt_plain_detached_states); ++i) {
    if (tfrt_string_view_equal(name, tfrt_string_view_of(tfrt_plain_detached_states[i]))) return i;
  }
  return TFRT_WIRE_DETACHED_RUNNING;
}

static tfrt_status_t tfrt_plain_following_read_head(tfrt_string_view_t line,
                                                    tfrt_string_builder_t* out) {
  tfrt_string_view_t kind = tfrt_plain_following_cut(&line, ' ');
  uint64_t results = 0;
  uint64_t more = 0;
  uint64_t lost = 0;
  tfrt_wire_answer_part_t part = {.kind = TFRT_WIRE_PART_FOLLOW};
  tfrt_wire_follow_part_t* follow = &part.follow;
  if (!tfrt_string_view_equal(kind, tfrt_string_view_of("detached")) ||
      !tfrt_plain_following_number(line, "results", UINT32_MAX, &results) ||
      !tfrt_plain_following_number(line, "from", UINT64_MAX, &follow->from) ||
      !tfrt_plain_following_number(line, "next", UINT64_MAX, &follow->next) ||
      !tfrt_plain_following_number(line, "more", 1, &more) ||
      !tfrt_plain_following_number(line, "lost", 1, &lost)) {
    return tfrt_plain_following_malformed("state");
  }
  follow->state = tfrt_plain_following_state(tfrt_plain_following_property(line, "state"));
  follow->function = tfrt_plain_following_property(line, "function");
  follow->results = (uint32_t)results;
  follow->has_more = more != 0;
  follow->is_loss = lost != 0;
  return tfrt_wire_answer_append(&part, out);
}

// Takes a line off |*text| and appends its parts.
static tfrt_status_t tfrt_plain_following_read_line(tfrt_string_view_t* text,
                                                    tfrt_string_builder_t* out) {
  uint64_t rank = 0;
  uint64_t size = 0;
  tfrt_string_view_t head = tfrt_plain_following_cut(text, '\n');
  tfrt_string_view_t first = tfrt_plain_following_cut(&head, ' ');
  if (!tfrt_number_text_parse_u64(first, &rank) || !tfrt_number_text_parse_u64(head, &size) ||
      rank > UINT32_MAX || size > UINT32_MAX || size >= text->size || text->data[size] != '\n') {
    return tfrt_plain_following_malformed("line where one was announced");
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

tfrt_status_t tfrt_plain_following_read(tfrt_string_view_t text, tfrt_string_builder_t* out) {
  TFRT_RETURN_IF_ERROR(tfrt_plain_following_read_head(tfrt_plain_following_cut(&text, '\n'), out));
  while (text.size > 0) TFRT_RETURN_IF_ERROR(tfrt_plain_following_read_line(&text, out));
  return NULL;
}
