// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/decoder.h"

#include <inttypes.h>
#include <string.h>

#include "distributed/wire/decoder_impl.h"

tfrt_status_t tfrt_wire_error_of_size(const tfrt_wire_message_t* message, size_t size) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s: %zu bytes, at most %zu are allowed",
                            message->name, size, message->max_size);
}

tfrt_status_t tfrt_wire_malformed(const tfrt_wire_message_t* message,
                                  const tfrt_wire_field_t* field) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s%s%s: cut off or malformed",
                            message->name, field ? "." : "", field ? field->name : "");
}

tfrt_status_t tfrt_wire_error_of_width(const tfrt_wire_decoding_t* decoding,
                                       const tfrt_wire_field_t* field, uint64_t number) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s.%s: %" PRIu64 " doesn't fit into 32 bits", decoding->message->name,
                            field->name, number);
}

tfrt_status_t tfrt_wire_error_of_place(const tfrt_wire_decoding_t* decoding,
                                       const tfrt_wire_field_t* field, bool again) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s.%s: %s", decoding->message->name,
                            field->name, again ? "comes twice" : "another one is set already");
}

static tfrt_status_t out_of_memory(const tfrt_wire_decoding_t* decoding) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "%s: no memory left to decode it",
                            decoding->message->name);
}

// Sets a member that is a pointer, to whatever struct: by its bytes, as schema.c reads it.
static void store_pointer(void* member, const void* pointer) {
  memcpy(member, &pointer, sizeof(pointer));
}

tfrt_status_t tfrt_wire_read_count(tfrt_wire_decoding_t* decoding, const tfrt_wire_field_t* field,
                                   size_t element_size) {
  tfrt_wire_reader_t ahead = decoding->reader;
  size_t count = 1;
  tfrt_string_view_t content;
  if (!tfrt_wire_read_bytes(&ahead, &content)) {
    return tfrt_wire_malformed(decoding->message, field);
  }
  while (!tfrt_wire_reader_is_done(&ahead)) {
    uint32_t number, type;
    bool is_another = *ahead.position == field->tag;
    if (is_another) {
      ++ahead.position;
      if (!tfrt_wire_read_bytes(&ahead, &content)) {
        return tfrt_wire_malformed(decoding->message, field);
      }
    } else if (!tfrt_wire_read_tag(&ahead, &number, &type) || !tfrt_wire_skip(&ahead, type)) {
      return tfrt_wire_malformed(decoding->message, NULL);
    }
    count += is_another;
  }
  if (count > field->count_limit) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s.%s: %zu elements, at most %u are allowed",
                              decoding->message->name, field->name, count, field->count_limit);
  }
  void* elements = tfrt_arena_allocate_array(decoding->arena, count, element_size);
  if (!elements) return out_of_memory(decoding);
  store_pointer(decoding->object + field->offset, elements);
  return NULL;
}

tfrt_status_t tfrt_wire_read_pointer(tfrt_wire_decoding_t* decoding, const tfrt_wire_field_t* field,
                                     size_t size, void** out_element) {
  *out_element = tfrt_arena_allocate(decoding->arena, size);
  if (!*out_element) return out_of_memory(decoding);
  store_pointer(decoding->object + field->offset, *out_element);
  return NULL;
}

// The row of field |number|, or NULL.
static const tfrt_wire_field_t* find_field(const tfrt_wire_message_t* message, uint32_t number) {
  for (size_t i = 0; i < message->field_count; ++i) {
    if (message->fields[i].number == number) return &message->fields[i];
  }
  return NULL;
}

// Takes a tag that is not that of one of the rows from |decoding->row| on: of a field out of order,
// an unknown one, which is passed over, or none. Sets |*out_field|, or to NULL.
static TFRT_COLD tfrt_status_t next_other_field(tfrt_wire_decoding_t* decoding,
                                                const tfrt_wire_field_t** out_field) {
  const tfrt_wire_message_t* message = decoding->message;
  *out_field = NULL;
  uint32_t number, type;
  if (!tfrt_wire_read_tag(&decoding->reader, &number, &type)) {
    return tfrt_wire_malformed(message, NULL);
  }
  const tfrt_wire_field_t* field = find_field(message, number);
  if (!field) {
    return tfrt_wire_skip(&decoding->reader, type) ? NULL : tfrt_wire_malformed(message, NULL);
  }
  if ((field->tag & 7) != type) return tfrt_wire_malformed(message, field);
  *out_field = field;
  return NULL;
}

// Behind the last row; a message without fields has none.
static inline const tfrt_wire_field_t* end_of_rows(const tfrt_wire_message_t* message) {
  return message->fields ? message->fields + message->field_count : NULL;
}

// Takes the tag that comes next. Senders write fields by rising number, and tags rise with them, so
// its row is mostly one of the next ones.
static inline tfrt_status_t next_field(tfrt_wire_decoding_t* decoding,
                                       const tfrt_wire_field_t** out_field) {
  const tfrt_wire_message_t* message = decoding->message;
  const tfrt_wire_field_t* end = end_of_rows(message);
  const tfrt_wire_field_t* row = decoding->row;
  uint8_t tag = *decoding->reader.position;
  for (; row < end && row->tag < tag; ++row) decoding->may_lack |= tfrt_wire_is_missed(row);
  if (row == end || row->tag != tag) return next_other_field(decoding, out_field);
  ++decoding->reader.position;
  decoding->row = row->form == TFRT_WIRE_FORM_REPEATED ? row : row + 1;
  *out_field = row;
  return NULL;
}

// Finishes an absent field: a required struct within the struct is an error, an ENUM gets its
// fallback.
static tfrt_status_t finish_absent(tfrt_wire_decoding_t* decoding, const tfrt_wire_field_t* field) {
  if (field->type == TFRT_WIRE_FIELD_MESSAGE && field->required) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s.%s: missing",
                              decoding->message->name, field->name);
  }
  if (field->type == TFRT_WIRE_FIELD_ENUM) {
    *(uint32_t*)(decoding->object + field->offset) = field->fallback;
  } else if (field->required || field->exact) {
    decoding->is_doubtful = true;
  }
  return NULL;
}

static tfrt_status_t finish_fields(tfrt_wire_decoding_t* decoding) {
  const tfrt_wire_message_t* message = decoding->message;
  const tfrt_wire_field_t* end = end_of_rows(message);
  if (message->is_oneof) return NULL;
  for (const tfrt_wire_field_t* row = decoding->row; row < end; ++row) {
    decoding->may_lack |= tfrt_wire_is_missed(row);
  }
  if (!decoding->may_lack) return NULL;
  for (const tfrt_wire_field_t* row = message->fields; row < end; ++row) {
    if ((decoding->seen >> row->number & 1) != 0) continue;
    TFRT_RETURN_IF_ERROR(finish_absent(decoding, row));
  }
  return NULL;
}

// Checks the whole object if a field was doubtful, and the rules across several fields.
static tfrt_status_t check_object(const tfrt_wire_decoding_t* decoding) {
  const tfrt_wire_message_t* message = decoding->message;
  bool is_empty_oneof = message->is_oneof && decoding->seen == 0;
  if (decoding->is_doubtful || is_empty_oneof) {
    return tfrt_wire_message_check(message, decoding->object);
  }
  return message->check && !message->is_oneof ? message->check(decoding->object) : NULL;
}

tfrt_status_t tfrt_wire_read_rest(tfrt_wire_decoding_t* decoding) {
  while (!tfrt_wire_reader_is_done(&decoding->reader)) {
    const tfrt_wire_field_t* field = NULL;
    TFRT_RETURN_IF_ERROR(next_field(decoding, &field));
    if (!field) continue;
    TFRT_RETURN_IF_ERROR(tfrt_wire_note_field(decoding, decoding->message, field));
    TFRT_RETURN_IF_ERROR(tfrt_wire_read_content(decoding, field));
  }
  TFRT_RETURN_IF_ERROR(finish_fields(decoding));
  return check_object(decoding);
}

tfrt_status_t tfrt_wire_read_any(const tfrt_wire_message_t* message, uint32_t item_kinds,
                                 tfrt_string_view_t bytes, tfrt_arena_t* arena, void* object) {
  if (message->max_size != 0 && bytes.size > message->max_size) {
    return tfrt_wire_error_of_size(message, bytes.size);
  }
  tfrt_wire_decoding_t decoding =
      tfrt_wire_decoding_make(message, item_kinds, bytes, arena, object, message->fields);
  return tfrt_wire_read_rest(&decoding);
}

tfrt_status_t tfrt_wire_decode(const tfrt_wire_message_t* message, tfrt_string_view_t bytes,
                               tfrt_arena_t* arena, void* out_object) {
  memset(out_object, 0, message->struct_size);
  tfrt_status_t status = tfrt_wire_read_message(message, 0, bytes, arena, out_object);
  if (status) memset(out_object, 0, message->struct_size);
  return status;
}
