// SPDX-License-Identifier: Apache-2.0
//
// Walks made for one message. The messages of a call and its answer are written and read for each
// call, and a general walk spends most of that time on reading the rows. Where the table is a
// constant in the same source, the compiler knows the rows, and the same walk becomes the few
// instructions that each field needs. Private to this folder.
//
//   extern const tfrt_wire_message_t stem_message;    or static
//   TFRT_WIRE_WALKS(stem)
//   const tfrt_wire_message_t stem_message =
//       TFRT_WIRE_MESSAGE("Stem", ..., TFRT_WIRE_WALKED(stem));
//
// Bytes, structs and errors are those of the walk for any table; round_trip_test.c compares them.
//
// Thread rule and failure rule: as encoder.h and decoder.h say.
#ifndef TFRT_DISTRIBUTED_WIRE_WALKS_H_
#define TFRT_DISTRIBUTED_WIRE_WALKS_H_

#include "distributed/wire/decoder_impl.h"
#include "distributed/wire/encoder_impl.h"

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
