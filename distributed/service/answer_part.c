// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/answer_part.h"

#include "distributed/wire/value.h"

// The arena keeps this much from part to part.
#define TFRT_ANSWER_PART_KEPT_SIZE 4096

void tfrt_answer_parts_initialize(tfrt_answer_parts_t* parts, tfrt_node_t* node,
                                  tfrt_string_builder_t* out) {
  *parts = (tfrt_answer_parts_t){.node = node, .out = out, .now_ns = tfrt_node_now_ns(node)};
  tfrt_arena_initialize(&parts->arena, node->options.allocator);
}

tfrt_status_t tfrt_answer_parts_finish(tfrt_answer_parts_t* parts) {
  tfrt_arena_deinitialize(&parts->arena);
  return parts->status;
}

void tfrt_answer_parts_emit(tfrt_answer_parts_t* parts, const tfrt_wire_answer_part_t* part) {
  if (!parts->status) parts->status = tfrt_wire_answer_append(part, parts->out);
  tfrt_arena_clear(&parts->arena, TFRT_ANSWER_PART_KEPT_SIZE);
}

void* tfrt_answer_parts_room(tfrt_answer_parts_t* parts, size_t count, size_t size) {
  void* room = tfrt_arena_allocate_array(&parts->arena, count, size);
  if (!room && !parts->status) parts->status = tfrt_status_out_of_memory();
  return room;
}

tfrt_string_view_t tfrt_answer_parts_job_id(const tfrt_answer_parts_t* parts) {
  if (!parts->job) return tfrt_string_view_of("");
  return tfrt_string_view_make((const char*)parts->job->identity.id, TFRT_WIRE_JOB_ID_SIZE);
}

static tfrt_string_view_t answer_parts_fit(tfrt_answer_parts_t* parts, tfrt_string_view_t text,
                                           size_t limit) {
  char* buffer = text.size > 0 ? tfrt_answer_parts_room(parts, 1, limit) : NULL;
  return buffer ? tfrt_wire_text_fit(text, buffer, limit) : tfrt_string_view_of("");
}

tfrt_string_view_t tfrt_answer_parts_view(tfrt_answer_parts_t* parts, tfrt_string_view_t text) {
  return answer_parts_fit(parts, text, TFRT_WIRE_MAX_NAME_SIZE);
}

tfrt_string_view_t tfrt_answer_parts_text(tfrt_answer_parts_t* parts, const char* text) {
  return tfrt_answer_parts_view(parts, tfrt_string_view_of(text ? text : ""));
}

uint64_t tfrt_answer_parts_age_us(const tfrt_answer_parts_t* parts, int64_t since_ns) {
  int64_t age_ns = since_ns > 0 ? parts->now_ns - since_ns : 0;
  return age_ns > 0 ? (uint64_t)age_ns / 1000 : 0;
}

const tfrt_wire_location_t* tfrt_answer_parts_place(tfrt_answer_parts_t* parts,
                                                    const tfrt_status_origin_t* place) {
  if (!place->file && !place->function) return NULL;
  tfrt_wire_location_t* location = tfrt_answer_parts_room(parts, 1, sizeof(*location));
  if (!location) return NULL;
  tfrt_string_view_t file = tfrt_string_view_of(place->file ? place->file : "");
  *location = (tfrt_wire_location_t){.function = tfrt_answer_parts_text(parts, place->function),
                                     .file = answer_parts_fit(parts, file, TFRT_WIRE_MAX_PATH_SIZE),
                                     .line = place->line,
                                     .column = place->column};
  return location;
}

tfrt_wire_value_info_t tfrt_answer_parts_value(tfrt_answer_parts_t* parts,
                                               tfrt_async_value_t* value) {
  tfrt_wire_value_info_t info = {.state = TFRT_WIRE_VALUE_WAITING};
  if (!value || !tfrt_async_value_is_available(value)) return info;
  info.state = tfrt_async_value_is_error(value) ? TFRT_WIRE_VALUE_ERROR : TFRT_WIRE_VALUE_READY;
  if (info.state == TFRT_WIRE_VALUE_ERROR) return info;
  tfrt_async_value_t* payload = tfrt_async_value_resolved(value);
  const tfrt_type_t* type = tfrt_type_get(payload->type_id);
  info.type =
      answer_parts_fit(parts, tfrt_string_view_of(type->name), TFRT_WIRE_MAX_TYPE_NAME_SIZE);
  tfrt_encoding_t encoding;
  if (!type->codec) return info;
  tfrt_status_t status = tfrt_type_encode(type, tfrt_async_value_payload(payload), &encoding);
  info.has_size = !status;
  if (!status) info.size = encoding.body_size;
  tfrt_status_release(status);
  return info;
}
