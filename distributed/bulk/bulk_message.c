// SPDX-License-Identifier: Apache-2.0
//
// A message of a channel, read from the spans in which a transport hands it over, without gathering
// its payload.
//
//   spans:   [ prefix ....... | payl ] [ oad ........... ] [ ... ]
//            `-- gathered --'   `-- left where it is: copied once, to its place
//
// A chunk whose payload is not its last field is legal, and gathered as a whole.
#include "distributed/bulk/bulk_impl.h"

#include <string.h>

// --- Reading ---------------------------------------------------------------

// Tag of a chunk in a message, and of the payload in a chunk: field 15, bytes.
#define TAG_CHUNK 0x7a
#define TAG_PAYLOAD 0x7a
#define WIRE_TYPE_MASK 7

// A message's first bytes, as far as they are gathered, and how far they are read.
typedef struct reader_s {
  const uint8_t* bytes;
  size_t size;
  size_t position;
} reader_t;

static bool read_varint(reader_t* reader, uint64_t* out_value) {
  *out_value = 0;
  for (int shift = 0; shift < 64 && reader->position < reader->size; shift += 7) {
    uint8_t byte = reader->bytes[reader->position++];
    *out_value |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return true;
  }
  return false;
}

static bool skip(reader_t* reader, uint64_t size) {
  if (size > reader->size - reader->position) return false;
  reader->position += (size_t)size;
  return true;
}

static bool skip_field(reader_t* reader, uint64_t tag) {
  uint64_t ignored;
  switch (tag & WIRE_TYPE_MASK) {
    case 0:
      return read_varint(reader, &ignored);
    case 1:
      return skip(reader, 8);
    case 2:
      return read_varint(reader, &ignored) && skip(reader, ignored);
    case 5:
      return skip(reader, 4);
    default:
      return false;
  }
}

// Looks for a chunk whose payload ends a message of |total| bytes. Sets where the chunk's
// fields begin, where its payload's tag stands and where the payload begins.
static bool find_payload(reader_t* reader, size_t total, size_t* out_fields, size_t* out_tag,
                         size_t* out_payload) {
  uint64_t size;
  if (reader->size == 0 || reader->bytes[reader->position++] != TAG_CHUNK) return false;
  if (!read_varint(reader, &size) || size != total - reader->position) return false;
  *out_fields = reader->position;
  while (reader->position < reader->size) {
    size_t start = reader->position;
    uint64_t tag;
    if (!read_varint(reader, &tag)) return false;
    if (tag != TAG_PAYLOAD) {
      if (!skip_field(reader, tag)) return false;
      continue;
    }
    *out_tag = start;
    if (!read_varint(reader, &size)) return false;
    *out_payload = reader->position;
    return size == total - reader->position;
  }
  return false;
}

static size_t gather(const tfrt_transport_span_t* spans, size_t count, uint8_t* target,
                     size_t limit) {
  size_t size = 0;
  for (size_t i = 0; i < count && size < limit; ++i) {
    size_t part = spans[i].size < limit - size ? spans[i].size : limit - size;
    if (part > 0) memcpy(target + size, spans[i].data, part);
    size += part;
  }
  return size;
}

// Decodes the fields before a payload as a chunk of their own: the one that was sent, but
// with an empty payload.
static tfrt_status_t decode_prefix(tfrt_bulk_message_t* message, const uint8_t* fields, size_t size,
                                   bool is_from_dialler) {
  // Two bytes hold lengths up to 2^14, and a prefix has at most 512.
  uint8_t* bytes = tfrt_arena_allocate(&message->arena, size + 3);
  if (!bytes) return tfrt_status_out_of_memory();
  bytes[0] = TAG_CHUNK;
  bytes[1] = (uint8_t)((size & 0x7f) | 0x80);
  bytes[2] = (uint8_t)(size >> 7);
  memcpy(bytes + 3, fields, size);
  return tfrt_wire_bulk_decode(tfrt_string_view_make((const char*)bytes, size + 3), is_from_dialler,
                               &message->arena, &message->body);
}

static tfrt_status_t decode_gathered(tfrt_bulk_message_t* message,
                                     const tfrt_transport_span_t* spans, size_t count, size_t total,
                                     bool is_from_dialler) {
  uint8_t* bytes = tfrt_allocator_allocate(message->allocator, total);
  if (!bytes) return tfrt_status_out_of_memory();
  gather(spans, count, bytes, total);
  message->gathered = (tfrt_transport_span_t){bytes, total};
  TFRT_RETURN_IF_ERROR(tfrt_wire_bulk_decode(tfrt_string_view_make((const char*)bytes, total),
                                             is_from_dialler, &message->arena, &message->body));
  message->spans = &message->gathered;
  message->span_count = 1;
  if (message->body.kind == TFRT_WIRE_BULK_CHUNK && message->body.chunk.payload.size > 0) {
    message->payload_offset = (size_t)((const uint8_t*)message->body.chunk.payload.data - bytes);
  }
  return NULL;
}

static tfrt_status_t read_spans(tfrt_bulk_message_t* message, const tfrt_transport_span_t* spans,
                                size_t count, bool is_from_dialler) {
  size_t total = 0;
  for (size_t i = 0; i < count; ++i) total += spans[i].size;
  if (total > TFRT_WIRE_MAX_BULK_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a message of a bulk channel has at most %u bytes, not %zu",
                              TFRT_WIRE_MAX_BULK_SIZE, total);
  }
  uint8_t head[TFRT_WIRE_MAX_CHUNK_PREFIX_SIZE];
  reader_t reader = {head, gather(spans, count, head, sizeof(head)), 0};
  size_t fields = 0;
  size_t tag = 0;
  size_t payload = 0;
  if (!find_payload(&reader, total, &fields, &tag, &payload)) {
    return decode_gathered(message, spans, count, total, is_from_dialler);
  }
  TFRT_RETURN_IF_ERROR(decode_prefix(message, head + fields, tag - fields, is_from_dialler));
  size_t size = total - payload;
  if (size > TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE || message->body.chunk.offset > UINT64_MAX - size) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "Chunk.payload: %zu bytes are too long, at most %u", size,
                              TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE);
  }
  message->body.chunk.payload.size = size;
  message->spans = spans;
  message->span_count = count;
  message->payload_offset = payload;
  return NULL;
}

tfrt_status_t tfrt_bulk_message_initialize(tfrt_bulk_message_t* message,
                                           const tfrt_transport_span_t* spans, size_t count,
                                           bool is_from_dialler, tfrt_allocator_t allocator) {
  *message = (tfrt_bulk_message_t){.allocator = allocator};
  tfrt_arena_initialize(&message->arena, allocator);
  tfrt_status_t status = read_spans(message, spans, count, is_from_dialler);
  if (!tfrt_status_is_ok(status)) tfrt_bulk_message_deinitialize(message);
  return status;
}

void tfrt_bulk_message_deinitialize(tfrt_bulk_message_t* message) {
  tfrt_allocator_free(message->allocator, (void*)message->gathered.data, message->gathered.size);
  tfrt_arena_deinitialize(&message->arena);
}
