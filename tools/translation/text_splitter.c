// SPDX-License-Identifier: Apache-2.0

#include "tools/translation/text_splitter.h"

#include <string.h>

void tfrt_text_splitter_initialize(tfrt_text_splitter_t* splitter, tfrt_string_view_t text) {
  *splitter = (tfrt_text_splitter_t){.rest = text, .line = 1};
}

// The bytes of |text| from |begin| on up to the next line.
static size_t line_size(tfrt_string_view_t text, size_t begin) {
  const char* newline = memchr(text.data + begin, '\n', text.size - begin);
  return newline ? (size_t)(newline - text.data) + 1 - begin : text.size - begin;
}

static bool is_marker(const char* line, size_t size) {
  size_t marker_size = strlen(TFRT_TEXT_SPLITTER_MARKER);
  return size >= marker_size && memcmp(line, TFRT_TEXT_SPLITTER_MARKER, marker_size) == 0;
}

bool tfrt_text_splitter_next(tfrt_text_splitter_t* splitter, tfrt_string_view_t* out_piece,
                             uint32_t* out_line) {
  if (splitter->is_done) return false;
  tfrt_string_view_t rest = splitter->rest;
  *out_line = splitter->line;
  size_t end = 0;
  while (end < rest.size) {
    size_t size = line_size(rest, end);
    ++splitter->line;
    if (is_marker(rest.data + end, size)) {
      *out_piece = tfrt_string_view_make(rest.data, end);
      splitter->rest = tfrt_string_view_make(rest.data + end + size, rest.size - end - size);
      return true;
    }
    end += size;
  }
  *out_piece = rest;
  splitter->is_done = true;
  return true;
}
