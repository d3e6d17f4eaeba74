// SPDX-License-Identifier: Apache-2.0
//
// The walk that reads an object by its table, for decoder.c, which has it for any table, and for
// the sources with the tables of messages that come often: TFRT_WIRE_WALKS() in walks.h has the
// compiler put the rows of one table into a copy of it. Private to this folder.
//
// Thread rule: thread-safe as long as the caller owns the arena.
// Failure rule: as decoder.h says.
#ifndef TFRT_DISTRIBUTED_WIRE_DECODER_IMPL_H_
#define TFRT_DISTRIBUTED_WIRE_DECODER_IMPL_H_

#include "distributed/wire/schema.h"
#include "host_runtime/base/arena.h"

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

#endif  // TFRT_DISTRIBUTED_WIRE_DECODER_IMPL_H_
