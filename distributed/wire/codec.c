// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/codec.h"

#include <inttypes.h>
#include <string.h>

#include "distributed/wire/walks.h"
#include "host_runtime/base/utf8.h"

// --- Bytes -----------------------------------------------------------------------

bool tfrt_wire_read_long_varint(tfrt_wire_reader_t* reader, uint64_t* out_value) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && reader->position != reader->end; shift += 7) {
    uint8_t byte = *reader->position++;
    // The tenth byte has room for one bit only.
    if (shift == 63 && byte > 1) return false;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *out_value = value;
      return true;
    }
  }
  return false;
}

bool tfrt_wire_skip(tfrt_wire_reader_t* reader, uint32_t type) {
  uint64_t number;
  uint32_t low;
  tfrt_string_view_t bytes;
  switch (type) {
    case TFRT_WIRE_TYPE_VARINT:
      return tfrt_wire_read_varint(reader, &number);
    case TFRT_WIRE_TYPE_FIXED64:
      return tfrt_wire_read_fixed64(reader, &number);
    case TFRT_WIRE_TYPE_BYTES:
      return tfrt_wire_read_bytes(reader, &bytes);
    case TFRT_WIRE_TYPE_FIXED32:
      return tfrt_wire_read_fixed32(reader, &low);
    default:
      return false;
  }
}

size_t tfrt_wire_utf8_prefix(tfrt_string_view_t text) {
  size_t position = 0;
  while (position < text.size) {
    // Mostly it is ASCII: eight bytes at a time.
    uint64_t word = 0;
    if (text.size - position >= sizeof(word)) {
      memcpy(&word, text.data + position, sizeof(word));
      if ((word & UINT64_C(0x8080808080808080)) == 0) {
        position += sizeof(word);
        continue;
      }
    }
    size_t size =
        tfrt_utf8_character_size(tfrt_string_view_make(text.data + position, text.size - position));
    if (size == 0) break;
    position += size;
  }
  return position;
}

// --- Checks ----------------------------------------------------------------------

// The texts of a STRING or BYTES field.
static tfrt_string_view_t text_element(const tfrt_wire_field_t* field, const void* object,
                                       size_t index) {
  return *(const tfrt_string_view_t*)tfrt_wire_field_element(field, object, index);
}

static tfrt_status_t text_error(const tfrt_wire_message_t* message, const tfrt_wire_field_t* field,
                                tfrt_string_view_t text) {
  if (field->exact && text.size != field->limit) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s.%s: %zu bytes, must be %" PRIu64,
                              message->name, field->name, text.size, field->limit);
  }
  if (field->limit != 0 && text.size > field->limit) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s.%s: %zu bytes, at most %" PRIu64 " are allowed", message->name,
                              field->name, text.size, field->limit);
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s.%s: not valid UTF-8", message->name,
                            field->name);
}

static tfrt_status_t check_number(const tfrt_wire_message_t* message,
                                  const tfrt_wire_field_t* field, const void* object) {
  uint64_t number = tfrt_wire_field_number(field, object);
  if (field->limit == 0 || number <= field->limit) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s.%s: %" PRIu64 " is above the limit %" PRIu64, message->name,
                            field->name, number, field->limit);
}

static tfrt_status_t check_element(const tfrt_wire_message_t* message,
                                   const tfrt_wire_field_t* field, const void* object,
                                   size_t index) {
  if (field->type != TFRT_WIRE_FIELD_MESSAGE) {
    tfrt_string_view_t text = text_element(field, object, index);
    return tfrt_wire_text_is_good(field, text) ? NULL : text_error(message, field, text);
  }
  const void* element = tfrt_wire_field_element(field, object, index);
  if (tfrt_wire_item_is_good(field, element)) return NULL;
  uint32_t kind = tfrt_wire_oneof_kind(field->message, element);
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s.%s: an Item with field %u set is not allowed here", message->name,
                            field->name, kind);
}

static tfrt_status_t check_elements(const tfrt_wire_message_t* message,
                                    const tfrt_wire_field_t* field, const void* object) {
  size_t count = tfrt_wire_field_count(field, object);
  if (field->form == TFRT_WIRE_FORM_REPEATED && count > field->count_limit) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s.%s: %zu elements, at most %u are allowed", message->name,
                              field->name, count, field->count_limit);
  }
  if (field->type == TFRT_WIRE_FIELD_MESSAGE && field->item_kinds == 0) return NULL;
  for (size_t i = 0; i < count; ++i) {
    TFRT_RETURN_IF_ERROR(check_element(message, field, object, i));
  }
  return NULL;
}

static tfrt_status_t check_field(const tfrt_wire_message_t* message, const tfrt_wire_field_t* field,
                                 const void* object) {
  if (field->required && !tfrt_wire_field_is_present(message, field, object)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s.%s: missing, or 0", message->name,
                              field->name);
  }
  if (field->type < TFRT_WIRE_FIELD_STRING) return check_number(message, field, object);
  return check_elements(message, field, object);
}

// The one field of a oneof that is set must be one that there is.
static tfrt_status_t check_oneof(const tfrt_wire_message_t* message, const void* object) {
  uint32_t kind = tfrt_wire_oneof_kind(message, object);
  if (kind == 0 && message->may_be_unknown) return NULL;
  for (size_t i = 0; i < message->field_count; ++i) {
    const tfrt_wire_field_t* field = &message->fields[i];
    if (field->number != kind) continue;
    if (tfrt_wire_field_is_present(message, field, object)) return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s: none of the fields is set that this version knows", message->name);
}

tfrt_status_t tfrt_wire_message_check(const tfrt_wire_message_t* message, const void* object) {
  if (message->is_oneof) return check_oneof(message, object);
  for (size_t i = 0; i < message->field_count; ++i) {
    TFRT_RETURN_IF_ERROR(check_field(message, &message->fields[i], object));
  }
  return message->check ? message->check(object) : NULL;
}

// --- Writing ---------------------------------------------------------------------

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

// The one field that is set of |object|.
static bool write_oneof(tfrt_wire_writer_t* writer, const tfrt_wire_message_t* message,
                        const void* object) {
  uint32_t kind = tfrt_wire_oneof_kind(message, object);
  for (size_t i = 0; i < message->field_count; ++i) {
    const tfrt_wire_field_t* field = &message->fields[i];
    if (field->number != kind) continue;
    return tfrt_wire_field_is_present(message, field, object) &&
           tfrt_wire_write_field(writer, field, object);
  }
  return false;
}

bool tfrt_wire_write_any(tfrt_wire_writer_t* writer, const tfrt_wire_message_t* message,
                         const void* object) {
  const uint8_t* end = writer->position;
  if (message->is_oneof) {
    if (!write_oneof(writer, message, object)) return false;
  } else {
    for (size_t i = message->field_count; i > 0; --i) {
      if (!tfrt_wire_write_field(writer, &message->fields[i - 1], object)) return false;
    }
  }
  return tfrt_wire_write_end(writer, message, object, end);
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
  tfrt_wire_writer_t writer = {begin, end};
  bool is_written = tfrt_wire_write_message(&writer, message, object);
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
  tfrt_wire_writer_t writer = {(uint8_t*)out->data + before, (uint8_t*)out->data + out->size};
  if (tfrt_wire_write_message(&writer, message, object)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "%s: was measured wrong", message->name);
}

// --- Reading ---------------------------------------------------------------------

tfrt_status_t tfrt_wire_error_of_size(const tfrt_wire_message_t* message, size_t size) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s: %zu bytes, at most %zu are allowed",
                            message->name, size, message->max_size);
}

tfrt_status_t tfrt_wire_malformed(const tfrt_wire_message_t* message,
                                  const tfrt_wire_field_t* field) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s%s%s: cut off or malformed",
                            message->name, field ? "." : "", field ? field->name : "");
}

tfrt_status_t tfrt_wire_error_of_width(const tfrt_wire_decoding_t* decoding,
                                       const tfrt_wire_field_t* field, uint64_t number) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s.%s: %" PRIu64 " doesn't fit into 32 bits", decoding->message->name,
                            field->name, number);
}

tfrt_status_t tfrt_wire_error_of_place(const tfrt_wire_decoding_t* decoding,
                                       const tfrt_wire_field_t* field, bool again) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s.%s: %s", decoding->message->name,
                            field->name, again ? "comes twice" : "another one is set already");
}

static tfrt_status_t out_of_memory(const tfrt_wire_decoding_t* decoding) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "%s: no memory left to decode it",
                            decoding->message->name);
}

// Sets a member that is a pointer, to whatever struct: by its bytes, as they are read.
static void store_pointer(void* member, const void* pointer) {
  memcpy(member, &pointer, sizeof(pointer));
}

tfrt_status_t tfrt_wire_read_count(tfrt_wire_decoding_t* decoding, const tfrt_wire_field_t* field,
                                   size_t element_size) {
  tfrt_wire_reader_t ahead = decoding->reader;
  size_t count = 1;
  tfrt_string_view_t content;
  if (!tfrt_wire_read_bytes(&ahead, &content)) {
    return tfrt_wire_malformed(decoding->message, field);
  }
  while (!tfrt_wire_reader_is_done(&ahead)) {
    uint32_t number, type;
    bool is_another = *ahead.position == field->tag;
    if (is_another) {
      ++ahead.position;
      if (!tfrt_wire_read_bytes(&ahead, &content)) {
        return tfrt_wire_malformed(decoding->message, field);
      }
    } else if (!tfrt_wire_read_tag(&ahead, &number, &type) || !tfrt_wire_skip(&ahead, type)) {
      return tfrt_wire_malformed(decoding->message, NULL);
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

tfrt_status_t tfrt_wire_read_pointer(tfrt_wire_decoding_t* decoding, const tfrt_wire_field_t* field,
                                     size_t size, void** out_element) {
  *out_element = tfrt_arena_allocate(decoding->arena, size);
  if (!*out_element) return out_of_memory(decoding);
  store_pointer(decoding->object + field->offset, *out_element);
  return NULL;
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
static TFRT_COLD tfrt_status_t next_other_field(tfrt_wire_decoding_t* decoding,
                                                const tfrt_wire_field_t** out_field) {
  const tfrt_wire_message_t* message = decoding->message;
  *out_field = NULL;
  uint32_t number, type;
  if (!tfrt_wire_read_tag(&decoding->reader, &number, &type)) {
    return tfrt_wire_malformed(message, NULL);
  }
  const tfrt_wire_field_t* field = find_field(message, number);
  if (!field) {
    return tfrt_wire_skip(&decoding->reader, type) ? NULL : tfrt_wire_malformed(message, NULL);
  }
  if ((field->tag & 7) != type) return tfrt_wire_malformed(message, field);
  *out_field = field;
  return NULL;
}

// Behind the last row; a message without fields has none.
static inline const tfrt_wire_field_t* end_of_rows(const tfrt_wire_message_t* message) {
  return message->fields ? message->fields + message->field_count : NULL;
}

// Takes the tag that comes next. Senders write fields by rising number, and tags rise with them, so
// its row is mostly one of the next ones.
static inline tfrt_status_t next_field(tfrt_wire_decoding_t* decoding,
                                       const tfrt_wire_field_t** out_field) {
  const tfrt_wire_message_t* message = decoding->message;
  const tfrt_wire_field_t* end = end_of_rows(message);
  const tfrt_wire_field_t* row = decoding->row;
  uint8_t tag = *decoding->reader.position;
  for (; row < end && row->tag < tag; ++row) decoding->may_lack |= tfrt_wire_is_missed(row);
  if (row == end || row->tag != tag) return next_other_field(decoding, out_field);
  ++decoding->reader.position;
  decoding->row = row->form == TFRT_WIRE_FORM_REPEATED ? row : row + 1;
  *out_field = row;
  return NULL;
}

// Finishes an absent field: a required struct within the struct is an error, an ENUM gets its
// fallback.
static tfrt_status_t finish_absent(tfrt_wire_decoding_t* decoding, const tfrt_wire_field_t* field) {
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

static tfrt_status_t finish_fields(tfrt_wire_decoding_t* decoding) {
  const tfrt_wire_message_t* message = decoding->message;
  const tfrt_wire_field_t* end = end_of_rows(message);
  if (message->is_oneof) return NULL;
  for (const tfrt_wire_field_t* row = decoding->row; row < end; ++row) {
    decoding->may_lack |= tfrt_wire_is_missed(row);
  }
  if (!decoding->may_lack) return NULL;
  for (const tfrt_wire_field_t* row = message->fields; row < end; ++row) {
    if ((decoding->seen >> row->number & 1) != 0) continue;
    TFRT_RETURN_IF_ERROR(finish_absent(decoding, row));
  }
  return NULL;
}

// Checks the whole object if a field was doubtful, and the rules across several fields.
static tfrt_status_t check_object(const tfrt_wire_decoding_t* decoding) {
  const tfrt_wire_message_t* message = decoding->message;
  bool is_empty_oneof = message->is_oneof && decoding->seen == 0;
  if (decoding->is_doubtful || is_empty_oneof) {
    return tfrt_wire_message_check(message, decoding->object);
  }
  return message->check && !message->is_oneof ? message->check(decoding->object) : NULL;
}

tfrt_status_t tfrt_wire_read_rest(tfrt_wire_decoding_t* decoding) {
  while (!tfrt_wire_reader_is_done(&decoding->reader)) {
    const tfrt_wire_field_t* field = NULL;
    TFRT_RETURN_IF_ERROR(next_field(decoding, &field));
    if (!field) continue;
    TFRT_RETURN_IF_ERROR(tfrt_wire_note_field(decoding, decoding->message, field));
    TFRT_RETURN_IF_ERROR(tfrt_wire_read_content(decoding, field));
  }
  TFRT_RETURN_IF_ERROR(finish_fields(decoding));
  return check_object(decoding);
}

tfrt_status_t tfrt_wire_read_any(const tfrt_wire_message_t* message, uint32_t item_kinds,
                                 tfrt_string_view_t bytes, tfrt_arena_t* arena, void* object) {
  if (message->max_size != 0 && bytes.size > message->max_size) {
    return tfrt_wire_error_of_size(message, bytes.size);
  }
  tfrt_wire_decoding_t decoding =
      tfrt_wire_decoding_make(message, item_kinds, bytes, arena, object, message->fields);
  return tfrt_wire_read_rest(&decoding);
}

tfrt_status_t tfrt_wire_decode(const tfrt_wire_message_t* message, tfrt_string_view_t bytes,
                               tfrt_arena_t* arena, void* out_object) {
  memset(out_object, 0, message->struct_size);
  tfrt_status_t status = tfrt_wire_read_message(message, 0, bytes, arena, out_object);
  if (status) memset(out_object, 0, message->struct_size);
  return status;
}
