// SPDX-License-Identifier: Apache-2.0
//
// Protocol buffers, by tables: one table per message, one row per field. One encoder and one
// decoder walk all tables. So the same few lines check every limit, and a new field is one row.
// Private to this folder and its tests, which compare each row with protoc's view of proto/*.proto.
//
//   message --> { name, fields --> row: number, name, type, form, limits,
//                                       offset in the C struct
//                 check: what concerns several fields }
//
// The forms of a field in C:
//
//   PLAIN      bool, uint32_t, uint64_t, tfrt_string_view_t, or a struct inside the struct
//   POINTER    a pointer to a struct; NULL: absent
//   REPEATED   a pointer to an array, and a size_t with its count
//
// A message with |kind_offset| is a oneof: its rows share a union, and the uint32_t at that offset
// is the number of the row in use.
//
// Most messages are packed and unpacked by protobuf-c, with the code that protoc-c generates from
// proto/ (packed.c):
//
//   bytes <-- protobuf-c --> generated struct <-- by the rows --> our struct, checked
//
// The messages of each call are walked by their rows alone (walks.h); packed.c has the figures.
//
// Thread rule: tables are constants; functions are thread-safe as long as the caller owns arena and
// builder.
// Failure rule: INVALID_ARGUMENT with the message's and mostly the field's name; RESOURCE_EXHAUSTED
// when memory is out, or the budget. Nothing is appended, and a decoded struct is zero, then.
#ifndef TFRT_DISTRIBUTED_WIRE_CODEC_H_
#define TFRT_DISTRIBUTED_WIRE_CODEC_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "host_runtime/base/arena.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/base/string_view.h"

// --- Bytes -----------------------------------------------------------------------

// Varints, tags, fixed-width numbers, UTF-8:
//
//   field = tag | content        tag = varint of number << 3 | wire type
//   varint: 7 bits per byte, low ones first, the top bit says that more follows
//
// Reading gives false at the first malformed byte, and never reads beyond the end; writing can't
// fail, the caller has made room.

// How the content of a field is delimited; numbers of the encoding.
typedef enum tfrt_wire_type_e {
  TFRT_WIRE_TYPE_VARINT = 0,
  TFRT_WIRE_TYPE_FIXED64 = 1,
  TFRT_WIRE_TYPE_BYTES = 2,
  TFRT_WIRE_TYPE_FIXED32 = 5,
} tfrt_wire_type_t;

// The highest field number that the encoding allows.
#define TFRT_WIRE_MAX_FIELD_NUMBER ((1u << 29) - 1)

// The unread rest of a message.
typedef struct tfrt_wire_reader_s {
  const uint8_t* position;
  const uint8_t* end;
} tfrt_wire_reader_t;

// A reader of all of |bytes|. Thread-safe.
static inline tfrt_wire_reader_t tfrt_wire_reader_make(tfrt_string_view_t bytes) {
  const uint8_t* begin = (const uint8_t*)bytes.data;
  return (tfrt_wire_reader_t){begin, bytes.size == 0 ? begin : begin + bytes.size};
}

// True if nothing is left. Thread-compatible.
TFRT_ALWAYS_INLINE bool tfrt_wire_reader_is_done(const tfrt_wire_reader_t* reader) {
  return reader->position == reader->end;
}

// Each takes one thing from |reader| and returns true, or returns false; then the reader
// must not be used on. A number of a field is 1 to TFRT_WIRE_MAX_FIELD_NUMBER; a varint
// has at most 10 bytes and 64 bits. Thread-compatible.
bool tfrt_wire_read_long_varint(tfrt_wire_reader_t* reader, uint64_t* out_value);

// Little-endian, on any machine; compilers make one load of it.
TFRT_ALWAYS_INLINE bool tfrt_wire_read_fixed64(tfrt_wire_reader_t* reader, uint64_t* out_value) {
  if (reader->end - reader->position < 8) return false;
  uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i) value |= (uint64_t)reader->position[i] << (8 * i);
  reader->position += 8;
  *out_value = value;
  return true;
}

TFRT_ALWAYS_INLINE bool tfrt_wire_read_fixed32(tfrt_wire_reader_t* reader, uint32_t* out_value) {
  if (reader->end - reader->position < 4) return false;
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= (uint32_t)reader->position[i] << (8 * i);
  reader->position += 4;
  *out_value = value;
  return true;
}

// Most numbers have one byte.
TFRT_ALWAYS_INLINE bool tfrt_wire_read_varint(tfrt_wire_reader_t* reader, uint64_t* out_value) {
  if (reader->position == reader->end || *reader->position >= 0x80) {
    return tfrt_wire_read_long_varint(reader, out_value);
  }
  *out_value = *reader->position++;
  return true;
}

TFRT_ALWAYS_INLINE bool tfrt_wire_read_bytes(tfrt_wire_reader_t* reader,
                                             tfrt_string_view_t* out_bytes) {
  uint64_t size = 0;
  if (!tfrt_wire_read_varint(reader, &size)) return false;
  if (size > (uint64_t)(reader->end - reader->position)) return false;
  *out_bytes = tfrt_string_view_make((const char*)reader->position, (size_t)size);
  reader->position += size;
  return true;
}

static inline bool tfrt_wire_read_tag(tfrt_wire_reader_t* reader, uint32_t* out_number,
                                      uint32_t* out_type) {
  uint64_t tag = 0;
  if (!tfrt_wire_read_varint(reader, &tag)) return false;
  uint64_t number = tag >> 3;
  if (number == 0 || number > TFRT_WIRE_MAX_FIELD_NUMBER) return false;
  *out_number = (uint32_t)number;
  *out_type = tag & 7;
  return true;
}

// Passes over the content of a field of wire |type|; false also for the types that the
// encoding has dropped (groups) or never had. Thread-compatible.
bool tfrt_wire_skip(tfrt_wire_reader_t* reader, uint32_t type);

// The bytes that a varint of |value| takes: 1 to 10. Thread-safe.
static inline size_t tfrt_wire_varint_size(uint64_t value) {
  return (size_t)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

// Each writes at |position|, where there is room, and returns the position behind.
// Thread-compatible.
static inline uint8_t* tfrt_wire_write_varint(uint8_t* position, uint64_t value) {
  while (value >= 0x80) {
    *position++ = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  *position++ = (uint8_t)value;
  return position;
}
static inline uint8_t* tfrt_wire_write_fixed32(uint8_t* position, uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) position[i] = (uint8_t)(value >> (8 * i));
  return position + 4;
}
static inline uint8_t* tfrt_wire_write_fixed64(uint8_t* position, uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) position[i] = (uint8_t)(value >> (8 * i));
  return position + 8;
}

// A tag in front of a field's content, as one number to be written as a varint.
// Thread-safe.
static inline uint64_t tfrt_wire_tag(uint32_t number, tfrt_wire_type_t type) {
  return (uint64_t)number << 3 | type;
}

// True if |text| has at most eight bytes, and these are ASCII: names of types mostly do.
// Thread-safe.
TFRT_ALWAYS_INLINE bool tfrt_wire_is_short_ascii(tfrt_string_view_t text) {
  if (text.size > 8) return false;
  if (text.size < 4) {
    if (text.size == 0) return true;
    // All of one to three bytes, some of them twice.
    uint8_t bytes = (uint8_t)(text.data[0] | text.data[text.size / 2] | text.data[text.size - 1]);
    return bytes < 0x80;
  }
  uint32_t first, last;
  memcpy(&first, text.data, sizeof(first));
  memcpy(&last, text.data + text.size - sizeof(last), sizeof(last));
  return ((first | last) & UINT32_C(0x80808080)) == 0;
}

// The length of the longest beginning of |text| that is valid UTF-8 (shortest forms
// only, no surrogates, nothing above U+10FFFF); all of it if that is |text.size|.
// Thread-safe.
size_t tfrt_wire_utf8_prefix(tfrt_string_view_t text);

// --- Tables ----------------------------------------------------------------------

typedef enum tfrt_wire_field_type_e {
  TFRT_WIRE_FIELD_BOOL,
  TFRT_WIRE_FIELD_UINT32,
  TFRT_WIRE_FIELD_UINT64,
  TFRT_WIRE_FIELD_FIXED32,
  TFRT_WIRE_FIELD_FIXED64,
  TFRT_WIRE_FIELD_ENUM,    // uint32_t; a number above |limit| is read as |fallback|
  TFRT_WIRE_FIELD_STRING,  // UTF-8
  TFRT_WIRE_FIELD_BYTES,
  TFRT_WIRE_FIELD_MESSAGE,
} tfrt_wire_field_type_t;

typedef enum tfrt_wire_field_form_e {
  TFRT_WIRE_FORM_PLAIN,
  TFRT_WIRE_FORM_POINTER,
  TFRT_WIRE_FORM_REPEATED,
} tfrt_wire_field_form_t;

typedef struct tfrt_wire_message_s tfrt_wire_message_t;
typedef struct tfrt_wire_writer_s tfrt_wire_writer_t;

typedef struct tfrt_wire_field_s {
  const char* name;  // in the .proto file
  uint32_t number;   // up to 15, so that the tag is one byte; of an AnswerPart up to 31
  uint8_t tag;       // what stands in front of the content, TFRT_WIRE_ROW_TAG()
  tfrt_wire_field_type_t type;
  tfrt_wire_field_form_t form;
  // A number must not be 0, a text not empty, a message not absent.
  bool required;
  // Bytes must have exactly |limit|.
  bool exact;
  uint16_t offset;        // in the C struct
  uint16_t count_offset;  // REPEATED: of the count
  // Highest value of a number; most bytes of a text. 0: what the type can hold.
  uint64_t limit;
  uint32_t fallback;     // ENUM: what a number above |limit|, and absence, means
  uint32_t count_limit;  // REPEATED: most elements
  // Which kinds an Item may have, by bits; 0: any.
  uint32_t item_kinds;
  const tfrt_wire_message_t* message;  // MESSAGE: its table
} tfrt_wire_field_t;

struct tfrt_wire_message_s {
  const char* name;                 // in the .proto file
  const tfrt_wire_field_t* fields;  // by rising number
  size_t field_count;
  size_t struct_size;
  size_t max_size;  // encoded, in bytes; 0: only what holds it limits it
  bool is_oneof;
  bool may_be_unknown;  // oneof: one without a field that is known is of a later version, kind 0
  size_t kind_offset;   // oneof: of the uint32_t that says which field is set
  // Checks rules across several fields, after each field was found good by itself. NULL: no such
  // rules.
  tfrt_status_t (*check)(const void* object);
  // The walks of this message's own (walks.h); NULL: those for any table.
  bool (*write)(tfrt_wire_writer_t* writer, const void* object);
  tfrt_status_t (*read)(uint32_t item_kinds, tfrt_string_view_t bytes, tfrt_arena_t* arena,
                        void* object);
};

// How the content of a field of each type is delimited.
enum {
  TFRT_WIRE_CONTENT_BOOL = TFRT_WIRE_TYPE_VARINT,
  TFRT_WIRE_CONTENT_UINT32 = TFRT_WIRE_TYPE_VARINT,
  TFRT_WIRE_CONTENT_UINT64 = TFRT_WIRE_TYPE_VARINT,
  TFRT_WIRE_CONTENT_FIXED32 = TFRT_WIRE_TYPE_FIXED32,
  TFRT_WIRE_CONTENT_FIXED64 = TFRT_WIRE_TYPE_FIXED64,
  TFRT_WIRE_CONTENT_ENUM = TFRT_WIRE_TYPE_VARINT,
  TFRT_WIRE_CONTENT_STRING = TFRT_WIRE_TYPE_BYTES,
  TFRT_WIRE_CONTENT_BYTES = TFRT_WIRE_TYPE_BYTES,
  TFRT_WIRE_CONTENT_MESSAGE = TFRT_WIRE_TYPE_BYTES,
};

// The tag of field |number_| of |type_|, which is a name above without its prefix.
#define TFRT_WIRE_ROW_TAG(number_, type_) ((number_) << 3 | TFRT_WIRE_CONTENT_##type_)

// A row |name_| for the struct's bytes from |offset_| on; further designated fields may follow.
#define TFRT_WIRE_ROW(name_, offset_, number_, type_, ...)                          \
  {                                                                                 \
    .name = (name_), .number = (number_), .tag = TFRT_WIRE_ROW_TAG(number_, type_), \
    .type = TFRT_WIRE_FIELD_##type_, .offset = (offset_), __VA_ARGS__               \
  }

// A row for |member| of the struct |owner|; further designated fields may follow.
#define TFRT_WIRE_FIELD(owner, member, number_, type_, ...) \
  TFRT_WIRE_ROW(#member, offsetof(owner, member), number_, type_, __VA_ARGS__)

// A row for an array |member| with its count |count_member|, of at most |max| elements.
#define TFRT_WIRE_REPEATED(owner, member, count_member, number_, type_, max, ...)      \
  TFRT_WIRE_FIELD(owner, member, number_, type_, .form = TFRT_WIRE_FORM_REPEATED,      \
                  .count_offset = offsetof(owner, count_member), .count_limit = (max), \
                  __VA_ARGS__)

// A table of |rows| for the struct |owner|; further designated fields may follow.
#define TFRT_WIRE_MESSAGE(name_, owner, rows, ...)                           \
  {                                                                          \
    .name = (name_), .fields = (rows), .field_count = TFRT_ARRAY_SIZE(rows), \
    .struct_size = sizeof(owner), __VA_ARGS__                                \
  }

// The member |offset| bytes into |object|. Thread-safe.
TFRT_ALWAYS_INLINE const void* tfrt_wire_member(const void* object, size_t offset) {
  return (const char*)object + offset;
}

// The number in a field of a type up to ENUM; false is 0. Thread-safe.
TFRT_ALWAYS_INLINE uint64_t tfrt_wire_field_number(const tfrt_wire_field_t* field,
                                                   const void* object) {
  const void* value = tfrt_wire_member(object, field->offset);
  switch (field->type) {
    case TFRT_WIRE_FIELD_BOOL:
      return *(const bool*)value;
    case TFRT_WIRE_FIELD_UINT64:
    case TFRT_WIRE_FIELD_FIXED64:
      return *(const uint64_t*)value;
    default:
      return *(const uint32_t*)value;
  }
}

// How many elements a field has; 1 if it isn't REPEATED. Thread-safe.
TFRT_ALWAYS_INLINE size_t tfrt_wire_field_count(const tfrt_wire_field_t* field,
                                                const void* object) {
  if (field->form != TFRT_WIRE_FORM_REPEATED) return 1;
  return *(const size_t*)tfrt_wire_member(object, field->count_offset);
}

// The element |index| of a MESSAGE field (0 for one that isn't REPEATED), or NULL if the
// pointer to it is. Thread-safe.
TFRT_ALWAYS_INLINE const void* tfrt_wire_field_element(const tfrt_wire_field_t* field,
                                                       const void* object, size_t index) {
  const void* value = tfrt_wire_member(object, field->offset);
  if (field->form == TFRT_WIRE_FORM_PLAIN) return value;
  // By its bytes: the member is a pointer to a struct that isn't known here, and a compiler that
  // sees all of the program may take a char* for another object.
  const char* elements;
  memcpy(&elements, value, sizeof(elements));
  if (field->form == TFRT_WIRE_FORM_POINTER) return elements;
  size_t size = field->type == TFRT_WIRE_FIELD_MESSAGE ? field->message->struct_size
                                                       : sizeof(tfrt_string_view_t);
  return elements + index * size;
}

// The number of the field of |object|, a oneof, that is set. Thread-safe.
TFRT_ALWAYS_INLINE uint32_t tfrt_wire_oneof_kind(const tfrt_wire_message_t* message,
                                                 const void* object) {
  return *(const uint32_t*)tfrt_wire_member(object, message->kind_offset);
}

// True if |field| of |object| must be written: it is set, to another value than absence means.
// Thread-safe.
TFRT_ALWAYS_INLINE bool tfrt_wire_field_is_present(const tfrt_wire_message_t* message,
                                                   const tfrt_wire_field_t* field,
                                                   const void* object) {
  if (message->is_oneof && tfrt_wire_oneof_kind(message, object) != field->number) return false;
  if (field->form == TFRT_WIRE_FORM_REPEATED) return tfrt_wire_field_count(field, object) > 0;
  if (field->type < TFRT_WIRE_FIELD_STRING) return tfrt_wire_field_number(field, object) != 0;
  const void* element = tfrt_wire_field_element(field, object, 0);
  return field->type == TFRT_WIRE_FIELD_MESSAGE ? element != NULL
                                                : ((const tfrt_string_view_t*)element)->size > 0;
}

// True if |text| keeps the row of |field|. Thread-safe.
TFRT_ALWAYS_INLINE bool tfrt_wire_text_is_good(const tfrt_wire_field_t* field,
                                               tfrt_string_view_t text) {
  if (field->exact ? text.size != field->limit : field->limit != 0 && text.size > field->limit) {
    return false;
  }
  return field->type != TFRT_WIRE_FIELD_STRING || tfrt_wire_is_short_ascii(text) ||
         tfrt_wire_utf8_prefix(text) == text.size;
}

// True if |element|, of |field|, a MESSAGE, may stand there: the kinds that an Item may have depend
// on its place, so the row that holds it lists them. Thread-safe.
TFRT_ALWAYS_INLINE bool tfrt_wire_item_is_good(const tfrt_wire_field_t* field,
                                               const void* element) {
  if (field->item_kinds == 0) return true;
  uint32_t kind = tfrt_wire_oneof_kind(field->message, element);
  return kind < 32 && (field->item_kinds >> kind & 1) != 0;
}

// OK, or INVALID_ARGUMENT with the name of the field in |object| that breaks its row, or
// with what |message->check| says. Doesn't descend. Thread-safe.
tfrt_status_t tfrt_wire_message_check(const tfrt_wire_message_t* message, const void* object)
    TFRT_MUST_USE;

// --- Encoding and decoding -------------------------------------------------------

// Decodes untrusted |bytes| into |out_object|, a struct of |message|. It lives as long as |bytes|
// and |arena|, and keeps every limit.
//
//  - Fields may come in any order. Unknown ones are passed over, so that later versions can add
//    some. One that isn't repeated may come once.
//  - Texts and payloads are not copied; arrays are allocated once, after their elements were
//    counted and the count was found allowed.
//  - Depth is bounded by the tables, work by the size of the bytes times that depth.
tfrt_status_t tfrt_wire_decode(const tfrt_wire_message_t* message, tfrt_string_view_t bytes,
                               tfrt_arena_t* arena, void* out_object) TFRT_MUST_USE;

// Appends |object|, a struct of |message|, in bytes to |out|. Fields are written by rising number,
// and numbers that are 0 not at all, as every protobuf library does, so that equal structs give
// equal bytes.
//
//   1. everything is checked and written at once, into the room that the builder has
//   2. if something is wrong, or the room too small: all is checked again, and what is wrong told;
//      else the size is computed, room made once, and the bytes are written
tfrt_status_t tfrt_wire_encode(const tfrt_wire_message_t* message, const void* object,
                               tfrt_string_builder_t* out) TFRT_MUST_USE;

// OK, or the error that tfrt_wire_encode() would give. Thread-safe.
tfrt_status_t tfrt_wire_encode_check(const tfrt_wire_message_t* message, const void* object)
    TFRT_MUST_USE;

// The size of |object| in bytes when encoded, which must have been checked. Thread-safe.
size_t tfrt_wire_encoded_size(const tfrt_wire_message_t* message, const void* object);

// protobuf-c's own, by its name, so that its headers stay in this folder's sources.
typedef struct ProtobufCMessageDescriptor ProtobufCMessageDescriptor;

// Unpacks |bytes|, of |descriptor|, into |out_object|, a struct of |message|, with at most |budget|
// bytes of |arena|, where texts are copied: a peer's bytes can't ask for more. Where a field that
// isn't repeated comes twice, the last one counts, as in every protobuf library.
tfrt_status_t tfrt_wire_unpack(const ProtobufCMessageDescriptor* descriptor,
                               const tfrt_wire_message_t* message, tfrt_string_view_t bytes,
                               size_t budget, tfrt_arena_t* arena, void* out_object) TFRT_MUST_USE;

// Appends |object|, a struct of |message|, packed as |descriptor| says to |out|.
tfrt_status_t tfrt_wire_pack(const ProtobufCMessageDescriptor* descriptor,
                             const tfrt_wire_message_t* message, const void* object,
                             tfrt_string_builder_t* out) TFRT_MUST_USE;

// --- The tables of messages that more than one source needs ----------------------

// Each stands beside the structs that it describes (batch.c, call.c, ...).

// Parts of other messages.
extern const tfrt_wire_message_t tfrt_wire_origin_message;
extern const tfrt_wire_message_t tfrt_wire_error_message;
extern const tfrt_wire_message_t tfrt_wire_object_id_message;
extern const tfrt_wire_message_t tfrt_wire_reference_message;
extern const tfrt_wire_message_t tfrt_wire_value_message;
extern const tfrt_wire_message_t tfrt_wire_item_message;
extern const tfrt_wire_message_t tfrt_wire_location_message;

// Messages of a control stream.
extern const tfrt_wire_message_t tfrt_wire_frame_message;
extern const tfrt_wire_message_t tfrt_wire_batch_message;

// Messages of a bulk channel.
extern const tfrt_wire_message_t tfrt_wire_chunk_message;
extern const tfrt_wire_message_t tfrt_wire_bulk_up_message;
extern const tfrt_wire_message_t tfrt_wire_bulk_down_message;

// A question of a client to a host, and a part of the answer.
extern const tfrt_wire_message_t tfrt_wire_question_message;
extern const tfrt_wire_message_t tfrt_wire_answer_part_message;

// Bodies of frames: declares the table of one, as FRAME of a list of kinds (batch.h).
#define TFRT_WIRE_DECLARE_MESSAGE(kind, number, message, ...) \
  extern const tfrt_wire_message_t tfrt_wire_##message##_message;

// The table of a frame's body, by tfrt_wire_frame_kind_t, or NULL. Thread-safe.
const tfrt_wire_message_t* tfrt_wire_frame_message_of(uint32_t kind);

#endif  // TFRT_DISTRIBUTED_WIRE_CODEC_H_
