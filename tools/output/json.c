// SPDX-License-Identifier: Apache-2.0
#include "tools/output/json.h"

#include "host_runtime/base/number_text.h"
#include "host_runtime/base/utf8.h"

void tfrt_json_append_string(tfrt_string_builder_t* out, tfrt_string_view_t text) {
  tfrt_string_builder_append_char(out, '"');
  for (size_t i = 0, size = 1; i < text.size; i += size) {
    unsigned char byte = (unsigned char)text.data[i];
    tfrt_string_view_t rest = tfrt_string_view_make(text.data + i, text.size - i);
    size = tfrt_utf8_character_size(rest);
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

void tfrt_json_append_number(tfrt_string_builder_t* out, double value) {
  char text[TFRT_NUMBER_TEXT_SIZE];
  tfrt_string_builder_append_text(out, tfrt_number_text_shortest_f64(value, text));
}
