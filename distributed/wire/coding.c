// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/coding.h"

#include <string.h>

#include "host_runtime/base/utf8.h"

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
