// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/value.h"

#include "distributed/wire/messages.h"
#include "distributed/wire/walks.h"

static const tfrt_wire_field_t object_id_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_object_id_t, namer, 1, FIXED64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_object_id_t, number, 2, UINT64, .required = true,
                    .limit = TFRT_WIRE_MAX_NUMBER),
    TFRT_WIRE_FIELD(tfrt_wire_object_id_t, index, 3, UINT32, .limit = TFRT_WIRE_MAX_INDEX),
};
const tfrt_wire_message_t tfrt_wire_object_id_message =
    TFRT_WIRE_MESSAGE("ObjectId", tfrt_wire_object_id_t, object_id_fields);

static const tfrt_wire_field_t reference_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, id, 1, MESSAGE, .required = true,
                    .message = &tfrt_wire_object_id_message),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, owner, 2, FIXED64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, owner_rank, 3, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, namer_rank, 4, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, is_chain, 5, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, is_mutable, 6, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, is_recoverable, 7, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_reference_t, is_pushed, 8, BOOL),
};

// The exported values of an owner have no index, so that each has one name only.
static tfrt_status_t check_reference(const void* object) {
  const tfrt_wire_reference_t* reference = object;
  if (reference->id.namer != reference->owner || reference->id.index == 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "Reference.id: index %u of an exported value, must be 0",
                            reference->id.index);
}

const tfrt_wire_message_t tfrt_wire_reference_message = TFRT_WIRE_MESSAGE(
    "Reference", tfrt_wire_reference_t, reference_fields, .check = check_reference);

static const tfrt_wire_field_t value_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_value_t, type, 1, STRING, .required = true,
                    .limit = TFRT_WIRE_MAX_TYPE_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_value_t, header, 2, BYTES, .limit = TFRT_WIRE_MAX_VALUE_HEADER_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_value_t, body, 15, BYTES, .limit = TFRT_WIRE_MAX_INLINE_SIZE),
};
TFRT_WIRE_WALKS(tfrt_wire_value)
const tfrt_wire_message_t tfrt_wire_value_message =
    TFRT_WIRE_MESSAGE("Value", tfrt_wire_value_t, value_fields, TFRT_WIRE_WALKED(tfrt_wire_value));

static const tfrt_wire_field_t available_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_available_t, type, 1, STRING, .limit = TFRT_WIRE_MAX_TYPE_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_available_t, size, 2, UINT64),
};
static const tfrt_wire_message_t available_message =
    TFRT_WIRE_MESSAGE("Available", tfrt_wire_available_t, available_fields);

static const tfrt_wire_field_t on_bulk_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_on_bulk_t, type, 1, STRING, .required = true,
                    .limit = TFRT_WIRE_MAX_TYPE_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_on_bulk_t, header, 2, BYTES,
                    .limit = TFRT_WIRE_MAX_VALUE_HEADER_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_on_bulk_t, size, 3, UINT64),
};
static const tfrt_wire_message_t on_bulk_message =
    TFRT_WIRE_MESSAGE("OnBulk", tfrt_wire_on_bulk_t, on_bulk_fields);

static const tfrt_wire_field_t same_as_argument_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_same_as_argument_t, argument, 1, UINT32,
                    .limit = TFRT_WIRE_MAX_ARGUMENTS - 1),
};
static const tfrt_wire_message_t same_as_argument_message =
    TFRT_WIRE_MESSAGE("SameAsArgument", tfrt_wire_same_as_argument_t, same_as_argument_fields);

// An element is an item that is no list: so a message has no depth that is the sender's choice.
static const tfrt_wire_field_t element_fields[] = {
    TFRT_WIRE_ROW("inline", offsetof(tfrt_wire_item_t, value), TFRT_WIRE_ITEM_INLINE, MESSAGE,
                  .message = &tfrt_wire_value_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, reference, TFRT_WIRE_ITEM_REFERENCE, MESSAGE,
                    .message = &tfrt_wire_reference_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, error, TFRT_WIRE_ITEM_ERROR, MESSAGE,
                    .form = TFRT_WIRE_FORM_POINTER, .message = &tfrt_wire_error_message),
};
static const tfrt_wire_message_t element_message =
    TFRT_WIRE_MESSAGE("Element", tfrt_wire_item_t, element_fields, .is_oneof = true,
                      .kind_offset = offsetof(tfrt_wire_item_t, kind));

static const tfrt_wire_field_t list_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_list_t, type, 1, STRING, .required = true,
                    .limit = TFRT_WIRE_MAX_TYPE_NAME_SIZE),
    TFRT_WIRE_REPEATED(tfrt_wire_list_t, elements, element_count, 2, MESSAGE,
                       TFRT_WIRE_MAX_ELEMENTS, .message = &element_message),
};
static const tfrt_wire_message_t list_message =
    TFRT_WIRE_MESSAGE("List", tfrt_wire_list_t, list_fields);

// Nothing is in it, nothing is stored for it.
static const tfrt_wire_message_t held_message = {.name = "Held"};

static const tfrt_wire_field_t item_fields[] = {
    TFRT_WIRE_ROW("inline", offsetof(tfrt_wire_item_t, value), TFRT_WIRE_ITEM_INLINE, MESSAGE,
                  .message = &tfrt_wire_value_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, available, TFRT_WIRE_ITEM_AVAILABLE, MESSAGE,
                    .message = &available_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, reference, TFRT_WIRE_ITEM_REFERENCE, MESSAGE,
                    .message = &tfrt_wire_reference_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, same_as_argument, TFRT_WIRE_ITEM_SAME_AS_ARGUMENT, MESSAGE,
                    .message = &same_as_argument_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, on_bulk, TFRT_WIRE_ITEM_ON_BULK, MESSAGE,
                    .message = &on_bulk_message),
    TFRT_WIRE_ROW("held", offsetof(tfrt_wire_item_t, value), TFRT_WIRE_ITEM_HELD, MESSAGE,
                  .message = &held_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, error, TFRT_WIRE_ITEM_ERROR, MESSAGE,
                    .form = TFRT_WIRE_FORM_POINTER, .message = &tfrt_wire_error_message),
    TFRT_WIRE_FIELD(tfrt_wire_item_t, list, TFRT_WIRE_ITEM_LIST, MESSAGE, .message = &list_message),
};
TFRT_WIRE_WALKS(tfrt_wire_item)
const tfrt_wire_message_t tfrt_wire_item_message = TFRT_WIRE_MESSAGE(
    "Item", tfrt_wire_item_t, item_fields, .is_oneof = true,
    .kind_offset = offsetof(tfrt_wire_item_t, kind), TFRT_WIRE_WALKED(tfrt_wire_item));
