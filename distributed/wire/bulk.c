// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/bulk.h"

#include "distributed/wire/codec.h"

// The last field of a chunk, for ever.
enum { CHUNK_PAYLOAD_NUMBER = 15 };

static const tfrt_wire_field_t bulk_hello_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_bulk_hello_t, version, 1, UINT32, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_hello_t, from_incarnation, 2, FIXED64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_hello_t, to_incarnation, 3, FIXED64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_hello_t, session, 4, UINT32, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_hello_t, channel, 5, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_hello_t, connection, 6, UINT32, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_hello_t, place, 7, BYTES, .limit = TFRT_WIRE_MAX_PLACE_SIZE),
};
static const tfrt_wire_message_t bulk_hello_message =
    TFRT_WIRE_MESSAGE("BulkHello", tfrt_wire_bulk_hello_t, bulk_hello_fields);

static const tfrt_wire_field_t bulk_welcome_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_bulk_welcome_t, channel, 1, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_welcome_t, error, 2, MESSAGE, .form = TFRT_WIRE_FORM_POINTER,
                    .message = &tfrt_wire_error_message),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_welcome_t, last_dialled, 3, UINT32),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_welcome_t, place, 4, BYTES, .limit = TFRT_WIRE_MAX_PLACE_SIZE),
};
static const tfrt_wire_message_t bulk_welcome_message =
    TFRT_WIRE_MESSAGE("BulkWelcome", tfrt_wire_bulk_welcome_t, bulk_welcome_fields);

static const tfrt_wire_field_t chunk_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_chunk_t, want, 1, UINT64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_chunk_t, offset, 2, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_chunk_t, type, 3, STRING, .limit = TFRT_WIRE_MAX_TYPE_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_chunk_t, header, 4, BYTES, .limit = TFRT_WIRE_MAX_VALUE_HEADER_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_chunk_t, total_size, 5, UINT64),
    TFRT_WIRE_FIELD(tfrt_wire_chunk_t, last, 6, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_chunk_t, checksum_kind, 7, ENUM, .limit = TFRT_WIRE_CHECKSUM_CRC32C,
                    .fallback = TFRT_WIRE_CHECKSUM_NONE),
    TFRT_WIRE_FIELD(tfrt_wire_chunk_t, checksum, 8, FIXED32),
    TFRT_WIRE_FIELD(tfrt_wire_chunk_t, asks_received, 9, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_chunk_t, payload, CHUNK_PAYLOAD_NUMBER, BYTES,
                    .limit = TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE),
};

static tfrt_status_t check_chunk(const void* object) {
  const tfrt_wire_chunk_t* chunk = object;
  if (chunk->offset > UINT64_MAX - chunk->payload.size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "Chunk.offset: the payload's end is beyond 64 bits");
  }
  bool is_first = chunk->type.size > 0;
  if (is_first && chunk->offset + chunk->payload.size > chunk->total_size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "Chunk.total_size: the payload ends behind it");
  }
  return NULL;
}

const tfrt_wire_message_t tfrt_wire_chunk_message =
    TFRT_WIRE_MESSAGE("Chunk", tfrt_wire_chunk_t, chunk_fields, .check = check_chunk);

static const tfrt_wire_field_t window_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_window_t, want, 1, UINT64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_window_t, limit, 2, UINT64),
};
static const tfrt_wire_message_t window_message =
    TFRT_WIRE_MESSAGE("Window", tfrt_wire_window_t, window_fields);

static const tfrt_wire_field_t received_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_received_t, bytes, 1, UINT64, .required = true),
};
static const tfrt_wire_message_t received_message =
    TFRT_WIRE_MESSAGE("Received", tfrt_wire_received_t, received_fields);

static const tfrt_wire_field_t abort_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_abort_t, want, 1, UINT64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_abort_t, from_owner, 2, BOOL),
    TFRT_WIRE_FIELD(tfrt_wire_abort_t, error, 3, MESSAGE, .required = true,
                    .form = TFRT_WIRE_FORM_POINTER, .message = &tfrt_wire_error_message),
    TFRT_WIRE_FIELD(tfrt_wire_abort_t, is_final, 4, BOOL),
};
static const tfrt_wire_message_t abort_message =
    TFRT_WIRE_MESSAGE("Abort", tfrt_wire_abort_t, abort_fields);

static const tfrt_wire_field_t offer_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_offer_t, want, 1, UINT64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_offer_t, type, 2, STRING, .required = true,
                    .limit = TFRT_WIRE_MAX_TYPE_NAME_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_offer_t, header, 3, BYTES, .limit = TFRT_WIRE_MAX_VALUE_HEADER_SIZE),
    TFRT_WIRE_FIELD(tfrt_wire_offer_t, total_size, 4, UINT64, .required = true),
    TFRT_WIRE_FIELD(tfrt_wire_offer_t, ticket, 5, BYTES, .required = true,
                    .limit = TFRT_WIRE_MAX_TICKET_SIZE),
};
static const tfrt_wire_message_t offer_message =
    TFRT_WIRE_MESSAGE("Offer", tfrt_wire_offer_t, offer_fields);

static const tfrt_wire_field_t decline_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_decline_t, want, 1, UINT64, .required = true),
};
static const tfrt_wire_message_t decline_message =
    TFRT_WIRE_MESSAGE("Decline", tfrt_wire_decline_t, decline_fields);

static const tfrt_wire_field_t bulk_up_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, hello, TFRT_WIRE_BULK_GREETING, MESSAGE,
                    .message = &bulk_hello_message),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, window, TFRT_WIRE_BULK_WINDOW, MESSAGE,
                    .message = &window_message),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, abort, TFRT_WIRE_BULK_ABORT, MESSAGE,
                    .message = &abort_message),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, received, TFRT_WIRE_BULK_RECEIVED, MESSAGE,
                    .message = &received_message),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, offer, TFRT_WIRE_BULK_OFFER, MESSAGE,
                    .message = &offer_message),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, decline, TFRT_WIRE_BULK_DECLINE, MESSAGE,
                    .message = &decline_message),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, chunk, TFRT_WIRE_BULK_CHUNK, MESSAGE,
                    .message = &tfrt_wire_chunk_message),
};
const tfrt_wire_message_t tfrt_wire_bulk_up_message = TFRT_WIRE_MESSAGE(
    "BulkUp", tfrt_wire_bulk_t, bulk_up_fields, .max_size = TFRT_WIRE_MAX_BULK_SIZE,
    .is_oneof = true, .kind_offset = offsetof(tfrt_wire_bulk_t, kind));

static const tfrt_wire_field_t bulk_down_fields[] = {
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, welcome, TFRT_WIRE_BULK_GREETING, MESSAGE,
                    .message = &bulk_welcome_message),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, window, TFRT_WIRE_BULK_WINDOW, MESSAGE,
                    .message = &window_message),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, abort, TFRT_WIRE_BULK_ABORT, MESSAGE,
                    .message = &abort_message),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, received, TFRT_WIRE_BULK_RECEIVED, MESSAGE,
                    .message = &received_message),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, offer, TFRT_WIRE_BULK_OFFER, MESSAGE,
                    .message = &offer_message),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, decline, TFRT_WIRE_BULK_DECLINE, MESSAGE,
                    .message = &decline_message),
    TFRT_WIRE_FIELD(tfrt_wire_bulk_t, chunk, TFRT_WIRE_BULK_CHUNK, MESSAGE,
                    .message = &tfrt_wire_chunk_message),
};
const tfrt_wire_message_t tfrt_wire_bulk_down_message = TFRT_WIRE_MESSAGE(
    "BulkDown", tfrt_wire_bulk_t, bulk_down_fields, .max_size = TFRT_WIRE_MAX_BULK_SIZE,
    .is_oneof = true, .kind_offset = offsetof(tfrt_wire_bulk_t, kind));

static const tfrt_wire_message_t* message_from(bool is_from_dialler) {
  return is_from_dialler ? &tfrt_wire_bulk_up_message : &tfrt_wire_bulk_down_message;
}

tfrt_status_t tfrt_wire_bulk_encode(const tfrt_wire_bulk_t* message, bool is_from_dialler,
                                    tfrt_string_builder_t* out) {
  return tfrt_wire_encode(message_from(is_from_dialler), message, out);
}

// Appends the tag of field |number| and the length of its content, |size| bytes.
static void append_bytes_prefix(uint32_t number, size_t size, tfrt_string_builder_t* out) {
  uint8_t prefix[20];
  uint8_t* end = tfrt_wire_write_varint(prefix, tfrt_wire_tag(number, TFRT_WIRE_TYPE_BYTES));
  end = tfrt_wire_write_varint(end, size);
  tfrt_string_builder_append(out, prefix, (size_t)(end - prefix));
}

tfrt_status_t tfrt_wire_chunk_encode_prefix(const tfrt_wire_chunk_t* chunk,
                                            tfrt_string_builder_t* out) {
  TFRT_RETURN_IF_ERROR(tfrt_wire_encode_check(&tfrt_wire_chunk_message, chunk));
  // The payload has the highest number, so all else lies in front of it.
  tfrt_wire_chunk_t header = *chunk;
  header.payload = tfrt_string_view_make(NULL, 0);
  append_bytes_prefix(TFRT_WIRE_BULK_CHUNK, tfrt_wire_encoded_size(&tfrt_wire_chunk_message, chunk),
                      out);
  TFRT_RETURN_IF_ERROR(tfrt_wire_encode(&tfrt_wire_chunk_message, &header, out));
  if (chunk->payload.size > 0) append_bytes_prefix(CHUNK_PAYLOAD_NUMBER, chunk->payload.size, out);
  return tfrt_string_builder_status(out);
}

tfrt_status_t tfrt_wire_bulk_decode(tfrt_string_view_t bytes, bool is_from_dialler,
                                    tfrt_arena_t* arena, tfrt_wire_bulk_t* out_message) {
  return tfrt_wire_decode(message_from(is_from_dialler), bytes, arena, out_message);
}
