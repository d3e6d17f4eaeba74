// SPDX-License-Identifier: Apache-2.0
#include "tools/output/json.h"

// The size of the character of UTF-8 (RFC 3629, section 4) that |text|, which isn't empty, begins
// with; 0 if it begins with none.
static size_t tfrt_json_character_size(tfrt_string_view_t text) {
  const unsigned char* bytes = (const unsigned char*)text.data;
  unsigned char first = bytes[0];
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  size_t size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size < size) return 0;
  // Nothing is longer than it need be, a half of a pair, or beyond U+10FFFF.
  unsigned char least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned char most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (bytes[1] < least || bytes[1] > most) return 0;
  for (size_t i = 2; i < size; ++i) {
    if (bytes[i] < 0x80 || bytes[i] > 0xBF) return 0;
  }
  return size;
}

void tfrt_json_append_string(tfrt_string_builder_t* out, tfrt_string_view_t text) {
  tfrt_string_builder_append_char(out, '"');
  for (size_t i = 0, size = 1; i < text.size; i += size) {
    unsigned char byte = (unsigned char)text.data[i];
    tfrt_string_view_t rest = tfrt_string_view_make(text.data + i, text.size - i);
    size = tfrt_json_character_size(rest);
    if (size == 0) {
      tfrt_string_builder_append_text(out, "\\ufffd");
      size = 1;
    } else if (byte == '"' || byte == '\\') {
      tfrt_string_builder_append_char(out, '\\');
      tfrt_string_builder_append_char(out, (char)byte);
    } else if (byte < 0x20) {
      tfrt_string_builder_append_format(out, "\\u%04x", byte);
    } else {
      tfrt_string_builder_append(out, rest.data, size);
    }
  }
  tfrt_string_builder_append_char(out, '"');
}
