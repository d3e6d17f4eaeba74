// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/encoder.h"

#include <string.h>

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

// Where an object is written, from its end to its beginning: so the size of each part is known
// when its length is to be written in front of it, and nothing is measured first. What is written
// is checked on the way. Each function returns false when the room is used up, or when something
// breaks its row: then check_all() says what.
typedef struct writer_s {
  uint8_t* begin;
  uint8_t* position;
} writer_t;

static bool write_message(writer_t* writer, const tfrt_wire_message_t* message, const void* object);

static bool has_room(const writer_t* writer, size_t size) {
  return (size_t)(writer->position - writer->begin) >= size;
}

static bool write_varint(writer_t* writer, uint64_t value) {
  if (value < 0x80 && has_room(writer, 1)) {
    *--writer->position = (uint8_t)value;
    return true;
  }
  size_t size = tfrt_wire_varint_size(value);
  if (!has_room(writer, size)) return false;
  writer->position -= size;
  tfrt_wire_write_varint(writer->position, value);
  return true;
}

static bool write_bytes(writer_t* writer, const void* bytes, size_t size) {
  if (!has_room(writer, size)) return false;
  writer->position -= size;
  if (size > 0) memcpy(writer->position, bytes, size);
  return true;
}

static bool write_tag(writer_t* writer, const tfrt_wire_field_t* field) {
  if (!has_room(writer, 1)) return false;
  *--writer->position = field->tag;
  return true;
}

static bool write_number(writer_t* writer, const tfrt_wire_field_t* field, const void* object) {
  uint64_t number = tfrt_wire_field_number(field, object);
  if (number == 0) return !field->required;
  if (field->limit != 0 && number > field->limit) return false;
  bool is_fixed64 = field->type == TFRT_WIRE_FIELD_FIXED64;
  if (!is_fixed64 && field->type != TFRT_WIRE_FIELD_FIXED32) {
    return write_varint(writer, number) && write_tag(writer, field);
  }
  if (!has_room(writer, is_fixed64 ? 8 : 4)) return false;
  writer->position -= is_fixed64 ? 8 : 4;
  if (is_fixed64) {
    tfrt_wire_write_fixed64(writer->position, number);
  } else {
    tfrt_wire_write_fixed32(writer->position, (uint32_t)number);
  }
  return write_tag(writer, field);
}

static bool write_text(writer_t* writer, const tfrt_wire_field_t* field, const void* element) {
  const tfrt_string_view_t* text = element;
  if (!tfrt_wire_text_is_good(field, *text)) return false;
  // What is empty is not there, but as one of several.
  if (text->size == 0 && field->form == TFRT_WIRE_FORM_PLAIN) return !field->required;
  return write_bytes(writer, text->data, text->size) && write_varint(writer, text->size) &&
         write_tag(writer, field);
}

static bool write_part(writer_t* writer, const tfrt_wire_field_t* field, const void* element) {
  if (!element) return !field->required;
  const uint8_t* end = writer->position;
  return write_message(writer, field->message, element) &&
         write_varint(writer, (uint64_t)(end - writer->position)) && write_tag(writer, field);
}

static bool write_field(writer_t* writer, const tfrt_wire_field_t* field, const void* object) {
  if (field->type < TFRT_WIRE_FIELD_STRING) return write_number(writer, field, object);
  size_t count = tfrt_wire_field_count(field, object);
  bool is_repeated = field->form == TFRT_WIRE_FORM_REPEATED;
  if (is_repeated && (count > field->count_limit || (field->required && count == 0))) return false;
  bool is_part = field->type == TFRT_WIRE_FIELD_MESSAGE;
  for (size_t i = count; i > 0; --i) {
    const void* element = tfrt_wire_field_element(field, object, i - 1);
    if (is_part && element && !tfrt_wire_item_is_good(field, element)) return false;
    if (!(is_part ? write_part : write_text)(writer, field, element)) return false;
  }
  return true;
}

// The one field that is set of |object|.
static bool write_oneof(writer_t* writer, const tfrt_wire_message_t* message, const void* object) {
  uint32_t kind = tfrt_wire_oneof_kind(message, object);
  for (size_t i = 0; i < message->field_count; ++i) {
    const tfrt_wire_field_t* field = &message->fields[i];
    if (field->number != kind) continue;
    return tfrt_wire_field_is_present(message, field, object) && write_field(writer, field, object);
  }
  return false;
}

static bool is_good_as_a_whole(const tfrt_wire_message_t* message, const void* object) {
  if (message->is_oneof || !message->check) return true;
  tfrt_status_t status = message->check(object);
  bool is_good = tfrt_status_is_ok(status);
  tfrt_status_release(status);
  return is_good;
}

static bool write_message(writer_t* writer, const tfrt_wire_message_t* message,
                          const void* object) {
  const uint8_t* end = writer->position;
  if (message->is_oneof) {
    if (!write_oneof(writer, message, object)) return false;
  } else {
    for (size_t i = message->field_count; i > 0; --i) {
      if (!write_field(writer, &message->fields[i - 1], object)) return false;
    }
  }
  size_t size = (size_t)(end - writer->position);
  return (message->max_size == 0 || size <= message->max_size) &&
         is_good_as_a_whole(message, object);
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
  writer_t writer = {begin, end};
  bool is_written = write_message(&writer, message, object);
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
  writer_t writer = {(uint8_t*)out->data + before, (uint8_t*)out->data + out->size};
  if (write_message(&writer, message, object)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "%s: was measured wrong", message->name);
}
