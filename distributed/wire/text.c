// SPDX-License-Identifier: Apache-2.0
#include "distributed/wire/text.h"

#include <string.h>

#include "distributed/wire/coding.h"

// The most of |text| that |limit| bytes hold without cutting a character in two.
static size_t cut_size(tfrt_string_view_t text, size_t limit) {
  if (text.size <= limit) return text.size;
  // A character has at most three bytes behind its first one.
  for (size_t size = limit; size > 0 && limit - size <= 3; --size) {
    if (((unsigned char)text.data[size] & 0xc0) != 0x80) return size;
  }
  return limit;
}

tfrt_string_view_t tfrt_wire_text_fit(tfrt_string_view_t text, char* buffer, size_t limit) {
  tfrt_string_view_t cut = tfrt_string_view_make(text.data, cut_size(text, limit));
  size_t valid = tfrt_wire_utf8_prefix(cut);
  if (valid == cut.size) return cut;
  memcpy(buffer, cut.data, cut.size);
  while (valid < cut.size) {
    buffer[valid++] = '?';
    valid += tfrt_wire_utf8_prefix(tfrt_string_view_make(buffer + valid, cut.size - valid));
  }
  return tfrt_string_view_make(buffer, cut.size);
}
