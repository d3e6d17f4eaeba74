// SPDX-License-Identifier: Apache-2.0
#include "tools/common/json.h"

void tfrt_json_append_string(tfrt_string_builder_t* out, tfrt_string_view_t text) {
  tfrt_string_builder_append_char(out, '"');
  for (size_t i = 0; i < text.size; ++i) {
    unsigned char byte = (unsigned char)text.data[i];
    if (byte == '"' || byte == '\\') {
      tfrt_string_builder_append_char(out, '\\');
      tfrt_string_builder_append_char(out, (char)byte);
    } else if (byte < 0x20) {
      tfrt_string_builder_append_format(out, "\\u%04x", byte);
    } else {
      tfrt_string_builder_append_char(out, (char)byte);
    }
  }
  tfrt_string_builder_append_char(out, '"');
}
