// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/value_item.h"
#include "distributed/tuning/tuning.h"

#include <string.h>

static tfrt_status_t value_item_out_of_memory(void) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a value");
}

static tfrt_status_t value_item_encode_error(tfrt_async_value_t* value, tfrt_value_item_host_t host,
                                             tfrt_arena_t* arena, tfrt_wire_item_t* out_item) {
  tfrt_wire_error_t* error = tfrt_arena_allocate(arena, sizeof(*error));
  if (!error) return value_item_out_of_memory();
  TFRT_RETURN_IF_ERROR(tfrt_wire_error_from_status(tfrt_async_value_error(value), host.rank,
                                                   host.incarnation, arena, error));
  out_item->kind = TFRT_WIRE_ITEM_ERROR;
  out_item->error = error;
  return NULL;
}

tfrt_status_t tfrt_value_item_encode(tfrt_async_value_t* value, size_t limit,
                                     tfrt_value_item_host_t host, tfrt_arena_t* arena,
                                     tfrt_wire_item_t* out_item) {
  memset(out_item, 0, sizeof(*out_item));
  if (tfrt_async_value_is_error(value)) {
    return value_item_encode_error(value, host, arena, out_item);
  }
  tfrt_async_value_t* concrete = tfrt_async_value_resolved(value);
  const tfrt_type_t* type = tfrt_type_get(concrete->type_id);
  // A value that streams has to be read first, so it never fits.
  if (!type->codec || type->streams) return NULL;
  tfrt_encoding_t encoding;
  tfrt_status_t status = tfrt_type_encode(type, tfrt_async_value_payload(concrete), &encoding);
  if (status) {
    // The type has bytes, this value has none: it stays where it is.
    tfrt_status_release(status);
    return NULL;
  }
  if (encoding.body_size > limit) return NULL;
  void* header = tfrt_arena_copy(arena, encoding.header, encoding.header_size, 1);
  if (!header && encoding.header_size > 0) return value_item_out_of_memory();
  out_item->kind = TFRT_WIRE_ITEM_INLINE;
  out_item->value.type = tfrt_string_view_of(type->name);
  out_item->value.header = tfrt_string_view_make(header, encoding.header_size);
  out_item->value.body = tfrt_string_view_make(encoding.body, encoding.body_size);
  return NULL;
}

// The most bytes of tags, lengths and numbers of a value, and of an error, in a message.
#define TFRT_VALUE_ITEM_VALUE_OVERHEAD 32u
#define TFRT_VALUE_ITEM_ERROR_OVERHEAD 128u

static size_t value_item_error_size(const tfrt_wire_error_t* error) {
  size_t size = TFRT_VALUE_ITEM_ERROR_OVERHEAD + error->message.size;
  if (error->origin) {
    size += error->origin->function.size + error->origin->kernel.size + error->origin->file.size;
  }
  for (size_t i = 0; i < error->cause_count; ++i) size += error->causes[i].size;
  return size;
}

size_t tfrt_value_item_size(const tfrt_wire_item_t* item) {
  switch (item->kind) {
    case TFRT_WIRE_ITEM_INLINE:
      return TFRT_VALUE_ITEM_VALUE_OVERHEAD + item->value.type.size + item->value.header.size +
             item->value.body.size;
    case TFRT_WIRE_ITEM_AVAILABLE:
      return TFRT_VALUE_ITEM_VALUE_OVERHEAD + item->available.type.size;
    case TFRT_WIRE_ITEM_ERROR:
      return value_item_error_size(item->error);
    default:
      return TFRT_VALUE_ITEM_REFERENCE_SIZE;
  }
}

bool tfrt_value_item_take_room(const tfrt_wire_item_t* item, size_t* room) {
  size_t size = tfrt_value_item_size(item);
  if (size <= TFRT_VALUE_ITEM_REFERENCE_SIZE) return true;
  if (size > *room) return false;
  *room -= size;
  return true;
}

tfrt_status_t tfrt_value_item_encode_within(tfrt_async_value_t* value, size_t limit,
                                            tfrt_value_item_host_t host, tfrt_arena_t* arena,
                                            size_t* room, tfrt_wire_item_t* out_item) {
  TFRT_RETURN_IF_ERROR(tfrt_value_item_encode(value, limit, host, arena, out_item));
  if (out_item->kind == TFRT_WIRE_ITEM_NONE || tfrt_value_item_take_room(out_item, room)) {
    return NULL;
  }
  memset(out_item, 0, sizeof(*out_item));
  return NULL;
}

tfrt_wire_available_t tfrt_value_item_describe(tfrt_async_value_t* value) {
  tfrt_async_value_t* concrete = tfrt_async_value_resolved(value);
  const tfrt_type_t* type = tfrt_type_get(concrete->type_id);
  tfrt_wire_available_t available = {.type = tfrt_string_view_of(type->name)};
  if (!type->codec) return available;
  tfrt_encoding_t encoding;
  tfrt_status_t status = tfrt_type_encode(type, tfrt_async_value_payload(concrete), &encoding);
  if (!status) available.size = encoding.body_size;
  tfrt_status_release(status);
  return available;
}

// A name that came lately, and its type, which never changes.
typedef struct tfrt_value_item_name_s {
  size_t size;  // 0: none
  tfrt_type_id_t id;
  char text[32];
} tfrt_value_item_name_t;

static _Thread_local tfrt_value_item_name_t tfrt_value_item_recent[TFRT_VALUE_ITEM_RECENT];

// The place for |name|, which has at least one character.
static tfrt_value_item_name_t* value_item_place(tfrt_string_view_t name) {
  size_t number = name.size + (unsigned char)name.data[name.size - 1];
  return &tfrt_value_item_recent[number % TFRT_VALUE_ITEM_RECENT];
}

static bool value_item_recall(tfrt_string_view_t name, tfrt_type_id_t* out_id) {
  if (name.size == 0) return false;
  const tfrt_value_item_name_t* recent = value_item_place(name);
  if (recent->size != name.size || memcmp(recent->text, name.data, name.size) != 0) return false;
  *out_id = recent->id;
  return true;
}

static void value_item_remember(tfrt_string_view_t name, tfrt_type_id_t id) {
  tfrt_value_item_name_t* recent = value_item_place(name);
  if (name.size > sizeof(recent->text)) return;
  recent->size = name.size;
  recent->id = id;
  memcpy(recent->text, name.data, name.size);
}

tfrt_status_t tfrt_value_item_find_type(tfrt_string_view_t name, tfrt_type_id_t* out_id) {
  if (value_item_recall(name, out_id)) return NULL;
  char text[TFRT_WIRE_MAX_TYPE_NAME_SIZE + 1];
  if (name.size >= sizeof(text)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a type's name has %zu bytes",
                              name.size);
  }
  if (name.size > 0) memcpy(text, name.data, name.size);
  text[name.size] = '\0';
  // Otherwise the part in front of the NUL would be taken for the name.
  if (strlen(text) != name.size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a type's name has a NUL in it: %s...",
                              text);
  }
  if (!tfrt_type_find(text, out_id)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a value came of the type %s, which this host doesn't know", text);
  }
  value_item_remember(name, *out_id);
  return NULL;
}

// The same for a type whose values have bytes.
static tfrt_status_t value_item_find_coded(tfrt_string_view_t name, tfrt_type_id_t* out_id) {
  TFRT_RETURN_IF_ERROR(tfrt_value_item_find_type(name, out_id));
  if (tfrt_type_get(*out_id)->codec) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a value came of the type %s, which has no codec here",
                            tfrt_type_get(*out_id)->name);
}

tfrt_status_t tfrt_value_item_begin(tfrt_string_view_t type, tfrt_string_view_t header,
                                    size_t body_size, const tfrt_payload_place_t* place,
                                    tfrt_allocator_t allocator, tfrt_value_arrival_t* out_arrival) {
  *out_arrival = (tfrt_value_arrival_t){.value = NULL};
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  TFRT_RETURN_IF_ERROR(value_item_find_coded(type, &id));
  const uint8_t* bytes = (const uint8_t*)header.data;
  const tfrt_payload_streams_t* streams = place ? tfrt_type_get(id)->streams : NULL;
  if (streams) {
    return streams->open_sink(place, bytes, header.size, body_size, &out_arrival->sink);
  }
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(id);
  if (!value) return value_item_out_of_memory();
  void* body = NULL;
  tfrt_status_t status = tfrt_type_get(id)->codec->decode(bytes, header.size, body_size, allocator,
                                                          tfrt_async_value_payload(value), &body);
  if (status) {
    tfrt_async_value_release(value);
    return status;
  }
  // Nobody else knows the value yet: from here on its payload is destroyed with it.
  atomic_store_explicit(&value->flags, TFRT_ASYNC_VALUE_FLAG_CONSTRUCTED, memory_order_relaxed);
  out_arrival->value = value;
  out_arrival->body = body;
  return NULL;
}

void tfrt_value_item_complete(tfrt_value_arrival_t* arrival) {
  if (arrival->sink) {
    arrival->value = arrival->sink->vtable->finish(arrival->sink);
    return;
  }
  tfrt_async_value_t* value = arrival->value;
  const tfrt_codec_t* codec = tfrt_type_get(value->type_id)->codec;
  tfrt_status_t status = codec->complete ? codec->complete(tfrt_async_value_payload(value)) : NULL;
  if (!status) {
    tfrt_async_value_set_available(value);
    return;
  }
  tfrt_async_value_set_error(value, status);
  tfrt_status_release(status);
}

tfrt_async_value_t* tfrt_value_item_decode(const tfrt_wire_value_t* wire,
                                           tfrt_allocator_t allocator) {
  tfrt_value_arrival_t arrival;
  tfrt_status_t status =
      tfrt_value_item_begin(wire->type, wire->header, wire->body.size, NULL, allocator, &arrival);
  if (status) return tfrt_async_value_create_error_take(status);
  if (wire->body.size > 0) memcpy(arrival.body, wire->body.data, wire->body.size);
  tfrt_value_item_complete(&arrival);
  return arrival.value;
}

tfrt_async_value_t* tfrt_value_item_decode_error(const tfrt_wire_error_t* wire) {
  return tfrt_async_value_create_error_take(tfrt_wire_error_to_status(wire));
}
