// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/utf8.h"

#include <stdio.h>

size_t tfrt_utf8_show(tfrt_string_view_t text, char out_shown[TFRT_UTF8_SHOWN_SIZE]) {
  const unsigned char* bytes = (const unsigned char*)text.data;
  size_t size = tfrt_utf8_character_size(text);
  const char* shown = size == 0        ? "\\ufffd"
                      : *bytes == '\n' ? "\\n"
                      : *bytes == '\t' ? "\\t"
                                       : NULL;
  // The controls above ASCII are C2 80 to C2 9F.
  bool is_control =
      size == 2 ? bytes[0] == 0xc2 && bytes[1] < 0xa0 : bytes[0] < 0x20 || bytes[0] == 0x7f;
  if (shown) {
    snprintf(out_shown, TFRT_UTF8_SHOWN_SIZE, "%s", shown);
  } else if (is_control) {
    snprintf(out_shown, TFRT_UTF8_SHOWN_SIZE, "\\u%04x", bytes[size - 1]);
  } else {
    memcpy(out_shown, bytes, size);
    out_shown[size] = '\0';
  }
  return size > 0 ? size : 1;
}

size_t tfrt_utf8_shown_size(tfrt_string_view_t text) {
  size_t shown_size = 0;
  while (text.size > 0) {
    char shown[TFRT_UTF8_SHOWN_SIZE];
    size_t size = tfrt_utf8_show(text, shown);
    shown_size += strlen(shown);
    text = tfrt_string_view_make(text.data + size, text.size - size);
  }
  return shown_size;
}
