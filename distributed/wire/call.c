// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/call.h"

#include "distributed/wire/codec.h"
#include "distributed/wire/walks.h"

TFRT_WIRE_CALL_FRAMES(TFRT_WIRE_DECLARE_MESSAGE)

// The kinds that an argument of a call, and a result, may have.
#define TFRT_WIRE_ARGUMENT_KINDS                                                              \
  (TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_INLINE) | TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_REFERENCE) | \
   TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_ERROR))
#define TFRT_WIRE_RESULT_KINDS                                               \
  (TFRT_WIRE_ARGUMENT_KINDS | TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_AVAILABLE) | \
   TFRT_WIRE_ITEM_BIT(TFRT_WIRE_ITEM_SAME_AS_ARGUMENT))

static const tfrt_wire_field_t location_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_location_t, function, 1, STRING, .limit = TFRT_WIRE_MAX_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_location_t, file, 2, STRING, .limit = TFRT_WIRE_MAX_PATH_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_location_t, line, 3, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_location_t, column, 4, UINT32),
};
const tfrt_wire_message_t tfrt_wire_location_message =
    TFRT_WIRE_MESSAGE("Location", tfrt_wire_location_t, location_fields);

static const tfrt_wire_field_t program_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_program_t, handle, 1, UINT32, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_program_t, sha256, 2, BYTES, .exact = true,
                    .limit = TFRT_WIRE_SHA256_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_program_t, size, 3, UINT64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_program_t, reference, 4, MESSAGE, .required = true,
                    .message = &tfrt_wire_reference_message),
    TFRT_WIRE_FIELD(tfrt_wire_program_t, name, 5, STRING, .limit = TFRT_WIRE_MAX_PATH_SIZE),
};
const tfrt_wire_message_t tfrt_wire_program_message =
    TFRT_WIRE_MESSAGE("Program", tfrt_wire_program_t, program_fields);

static const tfrt_wire_field_t push_to_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_push_to_t, result, 1, UINT32, .limit = TFRT_WIRE_MAX_RESULTS - 1),
    TFRT_WIRE_FIELD(tfrt_wire_push_to_t, to, 2, FIXED64, .required = true),
};
static const tfrt_wire_message_t push_to_message =
    TFRT_WIRE_MESSAGE("PushTo", tfrt_wire_push_to_t, push_to_fields);

static const tfrt_wire_field_t invoke_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_invoke_t, call, 1, UINT64, .required = true,
                    .limit = TFRT_WIRE_MAX_NUMBER),
    TFRT_WIRE_FIELD(tfrt_wire_invoke_t, program, 2, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_invoke_t, function, 3, UINT32),
    TFRT_WIRE_REPEATED(tfrt_wire_invoke_t, arguments, argument_count, 4, MESSAGE,
                       TFRT_WIRE_MAX_ARGUMENTS, .item_kinds = TFRT_WIRE_ARGUMENT_KINDS,
                       .message = &tfrt_wire_item_message),
    TFRT_WIRE_FIELD(tfrt_wire_invoke_t, result_count, 5, UINT32, .limit = TFRT_WIRE_MAX_RESULTS),
    TFRT_WIRE_FIELD(tfrt_wire_invoke_t, results_wanted, 6, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_invoke_t, take_inline, 7, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_invoke_t, pure, 8, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_invoke_t, depth, 9, UINT32, .limit = TFRT_WIRE_MAX_DEPTH),
    TFRT_WIRE_FIELD(tfrt_wire_invoke_t, location, 10, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &tfrt_wire_location_message),
    TFRT_WIRE_FIELD(tfrt_wire_invoke_t, device, 11, STRING, .limit = TFRT_WIRE_MAX_DEVICE_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_invoke_t, results_can_wait, 12, BOOL),
    TFRT_WIRE_REPEATED(tfrt_wire_invoke_t, push_to, push_to_count, 13, MESSAGE,
                       TFRT_WIRE_MAX_PUSHES, .message = &push_to_message),
    TFRT_WIRE_FIELD(tfrt_wire_invoke_t, image, 14, BYTES, .limit = TFRT_WIRE_MAX_IMAGE_SIZE),
};
TFRT_WIRE_WALKS(tfrt_wire_invoke)
const tfrt_wire_message_t tfrt_wire_invoke_message = TFRT_WIRE_MESSAGE(
    "Invoke", tfrt_wire_invoke_t, invoke_fields, TFRT_WIRE_WALKED(tfrt_wire_invoke));

static const tfrt_wire_field_t void_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_void_call_t, call, 1, UINT64, .required = true,
                    .limit = TFRT_WIRE_MAX_NUMBER),
    TFRT_WIRE_FIELD(tfrt_wire_void_call_t, result_count, 2, UINT32, .limit = TFRT_WIRE_MAX_RESULTS),
    TFRT_WIRE_FIELD(tfrt_wire_void_call_t, error, 3, MESSAGE, .required = true,
                    .form = TFRT_WIRE_FORM_POINTER, .message = &tfrt_wire_error_message),
    TFRT_WIRE_FIELD(tfrt_wire_void_call_t, key, 4, BYTES, .limit = TFRT_WIRE_MAX_KEY_SIZE),
};
const tfrt_wire_message_t tfrt_wire_void_call_message =
    TFRT_WIRE_MESSAGE("Void", tfrt_wire_void_call_t, void_fields);

static const tfrt_wire_field_t result_item_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_result_item_t, index, 1, UINT32, .limit = TFRT_WIRE_MAX_RESULTS - 1),
    TFRT_WIRE_FIELD(tfrt_wire_result_item_t, item, 2, MESSAGE, .required = true,
                    .item_kinds = TFRT_WIRE_RESULT_KINDS, .message = &tfrt_wire_item_message),
};
static const tfrt_wire_message_t result_item_message;
TFRT_WIRE_WALKS(result_item)
static const tfrt_wire_message_t result_item_message = TFRT_WIRE_MESSAGE(
    "ResultItem", tfrt_wire_result_item_t, result_item_fields, TFRT_WIRE_WALKED(result_item));

static const tfrt_wire_field_t result_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_result_t, call, 1, UINT64, .required = true,
                    .limit = TFRT_WIRE_MAX_NUMBER),
    TFRT_WIRE_REPEATED(tfrt_wire_result_t, results, result_count, 2, MESSAGE, TFRT_WIRE_MAX_RESULTS,
                       .message = &result_item_message),
    TFRT_WIRE_FIELD(tfrt_wire_result_t, done, 3, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_result_t, not_run, 4, BOOL),
};
TFRT_WIRE_WALKS(tfrt_wire_result)
const tfrt_wire_message_t tfrt_wire_result_message = TFRT_WIRE_MESSAGE(
    "Result", tfrt_wire_result_t, result_fields, TFRT_WIRE_WALKED(tfrt_wire_result));

static const tfrt_wire_field_t cancel_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_cancel_t, call, 1, UINT64, .required = true,
                    .limit = TFRT_WIRE_MAX_NUMBER),
    TFRT_WIRE_FIELD(tfrt_wire_cancel_t, reason, 2, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &tfrt_wire_error_message),
};
const tfrt_wire_message_t tfrt_wire_cancel_message =
    TFRT_WIRE_MESSAGE("Cancel", tfrt_wire_cancel_t, cancel_fields);

static const tfrt_wire_field_t cancel_request_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_cancel_request_t, request, 1, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_cancel_request_t, start, 2, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_cancel_request_t, reason, 3, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &tfrt_wire_error_message),
};

static tfrt_status_t check_cancel_request(const void* object) {
  const tfrt_wire_cancel_request_t* cancel = object;
  if ((cancel->request == 0) != (cancel->start == 0)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "CancelRequest.request: exactly one of request and start must be set");
}

const tfrt_wire_message_t tfrt_wire_cancel_request_message =
    TFRT_WIRE_MESSAGE("CancelRequest", tfrt_wire_cancel_request_t, cancel_request_fields,
                      .check = check_cancel_request);

static const tfrt_wire_field_t end_request_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_end_request_t, request, 1, UINT64, .required = true),
};
const tfrt_wire_message_t tfrt_wire_end_request_message =
    TFRT_WIRE_MESSAGE("EndRequest", tfrt_wire_end_request_t, end_request_fields);

static const tfrt_wire_field_t hurry_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_hurry_t, call, 1, UINT64, .required = true,
                    .limit = TFRT_WIRE_MAX_NUMBER),
};
const tfrt_wire_message_t tfrt_wire_hurry_message =
    TFRT_WIRE_MESSAGE("Hurry", tfrt_wire_hurry_t, hurry_fields);
