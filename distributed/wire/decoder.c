// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/decoder.h"

#include <inttypes.h>
#include <string.h>

#include "distributed/wire/coding.h"

// One message on its way from bytes to its struct.
typedef struct decoding_s {
  const tfrt_wire_message_t* message;
  tfrt_wire_reader_t reader;
  tfrt_arena_t* arena;
  char* object;
  uint32_t item_kinds;           // which fields of a oneof may be set, by bits; 0: any
  const tfrt_wire_field_t* row;  // of the field that most likely comes next, or one before it
  uint32_t seen;                 // bit n: field n has come
  bool may_lack;                 // a row was passed that means something when its field is absent
  bool is_doubtful;              // something may break its row: all of them are to be checked
} decoding_t;

static tfrt_status_t malformed(const char* message, const char* field) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s%s%s: cut off or malformed", message,
                            field ? "." : "", field ? field : "");
}

static tfrt_status_t out_of_memory(const decoding_t* decoding) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "%s: no memory left to decode it",
                            decoding->message->name);
}

// Stores |number| in the struct's member of |field|; false if it doesn't fit there.
static inline bool store_number(const tfrt_wire_field_t* field, uint64_t number, void* out_value) {
  if (field->type == TFRT_WIRE_FIELD_UINT64 || field->type == TFRT_WIRE_FIELD_FIXED64) {
    *(uint64_t*)out_value = number;
    return true;
  }
  if (field->type == TFRT_WIRE_FIELD_BOOL) {
    *(bool*)out_value = number != 0;
    return true;
  }
  // Of an ENUM, 0 is what is absent.
  bool is_unknown = number == 0 || number > field->limit;
  if (field->type == TFRT_WIRE_FIELD_ENUM && is_unknown) number = field->fallback;
  *(uint32_t*)out_value = (uint32_t)number;
  return number <= UINT32_MAX;
}

static bool read_number(tfrt_wire_reader_t* reader, const tfrt_wire_field_t* field,
                        uint64_t* out_number) {
  if (field->type == TFRT_WIRE_FIELD_FIXED64) return tfrt_wire_read_fixed64(reader, out_number);
  if (field->type != TFRT_WIRE_FIELD_FIXED32) return tfrt_wire_read_varint(reader, out_number);
  uint32_t low = 0;
  bool is_read = tfrt_wire_read_fixed32(reader, &low);
  *out_number = low;
  return is_read;
}

static tfrt_status_t decode_number(decoding_t* decoding, const tfrt_wire_field_t* field) {
  uint64_t number = 0;
  if (!read_number(&decoding->reader, field, &number)) {
    return malformed(decoding->message->name, field->name);
  }
  bool is_above = field->limit != 0 && number > field->limit;
  if (is_above || (field->required && number == 0)) decoding->is_doubtful = true;
  if (store_number(field, number, decoding->object + field->offset)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s.%s: %" PRIu64 " doesn't fit into 32 bits", decoding->message->name,
                            field->name, number);
}

// Sets a member that is a pointer, to whatever struct: by its bytes, as schema.c reads it.
static void store_pointer(void* member, const void* pointer) {
  memcpy(member, &pointer, sizeof(pointer));
}

// Counts the elements of the repeated |field|, of which the first one's content comes
// next, and makes room for all of them.
static tfrt_status_t allocate_elements(decoding_t* decoding, const tfrt_wire_field_t* field,
                                       size_t element_size) {
  tfrt_wire_reader_t ahead = decoding->reader;
  size_t count = 1;
  tfrt_string_view_t content;
  if (!tfrt_wire_read_bytes(&ahead, &content)) {
    return malformed(decoding->message->name, field->name);
  }
  while (!tfrt_wire_reader_is_done(&ahead)) {
    uint32_t number, type;
    bool is_another = *ahead.position == field->tag;
    if (is_another) {
      ++ahead.position;
      if (!tfrt_wire_read_bytes(&ahead, &content)) {
        return malformed(decoding->message->name, field->name);
      }
    } else if (!tfrt_wire_read_tag(&ahead, &number, &type) || !tfrt_wire_skip(&ahead, type)) {
      return malformed(decoding->message->name, NULL);
    }
    count += is_another;
  }
  if (count > field->count_limit) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s.%s: %zu elements, at most %u are allowed",
                              decoding->message->name, field->name, count, field->count_limit);
  }
  void* elements = tfrt_arena_allocate_array(decoding->arena, count, element_size);
  if (!elements) return out_of_memory(decoding);
  store_pointer(decoding->object + field->offset, elements);
  return NULL;
}

// Sets |*out_element| to zeroed storage for the next element of |field|.
static tfrt_status_t next_element(decoding_t* decoding, const tfrt_wire_field_t* field,
                                  void** out_element) {
  char* value = decoding->object + field->offset;
  *out_element = value;
  if (field->form == TFRT_WIRE_FORM_PLAIN) return NULL;
  size_t size = field->type == TFRT_WIRE_FIELD_MESSAGE ? field->message->struct_size
                                                       : sizeof(tfrt_string_view_t);
  if (field->form == TFRT_WIRE_FORM_POINTER) {
    void* element = tfrt_arena_allocate(decoding->arena, size);
    if (!element) return out_of_memory(decoding);
    store_pointer(value, element);
    *out_element = element;
    return NULL;
  }
  size_t* count = (size_t*)(decoding->object + field->count_offset);
  if (*count == 0) TFRT_RETURN_IF_ERROR(allocate_elements(decoding, field, size));
  char* elements;
  memcpy(&elements, value, sizeof(elements));
  *out_element = elements + size * (*count)++;
  return NULL;
}

static tfrt_status_t decode_message(const tfrt_wire_message_t* message, uint32_t item_kinds,
                                    tfrt_string_view_t bytes, tfrt_arena_t* arena, void* object);

static tfrt_status_t decode_content(decoding_t* decoding, const tfrt_wire_field_t* field) {
  if (field->type < TFRT_WIRE_FIELD_STRING) return decode_number(decoding, field);
  const char* name = decoding->message->name;
  void* element = NULL;
  TFRT_RETURN_IF_ERROR(next_element(decoding, field, &element));
  tfrt_string_view_t content;
  if (!tfrt_wire_read_bytes(&decoding->reader, &content)) return malformed(name, field->name);
  if (field->type != TFRT_WIRE_FIELD_MESSAGE) {
    *(tfrt_string_view_t*)element = content;
    bool is_missing = field->required && content.size == 0;
    if (is_missing || !tfrt_wire_text_is_good(field, content)) decoding->is_doubtful = true;
    return NULL;
  }
  tfrt_status_t status =
      decode_message(field->message, field->item_kinds, content, decoding->arena, element);
  if (!tfrt_wire_item_is_good(field, element)) decoding->is_doubtful = true;
  return status ? tfrt_status_take_annotate(status, "%s.%s", name, field->name) : NULL;
}

// The row of field |number|, or NULL.
static const tfrt_wire_field_t* find_field(const tfrt_wire_message_t* message, uint32_t number) {
  for (size_t i = 0; i < message->field_count; ++i) {
    if (message->fields[i].number == number) return &message->fields[i];
  }
  return NULL;
}

// Takes a tag that is not that of one of the rows from |decoding->row| on: of a field out of order,
// an unknown one, which is passed over, or none. Sets |*out_field|, or to NULL.
static TFRT_COLD tfrt_status_t next_other_field(decoding_t* decoding,
                                                const tfrt_wire_field_t** out_field) {
  const char* name = decoding->message->name;
  *out_field = NULL;
  uint32_t number, type;
  if (!tfrt_wire_read_tag(&decoding->reader, &number, &type)) return malformed(name, NULL);
  const tfrt_wire_field_t* field = find_field(decoding->message, number);
  if (!field) return tfrt_wire_skip(&decoding->reader, type) ? NULL : malformed(name, NULL);
  if ((field->tag & 7) != type) return malformed(name, field->name);
  *out_field = field;
  return NULL;
}

// Behind the last row; a message without fields has none.
static inline const tfrt_wire_field_t* end_of_rows(const tfrt_wire_message_t* message) {
  return message->fields ? message->fields + message->field_count : NULL;
}

// True if it means something that |field| is absent.
static inline bool is_missed(const tfrt_wire_field_t* field) {
  return field->required || field->exact || field->type == TFRT_WIRE_FIELD_ENUM;
}

// Takes the tag that comes next. Senders write fields by rising number, and tags rise with them, so
// its row is mostly one of the next ones.
static inline tfrt_status_t next_field(decoding_t* decoding, const tfrt_wire_field_t** out_field) {
  const tfrt_wire_message_t* message = decoding->message;
  const tfrt_wire_field_t* end = end_of_rows(message);
  const tfrt_wire_field_t* row = decoding->row;
  uint8_t tag = *decoding->reader.position;
  for (; row < end && row->tag < tag; ++row) decoding->may_lack |= is_missed(row);
  if (row == end || row->tag != tag) return next_other_field(decoding, out_field);
  ++decoding->reader.position;
  decoding->row = row->form == TFRT_WIRE_FORM_REPEATED ? row : row + 1;
  *out_field = row;
  return NULL;
}

// Notes that |field| comes now: once if it isn't repeated, and alone in a oneof.
static tfrt_status_t note_field(decoding_t* decoding, const tfrt_wire_field_t* field) {
  const tfrt_wire_message_t* message = decoding->message;
  uint32_t bit = UINT32_C(1) << field->number;
  bool again = (decoding->seen & bit) != 0 && field->form != TFRT_WIRE_FORM_REPEATED;
  if (again || (message->is_oneof && decoding->seen != 0)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s.%s: %s", message->name, field->name,
                              again ? "comes twice" : "another one is set already");
  }
  decoding->seen |= bit;
  if (!message->is_oneof) return NULL;
  *(uint32_t*)(decoding->object + message->kind_offset) = field->number;
  // Said before what is in it is decoded, which may be large where it is allowed.
  if (decoding->item_kinds == 0 || (decoding->item_kinds >> field->number & 1) != 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "an %s with field %u set is not allowed here", message->name,
                            field->number);
}

// What isn't there: a struct within the struct that must be, an ENUM that then means something.
static tfrt_status_t finish_absent(decoding_t* decoding, const tfrt_wire_field_t* field) {
  if (field->type == TFRT_WIRE_FIELD_MESSAGE && field->required) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s.%s: missing",
                              decoding->message->name, field->name);
  }
  if (field->type == TFRT_WIRE_FIELD_ENUM) {
    *(uint32_t*)(decoding->object + field->offset) = field->fallback;
  } else if (field->required || field->exact) {
    decoding->is_doubtful = true;
  }
  return NULL;
}

static tfrt_status_t finish_fields(decoding_t* decoding) {
  const tfrt_wire_message_t* message = decoding->message;
  const tfrt_wire_field_t* end = end_of_rows(message);
  if (message->is_oneof) return NULL;
  for (const tfrt_wire_field_t* row = decoding->row; row < end; ++row) {
    decoding->may_lack |= is_missed(row);
  }
  if (!decoding->may_lack) return NULL;
  for (const tfrt_wire_field_t* row = message->fields; row < end; ++row) {
    if ((decoding->seen >> row->number & 1) != 0) continue;
    TFRT_RETURN_IF_ERROR(finish_absent(decoding, row));
  }
  return NULL;
}

// Checks all of the object where something was doubtful, and what concerns several fields.
static tfrt_status_t check_object(const decoding_t* decoding) {
  const tfrt_wire_message_t* message = decoding->message;
  bool is_empty_oneof = message->is_oneof && decoding->seen == 0;
  if (decoding->is_doubtful || is_empty_oneof) {
    return tfrt_wire_message_check(message, decoding->object);
  }
  return message->check && !message->is_oneof ? message->check(decoding->object) : NULL;
}

// |object| is zero.
static tfrt_status_t decode_message(const tfrt_wire_message_t* message, uint32_t item_kinds,
                                    tfrt_string_view_t bytes, tfrt_arena_t* arena, void* object) {
  if (message->max_size != 0 && bytes.size > message->max_size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s: %zu bytes, at most %zu are allowed", message->name, bytes.size,
                              message->max_size);
  }
  decoding_t decoding = {
      .message = message,
      .reader = tfrt_wire_reader_make(bytes),
      .arena = arena,
      .object = object,
      .item_kinds = item_kinds,
      .row = message->fields,
  };
  while (!tfrt_wire_reader_is_done(&decoding.reader)) {
    const tfrt_wire_field_t* field = NULL;
    TFRT_RETURN_IF_ERROR(next_field(&decoding, &field));
    if (!field) continue;
    TFRT_RETURN_IF_ERROR(note_field(&decoding, field));
    TFRT_RETURN_IF_ERROR(decode_content(&decoding, field));
  }
  TFRT_RETURN_IF_ERROR(finish_fields(&decoding));
  return check_object(&decoding);
}

tfrt_status_t tfrt_wire_decode(const tfrt_wire_message_t* message, tfrt_string_view_t bytes,
                               tfrt_arena_t* arena, void* out_object) {
  memset(out_object, 0, message->struct_size);
  tfrt_status_t status = decode_message(message, 0, bytes, arena, out_object);
  if (status) memset(out_object, 0, message->struct_size);
  return status;
}
