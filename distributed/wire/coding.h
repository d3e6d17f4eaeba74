// SPDX-License-Identifier: Apache-2.0
//
// The bytes of protocol buffers: varints, tags, fixed-width numbers, UTF-8. schema.h builds fields
// and messages on them.
//
//   field = tag | content        tag = varint of number << 3 | wire type
//   varint: 7 bits per byte, low ones first, the top bit says that more follows
//
// Why not protobuf-c here: its unpacker copies every text and payload, allocates as much as the
// peer claims, and reports only "malformed". The tests compare each message with protobuf-c's.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: reading gives false at the first malformed byte, and never reads beyond
// the end; writing can't fail, the caller has made room.
#ifndef TFRT_DISTRIBUTED_WIRE_CODING_H_
#define TFRT_DISTRIBUTED_WIRE_CODING_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/string_view.h"

// How the content of a field is delimited; numbers of the encoding.
typedef enum tfrt_wire_type_e {
  TFRT_WIRE_TYPE_VARINT = 0,
  TFRT_WIRE_TYPE_FIXED64 = 1,
  TFRT_WIRE_TYPE_BYTES = 2,
  TFRT_WIRE_TYPE_FIXED32 = 5,
} tfrt_wire_type_t;

// The highest field number that the encoding allows.
#define TFRT_WIRE_MAX_FIELD_NUMBER ((1u << 29) - 1)

// The unread rest of a message.
typedef struct tfrt_wire_reader_s {
  const uint8_t* position;
  const uint8_t* end;
} tfrt_wire_reader_t;

// A reader of all of |bytes|. Thread-safe.
static inline tfrt_wire_reader_t tfrt_wire_reader_make(tfrt_string_view_t bytes) {
  const uint8_t* begin = (const uint8_t*)bytes.data;
  return (tfrt_wire_reader_t){begin, bytes.size == 0 ? begin : begin + bytes.size};
}

// True if nothing is left. Thread-compatible.
TFRT_ALWAYS_INLINE bool tfrt_wire_reader_is_done(const tfrt_wire_reader_t* reader) {
  return reader->position == reader->end;
}

// Each takes one thing from |reader| and returns true, or returns false; then the reader
// must not be used on. A number of a field is 1 to TFRT_WIRE_MAX_FIELD_NUMBER; a varint
// has at most 10 bytes and 64 bits. Thread-compatible.
bool tfrt_wire_read_long_varint(tfrt_wire_reader_t* reader, uint64_t* out_value);

// Little-endian, on any machine; compilers make one load of it.
TFRT_ALWAYS_INLINE bool tfrt_wire_read_fixed64(tfrt_wire_reader_t* reader, uint64_t* out_value) {
  if (reader->end - reader->position < 8) return false;
  uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i) value |= (uint64_t)reader->position[i] << (8 * i);
  reader->position += 8;
  *out_value = value;
  return true;
}

TFRT_ALWAYS_INLINE bool tfrt_wire_read_fixed32(tfrt_wire_reader_t* reader, uint32_t* out_value) {
  if (reader->end - reader->position < 4) return false;
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= (uint32_t)reader->position[i] << (8 * i);
  reader->position += 4;
  *out_value = value;
  return true;
}

// Most numbers have one byte.
TFRT_ALWAYS_INLINE bool tfrt_wire_read_varint(tfrt_wire_reader_t* reader, uint64_t* out_value) {
  if (reader->position == reader->end || *reader->position >= 0x80) {
    return tfrt_wire_read_long_varint(reader, out_value);
  }
  *out_value = *reader->position++;
  return true;
}

TFRT_ALWAYS_INLINE bool tfrt_wire_read_bytes(tfrt_wire_reader_t* reader,
                                             tfrt_string_view_t* out_bytes) {
  uint64_t size = 0;
  if (!tfrt_wire_read_varint(reader, &size)) return false;
  if (size > (uint64_t)(reader->end - reader->position)) return false;
  *out_bytes = tfrt_string_view_make((const char*)reader->position, (size_t)size);
  reader->position += size;
  return true;
}

static inline bool tfrt_wire_read_tag(tfrt_wire_reader_t* reader, uint32_t* out_number,
                                      uint32_t* out_type) {
  uint64_t tag = 0;
  if (!tfrt_wire_read_varint(reader, &tag)) return false;
  uint64_t number = tag >> 3;
  if (number == 0 || number > TFRT_WIRE_MAX_FIELD_NUMBER) return false;
  *out_number = (uint32_t)number;
  *out_type = tag & 7;
  return true;
}

// Passes over the content of a field of wire |type|; false also for the types that the
// encoding has dropped (groups) or never had. Thread-compatible.
bool tfrt_wire_skip(tfrt_wire_reader_t* reader, uint32_t type);

// The bytes that a varint of |value| takes: 1 to 10. Thread-safe.
static inline size_t tfrt_wire_varint_size(uint64_t value) {
  return (size_t)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

// Each writes at |position|, where there is room, and returns the position behind.
// Thread-compatible.
static inline uint8_t* tfrt_wire_write_varint(uint8_t* position, uint64_t value) {
  while (value >= 0x80) {
    *position++ = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  *position++ = (uint8_t)value;
  return position;
}
static inline uint8_t* tfrt_wire_write_fixed32(uint8_t* position, uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) position[i] = (uint8_t)(value >> (8 * i));
  return position + 4;
}
static inline uint8_t* tfrt_wire_write_fixed64(uint8_t* position, uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) position[i] = (uint8_t)(value >> (8 * i));
  return position + 8;
}

// A tag in front of a field's content, as one number to be written as a varint.
// Thread-safe.
static inline uint64_t tfrt_wire_tag(uint32_t number, tfrt_wire_type_t type) {
  return (uint64_t)number << 3 | type;
}

// True if |text| has at most eight bytes, and these are ASCII: names of types mostly do.
// Thread-safe.
TFRT_ALWAYS_INLINE bool tfrt_wire_is_short_ascii(tfrt_string_view_t text) {
  if (text.size > 8) return false;
  if (text.size < 4) {
    if (text.size == 0) return true;
    // All of one to three bytes, some of them twice.
    uint8_t bytes = (uint8_t)(text.data[0] | text.data[text.size / 2] | text.data[text.size - 1]);
    return bytes < 0x80;
  }
  uint32_t first, last;
  memcpy(&first, text.data, sizeof(first));
  memcpy(&last, text.data + text.size - sizeof(last), sizeof(last));
  return ((first | last) & UINT32_C(0x80808080)) == 0;
}

// The length of the longest beginning of |text| that is valid UTF-8 (shortest forms
// only, no surrogates, nothing above U+10FFFF); all of it if that is |text.size|.
// Thread-safe.
size_t tfrt_wire_utf8_prefix(tfrt_string_view_t text);

#endif  // TFRT_DISTRIBUTED_WIRE_CODING_H_
