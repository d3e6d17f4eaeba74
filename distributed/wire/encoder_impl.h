// SPDX-License-Identifier: Apache-2.0
//
// The walk that writes an object by its table. encoder.c has it for any table. The sources with
// tables of frequent messages have copies of their own: TFRT_WIRE_WALKS() in walks.h makes the
// compiler put the rows of one table into a copy. Private to this folder.
//
// An object is written from its end to its beginning. So the size of each part is known when its
// length is written in front of it, and nothing is measured first. The walk checks what it writes.
//
// Thread rule: thread-safe as long as the caller owns the writer.
// Failure rule: each function returns false when the room is used up, or when something breaks its
// row; tfrt_wire_encode_check() says what.
#ifndef TFRT_DISTRIBUTED_WIRE_ENCODER_IMPL_H_
#define TFRT_DISTRIBUTED_WIRE_ENCODER_IMPL_H_

#include "distributed/wire/schema.h"

// Where an object is written.
struct tfrt_wire_writer_s {
  uint8_t* begin;
  uint8_t* position;
};

// The walk for any table.
bool tfrt_wire_write_any(tfrt_wire_writer_t* writer, const tfrt_wire_message_t* message,
                         const void* object);

TFRT_ALWAYS_INLINE bool tfrt_wire_has_room(const tfrt_wire_writer_t* writer, size_t size) {
  return (size_t)(writer->position - writer->begin) >= size;
}

TFRT_ALWAYS_INLINE bool tfrt_wire_put_varint(tfrt_wire_writer_t* writer, uint64_t value) {
  if (value < 0x80 && tfrt_wire_has_room(writer, 1)) {
    *--writer->position = (uint8_t)value;
    return true;
  }
  size_t size = tfrt_wire_varint_size(value);
  if (!tfrt_wire_has_room(writer, size)) return false;
  writer->position -= size;
  tfrt_wire_write_varint(writer->position, value);
  return true;
}

TFRT_ALWAYS_INLINE bool tfrt_wire_put_bytes(tfrt_wire_writer_t* writer, const void* bytes,
                                            size_t size) {
  if (!tfrt_wire_has_room(writer, size)) return false;
  writer->position -= size;
  if (size > 0) memcpy(writer->position, bytes, size);
  return true;
}

TFRT_ALWAYS_INLINE bool tfrt_wire_put_tag(tfrt_wire_writer_t* writer,
                                          const tfrt_wire_field_t* field) {
  if (!tfrt_wire_has_room(writer, 1)) return false;
  *--writer->position = field->tag;
  return true;
}

TFRT_ALWAYS_INLINE bool tfrt_wire_write_number(tfrt_wire_writer_t* writer,
                                               const tfrt_wire_field_t* field, const void* object) {
  uint64_t number = tfrt_wire_field_number(field, object);
  if (number == 0) return !field->required;
  if (field->limit != 0 && number > field->limit) return false;
  bool is_fixed64 = field->type == TFRT_WIRE_FIELD_FIXED64;
  if (!is_fixed64 && field->type != TFRT_WIRE_FIELD_FIXED32) {
    return tfrt_wire_put_varint(writer, number) && tfrt_wire_put_tag(writer, field);
  }
  if (!tfrt_wire_has_room(writer, is_fixed64 ? 8 : 4)) return false;
  writer->position -= is_fixed64 ? 8 : 4;
  if (is_fixed64) {
    tfrt_wire_write_fixed64(writer->position, number);
  } else {
    tfrt_wire_write_fixed32(writer->position, (uint32_t)number);
  }
  return tfrt_wire_put_tag(writer, field);
}

TFRT_ALWAYS_INLINE bool tfrt_wire_write_text(tfrt_wire_writer_t* writer,
                                             const tfrt_wire_field_t* field, const void* element) {
  const tfrt_string_view_t* text = element;
  if (!tfrt_wire_text_is_good(field, *text)) return false;
  // An empty PLAIN field is absent on the wire; fields of other forms are written even when empty.
  if (text->size == 0 && field->form == TFRT_WIRE_FORM_PLAIN) return !field->required;
  return tfrt_wire_put_bytes(writer, text->data, text->size) &&
         tfrt_wire_put_varint(writer, text->size) && tfrt_wire_put_tag(writer, field);
}

// Writes |object| by |message|'s own walk, if there is one.
TFRT_ALWAYS_INLINE bool tfrt_wire_write_message(tfrt_wire_writer_t* writer,
                                                const tfrt_wire_message_t* message,
                                                const void* object) {
  return message->write ? message->write(writer, object)
                        : tfrt_wire_write_any(writer, message, object);
}

TFRT_ALWAYS_INLINE bool tfrt_wire_write_part(tfrt_wire_writer_t* writer,
                                             const tfrt_wire_field_t* field, const void* element) {
  if (!element) return !field->required;
  if (!tfrt_wire_item_is_good(field, element)) return false;
  const uint8_t* end = writer->position;
  return tfrt_wire_write_message(writer, field->message, element) &&
         tfrt_wire_put_varint(writer, (uint64_t)(end - writer->position)) &&
         tfrt_wire_put_tag(writer, field);
}

TFRT_ALWAYS_INLINE bool tfrt_wire_write_field(tfrt_wire_writer_t* writer,
                                              const tfrt_wire_field_t* field, const void* object) {
  if (field->type < TFRT_WIRE_FIELD_STRING) return tfrt_wire_write_number(writer, field, object);
  size_t count = tfrt_wire_field_count(field, object);
  bool is_repeated = field->form == TFRT_WIRE_FORM_REPEATED;
  if (is_repeated && (count > field->count_limit || (field->required && count == 0))) return false;
  for (size_t i = count; i > 0; --i) {
    const void* element = tfrt_wire_field_element(field, object, i - 1);
    bool is_written = field->type == TFRT_WIRE_FIELD_MESSAGE
                          ? tfrt_wire_write_part(writer, field, element)
                          : tfrt_wire_write_text(writer, field, element);
    if (!is_written) return false;
  }
  return true;
}

// Checks the message as a whole once all fields are written; its bytes end at |end|.
TFRT_ALWAYS_INLINE bool tfrt_wire_write_end(const tfrt_wire_writer_t* writer,
                                            const tfrt_wire_message_t* message, const void* object,
                                            const uint8_t* end) {
  if (message->max_size != 0 && (size_t)(end - writer->position) > message->max_size) return false;
  if (message->is_oneof || !message->check) return true;
  tfrt_status_t status = message->check(object);
  bool is_good = tfrt_status_is_ok(status);
  tfrt_status_release(status);
  return is_good;
}

#endif  // TFRT_DISTRIBUTED_WIRE_ENCODER_IMPL_H_
