// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/schema.h"

#include <inttypes.h>

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
