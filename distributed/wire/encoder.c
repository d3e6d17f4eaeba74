// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/encoder.h"

#include <string.h>

#include "distributed/wire/coding.h"

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

static tfrt_wire_type_t wire_type(const tfrt_wire_field_t* field) {
  if (field->type >= TFRT_WIRE_FIELD_STRING) return TFRT_WIRE_TYPE_BYTES;
  if (field->type == TFRT_WIRE_FIELD_FIXED32) return TFRT_WIRE_TYPE_FIXED32;
  if (field->type == TFRT_WIRE_FIELD_FIXED64) return TFRT_WIRE_TYPE_FIXED64;
  return TFRT_WIRE_TYPE_VARINT;
}

// The bytes of an element of a field with a length in front, without that length.
static size_t element_size(const tfrt_wire_field_t* field, const void* element) {
  if (field->type == TFRT_WIRE_FIELD_MESSAGE) {
    return tfrt_wire_encoded_size(field->message, element);
  }
  return ((const tfrt_string_view_t*)element)->size;
}

static size_t field_size(const tfrt_wire_field_t* field, const void* object) {
  size_t tag_size = tfrt_wire_varint_size(tfrt_wire_tag(field->number, wire_type(field)));
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

// Messages are written from their end to their beginning: so the size of each part is known when
// its length is to be written in front of it, and nothing is measured twice.

static uint8_t* write_message(uint8_t* end, const tfrt_wire_message_t* message, const void* object);

// Writes |value| so that it ends at |end|; returns where it begins, like all that follow.
static uint8_t* write_varint(uint8_t* end, uint64_t value) {
  uint8_t* position = end - tfrt_wire_varint_size(value);
  tfrt_wire_write_varint(position, value);
  return position;
}

static uint8_t* write_number(uint8_t* end, const tfrt_wire_field_t* field, const void* object) {
  uint64_t number = tfrt_wire_field_number(field, object);
  if (field->type == TFRT_WIRE_FIELD_FIXED32) {
    tfrt_wire_write_fixed32(end - 4, (uint32_t)number);
    return end - 4;
  }
  if (field->type == TFRT_WIRE_FIELD_FIXED64) {
    tfrt_wire_write_fixed64(end - 8, number);
    return end - 8;
  }
  return write_varint(end, number);
}

static uint8_t* write_element(uint8_t* end, const tfrt_wire_field_t* field, const void* element) {
  if (field->type == TFRT_WIRE_FIELD_MESSAGE) {
    uint8_t* position = write_message(end, field->message, element);
    return write_varint(position, (uint64_t)(end - position));
  }
  const tfrt_string_view_t* text = element;
  uint8_t* position = end - text->size;
  if (text->size > 0) memcpy(position, text->data, text->size);
  return write_varint(position, text->size);
}

static uint8_t* write_field(uint8_t* end, const tfrt_wire_field_t* field, const void* object) {
  uint64_t tag = tfrt_wire_tag(field->number, wire_type(field));
  if (field->type < TFRT_WIRE_FIELD_STRING) {
    return write_varint(write_number(end, field, object), tag);
  }
  for (size_t i = tfrt_wire_field_count(field, object); i > 0; --i) {
    end = write_element(end, field, tfrt_wire_field_element(field, object, i - 1));
    end = write_varint(end, tag);
  }
  return end;
}

static uint8_t* write_message(uint8_t* end, const tfrt_wire_message_t* message,
                              const void* object) {
  for (size_t i = message->field_count; i > 0; --i) {
    const tfrt_wire_field_t* field = &message->fields[i - 1];
    if (tfrt_wire_field_is_present(message, field, object)) end = write_field(end, field, object);
  }
  return end;
}

tfrt_status_t tfrt_wire_encode(const tfrt_wire_message_t* message, const void* object,
                               tfrt_string_builder_t* out) {
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(check_all(message, object, &size));
  if (size == 0) return tfrt_string_builder_status(out);
  tfrt_string_builder_append_fill(out, 0, size);
  TFRT_RETURN_IF_ERROR(tfrt_string_builder_status(out));
  write_message((uint8_t*)out->data + out->size, message, object);
  return NULL;
}
