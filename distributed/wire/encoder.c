// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/encoder.h"

#include <string.h>

#include "distributed/wire/encoder_impl.h"

// Tables don't refer to themselves, so the recursions below end within a few levels.

static tfrt_status_t check_part(const tfrt_wire_message_t* message, const void* object);

// Checks what |object| consists of.
static tfrt_status_t check_parts(const tfrt_wire_message_t* message, const void* object) {
  TFRT_RETURN_IF_ERROR(tfrt_wire_message_check(message, object));
  for (size_t i = 0; i < message->field_count; ++i) {
    const tfrt_wire_field_t* field = &message->fields[i];
    if (field->type != TFRT_WIRE_FIELD_MESSAGE) continue;
    if (!tfrt_wire_field_is_present(message, field, object)) continue;
    size_t count = tfrt_wire_field_count(field, object);
    for (size_t k = 0; k < count; ++k) {
      tfrt_status_t status = check_part(field->message, tfrt_wire_field_element(field, object, k));
      if (status) return tfrt_status_take_annotate(status, "%s.%s", message->name, field->name);
    }
  }
  return NULL;
}

static tfrt_status_t check_size(const tfrt_wire_message_t* message, size_t size) {
  if (message->max_size == 0 || size <= message->max_size) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s: %zu bytes when encoded, at most %zu are allowed", message->name,
                            size, message->max_size);
}

static tfrt_status_t check_part(const tfrt_wire_message_t* message, const void* object) {
  TFRT_RETURN_IF_ERROR(check_parts(message, object));
  if (message->max_size == 0) return NULL;
  return check_size(message, tfrt_wire_encoded_size(message, object));
}

// Checks all of |object| and sets |*out_size| to its size when encoded.
static tfrt_status_t check_all(const tfrt_wire_message_t* message, const void* object,
                               size_t* out_size) {
  TFRT_RETURN_IF_ERROR(check_parts(message, object));
  *out_size = tfrt_wire_encoded_size(message, object);
  return check_size(message, *out_size);
}

tfrt_status_t tfrt_wire_encode_check(const tfrt_wire_message_t* message, const void* object) {
  size_t size = 0;
  return check_all(message, object, &size);
}

// The bytes of an element of a field with a length in front, without that length.
static size_t element_size(const tfrt_wire_field_t* field, const void* element) {
  if (field->type == TFRT_WIRE_FIELD_MESSAGE) {
    return tfrt_wire_encoded_size(field->message, element);
  }
  return ((const tfrt_string_view_t*)element)->size;
}

static size_t field_size(const tfrt_wire_field_t* field, const void* object) {
  const size_t tag_size = 1;
  if (field->type == TFRT_WIRE_FIELD_FIXED32) return tag_size + 4;
  if (field->type == TFRT_WIRE_FIELD_FIXED64) return tag_size + 8;
  if (field->type < TFRT_WIRE_FIELD_STRING) {
    return tag_size + tfrt_wire_varint_size(tfrt_wire_field_number(field, object));
  }
  size_t total = 0;
  size_t count = tfrt_wire_field_count(field, object);
  for (size_t i = 0; i < count; ++i) {
    size_t size = element_size(field, tfrt_wire_field_element(field, object, i));
    total += tag_size + tfrt_wire_varint_size(size) + size;
  }
  return total;
}

size_t tfrt_wire_encoded_size(const tfrt_wire_message_t* message, const void* object) {
  size_t size = 0;
  for (size_t i = 0; i < message->field_count; ++i) {
    const tfrt_wire_field_t* field = &message->fields[i];
    if (tfrt_wire_field_is_present(message, field, object)) size += field_size(field, object);
  }
  return size;
}

// --- Writing -------------------------------------------------------------------

// The one field that is set of |object|.
static bool write_oneof(tfrt_wire_writer_t* writer, const tfrt_wire_message_t* message,
                        const void* object) {
  uint32_t kind = tfrt_wire_oneof_kind(message, object);
  for (size_t i = 0; i < message->field_count; ++i) {
    const tfrt_wire_field_t* field = &message->fields[i];
    if (field->number != kind) continue;
    return tfrt_wire_field_is_present(message, field, object) &&
           tfrt_wire_write_field(writer, field, object);
  }
  return false;
}

bool tfrt_wire_write_any(tfrt_wire_writer_t* writer, const tfrt_wire_message_t* message,
                         const void* object) {
  const uint8_t* end = writer->position;
  if (message->is_oneof) {
    if (!write_oneof(writer, message, object)) return false;
  } else {
    for (size_t i = message->field_count; i > 0; --i) {
      if (!tfrt_wire_write_field(writer, &message->fields[i - 1], object)) return false;
    }
  }
  return tfrt_wire_write_end(writer, message, object, end);
}

// Appends |object| if it is good and fits into the room that |out| has, or into a little of the
// stack's.
static bool encode_into_room(const tfrt_wire_message_t* message, const void* object,
                             tfrt_string_builder_t* out) {
  uint8_t few[512];
  uint8_t* begin = few;
  uint8_t* end = few + sizeof(few);
  if (out->failed) return false;
  // One byte stays for the NUL behind.
  if (out->capacity > out->size + sizeof(few)) {
    begin = (uint8_t*)out->data + out->size;
    end = (uint8_t*)out->data + out->capacity - 1;
  }
  tfrt_wire_writer_t writer = {begin, end};
  bool is_written = tfrt_wire_write_message(&writer, message, object);
  if (!is_written && begin != few) *begin = '\0';
  if (!is_written) return false;
  size_t size = (size_t)(end - writer.position);
  if (begin == few) {
    tfrt_string_builder_append(out, writer.position, size);
    return !out->failed;
  }
  memmove(begin, writer.position, size);
  out->size += size;
  out->data[out->size] = '\0';
  return true;
}

tfrt_status_t tfrt_wire_encode(const tfrt_wire_message_t* message, const void* object,
                               tfrt_string_builder_t* out) {
  if (encode_into_room(message, object, out)) return NULL;
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(check_all(message, object, &size));
  size_t before = out->size;
  tfrt_string_builder_append_fill(out, 0, size);
  TFRT_RETURN_IF_ERROR(tfrt_string_builder_status(out));
  tfrt_wire_writer_t writer = {(uint8_t*)out->data + before, (uint8_t*)out->data + out->size};
  if (tfrt_wire_write_message(&writer, message, object)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "%s: was measured wrong", message->name);
}
