// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/coding.h"

#include <string.h>

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

// The length of the character at |text|, of which |size| > 0 bytes are there; 0 if it is
// none. Only the second byte's range depends on the first one: that rules out overlong
// forms (C0, C1, E0 80, F0 80), surrogates (ED A0) and what is above U+10FFFF (F4 90).
static size_t utf8_character_size(const uint8_t* text, size_t size) {
  uint8_t first = text[0];
  if (first < 0x80) return 1;
  size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || size < length) return 0;
  uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (text[1] < low || text[1] > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((text[i] & 0xc0) != 0x80) return 0;
  }
  return length;
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
    size_t size = utf8_character_size((const uint8_t*)text.data + position, text.size - position);
    if (size == 0) break;
    position += size;
  }
  return position;
}
