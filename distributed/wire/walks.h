// SPDX-License-Identifier: Apache-2.0
//
// The walks that write and read an object by its table: for any table (codec.c), and made for one
// message. The messages of a call and its answer are written and read for each call, and a general
// walk spends most of that time on reading the rows. Where the table is a constant in the same
// source, the compiler knows the rows, and the same walk becomes the few instructions that each
// field needs. Private to this folder.
//
//   extern const tfrt_wire_message_t stem_message;    or static
//   TFRT_WIRE_WALKS(stem)
//   const tfrt_wire_message_t stem_message =
//       TFRT_WIRE_MESSAGE("Stem", ..., TFRT_WIRE_WALKED(stem));
//
// Bytes, structs and errors are those of the walk for any table; round_trip_test.c compares them.
//
// Thread rule: thread-safe as long as the caller owns writer and arena.
// Failure rule: as codec.h says. A writing function returns false when the room is used up, or when
// something breaks its row; tfrt_wire_encode_check() says what.
#ifndef TFRT_DISTRIBUTED_WIRE_WALKS_H_
#define TFRT_DISTRIBUTED_WIRE_WALKS_H_

#include "distributed/wire/codec.h"
#include "host_runtime/base/arena.h"

// --- Writing ---------------------------------------------------------------------

// An object is written from its end to its beginning. So the size of each part is known when its
// length is written in front of it, and nothing is measured first. The walk checks what it writes.

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

// --- Reading ---------------------------------------------------------------------

// One message on its way from bytes to its struct.
typedef struct tfrt_wire_decoding_s {
  const tfrt_wire_message_t* message;
  tfrt_wire_reader_t reader;
  tfrt_arena_t* arena;
  char* object;
  uint32_t item_kinds;           // which fields of a oneof may be set, by bits; 0: any
  const tfrt_wire_field_t* row;  // of the field that most likely comes next, or one before it
  uint32_t seen;                 // bit n: field n has come
  bool may_lack;                 // a row was passed that means something when its field is absent
  bool is_doubtful;              // something may break its row: all of them are to be checked
} tfrt_wire_decoding_t;

// Before the first byte of |bytes|; |row| is expected next.
TFRT_ALWAYS_INLINE tfrt_wire_decoding_t tfrt_wire_decoding_make(const tfrt_wire_message_t* message,
                                                                uint32_t item_kinds,
                                                                tfrt_string_view_t bytes,
                                                                tfrt_arena_t* arena, void* object,
                                                                const tfrt_wire_field_t* row) {
  return (tfrt_wire_decoding_t){
      .message = message,
      .reader = tfrt_wire_reader_make(bytes),
      .arena = arena,
      .object = object,
      .item_kinds = item_kinds,
      .row = row,
  };
}

// The walk for any table; |object| is zero.
tfrt_status_t tfrt_wire_read_any(const tfrt_wire_message_t* message, uint32_t item_kinds,
                                 tfrt_string_view_t bytes, tfrt_arena_t* arena, void* object);

// The part of it that comes behind |decoding->row|, and the checks when all is read.
tfrt_status_t tfrt_wire_read_rest(tfrt_wire_decoding_t* decoding);

// That |message| has more than |bytes.size| may be; that it, or its |field| (NULL: none), is cut
// off; that |number| is too large for |field|; that |field| comes where it may not.
TFRT_COLD tfrt_status_t tfrt_wire_error_of_size(const tfrt_wire_message_t* message, size_t size);
TFRT_COLD tfrt_status_t tfrt_wire_malformed(const tfrt_wire_message_t* message,
                                            const tfrt_wire_field_t* field);
TFRT_COLD tfrt_status_t tfrt_wire_error_of_width(const tfrt_wire_decoding_t* decoding,
                                                 const tfrt_wire_field_t* field, uint64_t number);
TFRT_COLD tfrt_status_t tfrt_wire_error_of_place(const tfrt_wire_decoding_t* decoding,
                                                 const tfrt_wire_field_t* field, bool again);

// Counts the elements of the repeated |field|, when the content of its first element comes next.
// Makes room for all elements, of |element_size| each.
tfrt_status_t tfrt_wire_read_count(tfrt_wire_decoding_t* decoding, const tfrt_wire_field_t* field,
                                   size_t element_size);

// Sets |*out_element| to zeroed storage, of |size|, for what |field| points to.
tfrt_status_t tfrt_wire_read_pointer(tfrt_wire_decoding_t* decoding, const tfrt_wire_field_t* field,
                                     size_t size, void** out_element);

// Stores |number| in the struct's member of |field|; false if it doesn't fit there.
TFRT_ALWAYS_INLINE bool tfrt_wire_store_number(const tfrt_wire_field_t* field, uint64_t number,
                                               void* out_value) {
  if (field->type == TFRT_WIRE_FIELD_UINT64 || field->type == TFRT_WIRE_FIELD_FIXED64) {
    *(uint64_t*)out_value = number;
    return true;
  }
  if (field->type == TFRT_WIRE_FIELD_BOOL) {
    *(bool*)out_value = number != 0;
    return true;
  }
  // 0 in an ENUM means that it is absent.
  bool is_unknown = number == 0 || number > field->limit;
  if (field->type == TFRT_WIRE_FIELD_ENUM && is_unknown) number = field->fallback;
  *(uint32_t*)out_value = (uint32_t)number;
  return number <= UINT32_MAX;
}

TFRT_ALWAYS_INLINE bool tfrt_wire_take_number(tfrt_wire_reader_t* reader,
                                              const tfrt_wire_field_t* field,
                                              uint64_t* out_number) {
  if (field->type == TFRT_WIRE_FIELD_FIXED64) return tfrt_wire_read_fixed64(reader, out_number);
  if (field->type != TFRT_WIRE_FIELD_FIXED32) return tfrt_wire_read_varint(reader, out_number);
  uint32_t low = 0;
  bool is_read = tfrt_wire_read_fixed32(reader, &low);
  *out_number = low;
  return is_read;
}

TFRT_ALWAYS_INLINE tfrt_status_t tfrt_wire_read_number(tfrt_wire_decoding_t* decoding,
                                                       const tfrt_wire_field_t* field) {
  uint64_t number = 0;
  if (!tfrt_wire_take_number(&decoding->reader, field, &number)) {
    return tfrt_wire_malformed(decoding->message, field);
  }
  bool is_above = field->limit != 0 && number > field->limit;
  if (is_above || (field->required && number == 0)) decoding->is_doubtful = true;
  if (tfrt_wire_store_number(field, number, decoding->object + field->offset)) return NULL;
  return tfrt_wire_error_of_width(decoding, field, number);
}

// Sets |*out_element| to zeroed storage for the next element of |field|.
TFRT_ALWAYS_INLINE tfrt_status_t tfrt_wire_next_element(tfrt_wire_decoding_t* decoding,
                                                        const tfrt_wire_field_t* field,
                                                        void** out_element) {
  char* value = decoding->object + field->offset;
  *out_element = value;
  if (field->form == TFRT_WIRE_FORM_PLAIN) return NULL;
  size_t size = field->type == TFRT_WIRE_FIELD_MESSAGE ? field->message->struct_size
                                                       : sizeof(tfrt_string_view_t);
  if (field->form == TFRT_WIRE_FORM_POINTER) {
    return tfrt_wire_read_pointer(decoding, field, size, out_element);
  }
  size_t* count = (size_t*)(decoding->object + field->count_offset);
  if (*count == 0) TFRT_RETURN_IF_ERROR(tfrt_wire_read_count(decoding, field, size));
  char* elements;
  memcpy(&elements, value, sizeof(elements));
  *out_element = elements + size * (*count)++;
  return NULL;
}

// The content |bytes| of |message|, by the walk of its own if there is one.
TFRT_ALWAYS_INLINE tfrt_status_t tfrt_wire_read_message(const tfrt_wire_message_t* message,
                                                        uint32_t item_kinds,
                                                        tfrt_string_view_t bytes,
                                                        tfrt_arena_t* arena, void* object) {
  return message->read ? message->read(item_kinds, bytes, arena, object)
                       : tfrt_wire_read_any(message, item_kinds, bytes, arena, object);
}

TFRT_ALWAYS_INLINE tfrt_status_t tfrt_wire_read_content(tfrt_wire_decoding_t* decoding,
                                                        const tfrt_wire_field_t* field) {
  if (field->type < TFRT_WIRE_FIELD_STRING) return tfrt_wire_read_number(decoding, field);
  void* element = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_wire_next_element(decoding, field, &element));
  tfrt_string_view_t content;
  if (!tfrt_wire_read_bytes(&decoding->reader, &content)) {
    return tfrt_wire_malformed(decoding->message, field);
  }
  if (field->type != TFRT_WIRE_FIELD_MESSAGE) {
    *(tfrt_string_view_t*)element = content;
    bool is_missing = field->required && content.size == 0;
    if (is_missing || !tfrt_wire_text_is_good(field, content)) decoding->is_doubtful = true;
    return NULL;
  }
  tfrt_status_t status =
      tfrt_wire_read_message(field->message, field->item_kinds, content, decoding->arena, element);
  if (!tfrt_wire_item_is_good(field, element)) decoding->is_doubtful = true;
  return status ? tfrt_status_take_annotate(status, "%s.%s", decoding->message->name, field->name)
                : NULL;
}

// Notes that |field| comes now: once if it isn't repeated, and alone in a oneof.
TFRT_ALWAYS_INLINE tfrt_status_t tfrt_wire_note_field(tfrt_wire_decoding_t* decoding,
                                                      const tfrt_wire_message_t* message,
                                                      const tfrt_wire_field_t* field) {
  uint32_t bit = UINT32_C(1) << field->number;
  bool again = (decoding->seen & bit) != 0 && field->form != TFRT_WIRE_FORM_REPEATED;
  if (again || (message->is_oneof && decoding->seen != 0)) {
    return tfrt_wire_error_of_place(decoding, field, again);
  }
  decoding->seen |= bit;
  if (!message->is_oneof) return NULL;
  *(uint32_t*)(decoding->object + message->kind_offset) = field->number;
  // Checked before the content is decoded, which may be large in places that allow it.
  if (decoding->item_kinds == 0 || (decoding->item_kinds >> field->number & 1) != 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "an %s with field %u set is not allowed here", message->name,
                            field->number);
}

// True if it means something that |field| is absent.
TFRT_ALWAYS_INLINE bool tfrt_wire_is_missed(const tfrt_wire_field_t* field) {
  return field->required || field->exact || field->type == TFRT_WIRE_FIELD_ENUM;
}

// --- For one message -------------------------------------------------------------

// Does |row| for all rows that a table may have, as their numbers are at most 15: first to last, or
// last to first. Each by its own line, since the compiler folds nothing that is in a loop before it
// has unrolled that.
#define TFRT_WIRE_RISING(row)                                                                   \
  row(0) row(1) row(2) row(3) row(4) row(5) row(6) row(7) row(8) row(9) row(10) row(11) row(12) \
      row(13) row(14)
#define TFRT_WIRE_FALLING(row)                                                                    \
  row(14) row(13) row(12) row(11) row(10) row(9) row(8) row(7) row(6) row(5) row(4) row(3) row(2) \
      row(1) row(0)

TFRT_ALWAYS_INLINE bool tfrt_wire_write_row(tfrt_wire_writer_t* writer,
                                            const tfrt_wire_message_t* message, size_t index,
                                            const void* object) {
  if (index >= message->field_count) return true;
  const tfrt_wire_field_t* field = &message->fields[index];
  if (!message->is_oneof) return tfrt_wire_write_field(writer, field, object);
  if (tfrt_wire_oneof_kind(message, object) != field->number) return true;
  return tfrt_wire_field_is_present(message, field, object) &&
         tfrt_wire_write_field(writer, field, object);
}

TFRT_ALWAYS_INLINE bool tfrt_wire_write_rows(tfrt_wire_writer_t* writer,
                                             const tfrt_wire_message_t* message,
                                             const void* object) {
  const uint8_t* end = writer->position;
#define TFRT_WIRE_WRITE_ROW(index) \
  if (!tfrt_wire_write_row(writer, message, index, object)) return false;
  TFRT_WIRE_FALLING(TFRT_WIRE_WRITE_ROW)
#undef TFRT_WIRE_WRITE_ROW
  // In a oneof, one field that the table has must be set.
  if (message->is_oneof && writer->position == end) return false;
  return tfrt_wire_write_end(writer, message, object, end);
}

// Reads the field of the row |index|, if it comes next, with all of its elements.
TFRT_ALWAYS_INLINE tfrt_status_t tfrt_wire_read_row(tfrt_wire_decoding_t* decoding,
                                                    const tfrt_wire_message_t* message,
                                                    size_t index) {
  if (index >= message->field_count) return NULL;
  const tfrt_wire_field_t* field = &message->fields[index];
  tfrt_wire_reader_t* reader = &decoding->reader;
  if (tfrt_wire_reader_is_done(reader) || *reader->position != field->tag) {
    if (tfrt_wire_is_missed(field)) decoding->may_lack = true;
    return NULL;
  }
  do {
    ++reader->position;
    TFRT_RETURN_IF_ERROR(tfrt_wire_note_field(decoding, message, field));
    TFRT_RETURN_IF_ERROR(tfrt_wire_read_content(decoding, field));
  } while (field->form == TFRT_WIRE_FORM_REPEATED && !tfrt_wire_reader_is_done(reader) &&
           *reader->position == field->tag);
  return NULL;
}

// Senders write fields by rising number, so one look at each row is mostly enough. Fields that are
// left then came out of order, or are unknown.
TFRT_ALWAYS_INLINE tfrt_status_t tfrt_wire_read_rows(const tfrt_wire_message_t* message,
                                                     uint32_t item_kinds, tfrt_string_view_t bytes,
                                                     tfrt_arena_t* arena, void* object) {
  if (message->max_size != 0 && bytes.size > message->max_size) {
    return tfrt_wire_error_of_size(message, bytes.size);
  }
  tfrt_wire_decoding_t decoding = tfrt_wire_decoding_make(message, item_kinds, bytes, arena, object,
                                                          message->fields + message->field_count);
#define TFRT_WIRE_READ_ROW(index) \
  TFRT_RETURN_IF_ERROR(tfrt_wire_read_row(&decoding, message, index));
  TFRT_WIRE_RISING(TFRT_WIRE_READ_ROW)
#undef TFRT_WIRE_READ_ROW
  bool is_empty_oneof = message->is_oneof && decoding.seen == 0;
  if (!tfrt_wire_reader_is_done(&decoding.reader) || decoding.may_lack || decoding.is_doubtful ||
      is_empty_oneof) {
    return tfrt_wire_read_rest(&decoding);
  }
  return message->check && !message->is_oneof ? message->check(object) : NULL;
}

// The walks of |stem|_message, which must be declared before.
#define TFRT_WIRE_WALKS(stem)                                                      \
  static bool stem##_write(tfrt_wire_writer_t* writer, const void* object) {       \
    return tfrt_wire_write_rows(writer, &stem##_message, object);                  \
  }                                                                                \
  static tfrt_status_t stem##_read(uint32_t item_kinds, tfrt_string_view_t bytes,  \
                                   tfrt_arena_t* arena, void* object) {            \
    return tfrt_wire_read_rows(&stem##_message, item_kinds, bytes, arena, object); \
  }

// The fields of a table that has them.
#define TFRT_WIRE_WALKED(stem) .write = stem##_write, .read = stem##_read

#endif  // TFRT_DISTRIBUTED_WIRE_WALKS_H_
