// SPDX-License-Identifier: Apache-2.0
//
// The layout of messages on the wire and in C: one table per message, one row per field. One
// encoder and one decoder walk all tables. So the same few lines check every limit, and a new field
// is one row. Private to this folder and its tests, which compare each row with protoc's view of
// proto/*.proto.
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
// A message with |kind_offset| is a oneof: its rows share a union, and the uint32_t at
// that offset is the number of the row in use.
//
// Thread rule: tables are constants. Failure rule: tfrt_wire_message_check() says.
#ifndef TFRT_DISTRIBUTED_WIRE_SCHEMA_H_
#define TFRT_DISTRIBUTED_WIRE_SCHEMA_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "distributed/wire/coding.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

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
typedef struct tfrt_arena_s tfrt_arena_t;

typedef struct tfrt_wire_field_s {
  const char* name;  // in the .proto file
  uint32_t number;   // up to 15, so that the tag is one byte
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

#endif  // TFRT_DISTRIBUTED_WIRE_SCHEMA_H_
