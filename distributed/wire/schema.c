// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/schema.h"

#include <inttypes.h>
#include <string.h>

#include "distributed/wire/coding.h"

static const void* member(const void* object, size_t offset) {
  return (const char*)object + offset;
}

uint64_t tfrt_wire_field_number(const tfrt_wire_field_t* field, const void* object) {
  const void* value = member(object, field->offset);
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

size_t tfrt_wire_field_count(const tfrt_wire_field_t* field, const void* object) {
  if (field->form != TFRT_WIRE_FORM_REPEATED) return 1;
  return *(const size_t*)member(object, field->count_offset);
}

const void* tfrt_wire_field_element(const tfrt_wire_field_t* field, const void* object,
                                    size_t index) {
  const void* value = member(object, field->offset);
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

// The texts of a STRING or BYTES field.
static const tfrt_string_view_t* text_element(const tfrt_wire_field_t* field, const void* object,
                                              size_t index) {
  return tfrt_wire_field_element(field, object, index);
}

bool tfrt_wire_field_is_present(const tfrt_wire_message_t* message, const tfrt_wire_field_t* field,
                                const void* object) {
  if (message->is_oneof &&
      *(const uint32_t*)member(object, message->kind_offset) != field->number) {
    return false;
  }
  if (field->form == TFRT_WIRE_FORM_REPEATED) return tfrt_wire_field_count(field, object) > 0;
  switch (field->type) {
    case TFRT_WIRE_FIELD_MESSAGE:
      return tfrt_wire_field_element(field, object, 0) != NULL;
    case TFRT_WIRE_FIELD_STRING:
    case TFRT_WIRE_FIELD_BYTES:
      return text_element(field, object, 0)->size > 0;
    default:
      return tfrt_wire_field_number(field, object) != 0;
  }
}

static tfrt_status_t check_text(const tfrt_wire_message_t* message, const tfrt_wire_field_t* field,
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
  if (field->type == TFRT_WIRE_FIELD_STRING && tfrt_wire_utf8_prefix(text) != text.size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s.%s: not valid UTF-8", message->name,
                              field->name);
  }
  return NULL;
}

static tfrt_status_t check_number(const tfrt_wire_message_t* message,
                                  const tfrt_wire_field_t* field, const void* object) {
  uint64_t number = tfrt_wire_field_number(field, object);
  if (field->limit == 0 || number <= field->limit) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s.%s: %" PRIu64 " is above the limit %" PRIu64, message->name,
                            field->name, number, field->limit);
}

// What an Item in |field| may be depends on where it stands, so the row that holds it says.
static tfrt_status_t check_item_kind(const tfrt_wire_message_t* message,
                                     const tfrt_wire_field_t* field, const void* object,
                                     size_t index) {
  const void* item = tfrt_wire_field_element(field, object, index);
  uint32_t kind = *(const uint32_t*)member(item, field->message->kind_offset);
  if (kind < 32 && (field->item_kinds >> kind & 1) != 0) return NULL;
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
  bool is_text = field->type != TFRT_WIRE_FIELD_MESSAGE;
  for (size_t i = 0; i < count && (is_text || field->item_kinds != 0); ++i) {
    tfrt_status_t status = is_text ? check_text(message, field, *text_element(field, object, i))
                                   : check_item_kind(message, field, object, i);
    if (status) return status;
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
  uint32_t kind = *(const uint32_t*)member(object, message->kind_offset);
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
