// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/inventory_lines.h"

#include <string.h>

tfrt_string_view_t tfrt_inventory_lines_cut(tfrt_string_view_t* rest, char separator) {
  tfrt_string_view_t whole = *rest;
  const char* end = whole.size > 0 ? memchr(whole.data, separator, whole.size) : NULL;
  if (!end) {
    *rest = tfrt_string_view_make(whole.data, 0);
    return whole;
  }
  size_t size = (size_t)(end - whole.data);
  *rest = tfrt_string_view_make(end + 1, whole.size - size - 1);
  return tfrt_string_view_make(whole.data, size);
}

bool tfrt_inventory_lines_next(tfrt_string_view_t* rest, tfrt_inventory_line_t* out_line) {
  if (rest->size == 0) return false;
  tfrt_string_view_t line = tfrt_inventory_lines_cut(rest, '\n');
  out_line->kind = tfrt_inventory_lines_cut(&line, ' ');
  out_line->properties = line;
  return true;
}

bool tfrt_inventory_line_is(const tfrt_inventory_line_t* line, const char* kind) {
  return tfrt_string_view_equal(line->kind, tfrt_string_view_of(kind));
}

tfrt_string_view_t tfrt_inventory_line_text(const tfrt_inventory_line_t* line, const char* name) {
  for (tfrt_string_view_t rest = line->properties; rest.size > 0;) {
    tfrt_string_view_t value = tfrt_inventory_lines_cut(&rest, ' ');
    tfrt_string_view_t found = tfrt_inventory_lines_cut(&value, '=');
    if (!tfrt_string_view_equal(found, tfrt_string_view_of(name))) continue;
    bool is_nothing = value.size == 1 && value.data[0] == '-';
    return is_nothing ? tfrt_string_view_of("") : value;
  }
  return tfrt_string_view_of("");
}

uint64_t tfrt_inventory_line_number(const tfrt_inventory_line_t* line, const char* name) {
  tfrt_string_view_t text = tfrt_inventory_line_text(line, name);
  uint64_t number = 0;
  for (size_t i = 0; i < text.size && text.data[i] >= '0' && text.data[i] <= '9'; ++i) {
    number = number * 10 + (uint64_t)(text.data[i] - '0');
  }
  return number;
}

bool tfrt_inventory_line_has(const tfrt_inventory_line_t* line, const char* name,
                             tfrt_string_view_t text) {
  return tfrt_string_view_equal(tfrt_inventory_line_text(line, name), text);
}
