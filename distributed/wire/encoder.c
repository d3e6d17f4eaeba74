// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/encoder.h"

#include "distributed/wire/coding.h"

// Tables don't refer to themselves, so the recursions below end within a few levels.

static tfrt_status_t check_all(const tfrt_wire_message_t* message, const void* object) {
  TFRT_RETURN_IF_ERROR(tfrt_wire_message_check(message, object));
  for (size_t i = 0; i < message->field_count; ++i) {
    const tfrt_wire_field_t* field = &message->fields[i];
    if (field->type != TFRT_WIRE_FIELD_MESSAGE) continue;
    if (!tfrt_wire_field_is_present(message, field, object)) continue;
    size_t count = tfrt_wire_field_count(field, object);
    for (size_t k = 0; k < count; ++k) {
      tfrt_status_t status = check_all(field->message, tfrt_wire_field_element(field, object, k));
      if (status) return tfrt_status_take_annotate(status, "%s.%s", message->name, field->name);
    }
  }
  if (message->max_size == 0) return NULL;
  size_t size = tfrt_wire_encoded_size(message, object);
  if (size <= message->max_size) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s: %zu bytes when encoded, at most %zu are allowed", message->name,
                            size, message->max_size);
}

tfrt_status_t tfrt_wire_encode_check(const tfrt_wire_message_t* message, const void* object) {
  return check_all(message, object);
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

static uint8_t* write_message(uint8_t* position, const tfrt_wire_message_t* message,
                              const void* object);

static uint8_t* write_field(uint8_t* position, const tfrt_wire_field_t* field, const void* object) {
  uint64_t tag = tfrt_wire_tag(field->number, wire_type(field));
  if (field->type < TFRT_WIRE_FIELD_STRING) {
    uint64_t number = tfrt_wire_field_number(field, object);
    position = tfrt_wire_write_varint(position, tag);
    if (field->type == TFRT_WIRE_FIELD_FIXED32) {
      return tfrt_wire_write_fixed32(position, (uint32_t)number);
    }
    if (field->type == TFRT_WIRE_FIELD_FIXED64) return tfrt_wire_write_fixed64(position, number);
    return tfrt_wire_write_varint(position, number);
  }
  size_t count = tfrt_wire_field_count(field, object);
  for (size_t i = 0; i < count; ++i) {
    const void* element = tfrt_wire_field_element(field, object, i);
    position = tfrt_wire_write_varint(position, tag);
    if (field->type == TFRT_WIRE_FIELD_MESSAGE) {
      position = tfrt_wire_write_varint(position, element_size(field, element));
      position = write_message(position, field->message, element);
    } else {
      position = tfrt_wire_write_bytes(position, *(const tfrt_string_view_t*)element);
    }
  }
  return position;
}

static uint8_t* write_message(uint8_t* position, const tfrt_wire_message_t* message,
                              const void* object) {
  for (size_t i = 0; i < message->field_count; ++i) {
    const tfrt_wire_field_t* field = &message->fields[i];
    if (!tfrt_wire_field_is_present(message, field, object)) continue;
    position = write_field(position, field, object);
  }
  return position;
}

tfrt_status_t tfrt_wire_encode(const tfrt_wire_message_t* message, const void* object,
                               tfrt_string_builder_t* out) {
  TFRT_RETURN_IF_ERROR(check_all(message, object));
  size_t size = tfrt_wire_encoded_size(message, object);
  if (size == 0) return tfrt_string_builder_status(out);
  size_t begin = out->size;
  tfrt_string_builder_append_fill(out, 0, size);
  TFRT_RETURN_IF_ERROR(tfrt_string_builder_status(out));
  write_message((uint8_t*)out->data + begin, message, object);
  return NULL;
}
