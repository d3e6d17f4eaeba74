// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/line_printer.h"

#include <stdio.h>
#include <string.h>

bool tfrt_line_printer_print(uint32_t rank, tfrt_string_view_t text) {
  bool is_written = true;
  char prefix[16] = "";
  if (rank != 0) snprintf(prefix, sizeof(prefix), "[%u] ", rank);
  flockfile(stdout);
  for (size_t begin = 0; begin <= text.size;) {
    const char* line = text.data + begin;
    const char* end = text.size > begin ? memchr(line, '\n', text.size - begin) : NULL;
    size_t size = end ? (size_t)(end - line) : text.size - begin;
    fputs(prefix, stdout);
    fwrite(line, 1, size, stdout);
    is_written = putc('\n', stdout) != EOF && !ferror(stdout);
    begin += size + 1;
  }
  funlockfile(stdout);
  return is_written;
}
