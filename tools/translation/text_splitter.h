// SPDX-License-Identifier: Apache-2.0
//
// A text that holds several programs, one behind the other, with a line between them that
// begins with `// -----`: the way in which test files hold many small cases. A splitter hands
// out the pieces one by one.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: none fails.
#ifndef TFRT_TOOLS_TRANSLATION_TEXT_SPLITTER_H_
#define TFRT_TOOLS_TRANSLATION_TEXT_SPLITTER_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/string_view.h"

// The line between two pieces, as far as it counts.
#define TFRT_TEXT_SPLITTER_MARKER "// -----"

typedef struct tfrt_text_splitter_s {
  tfrt_string_view_t rest;
  uint32_t line;  // of the rest's first byte
  bool is_done;
} tfrt_text_splitter_t;

// Starts at the first line of |text|, which is borrowed. Thread-compatible.
void tfrt_text_splitter_initialize(tfrt_text_splitter_t* splitter, tfrt_string_view_t text);

// Sets |*out_piece| to the next piece, which may be empty, and |*out_line| to the number of its
// first line in the whole text; false behind the last one. Any text has at least one piece.
// Thread-compatible.
bool tfrt_text_splitter_next(tfrt_text_splitter_t* splitter, tfrt_string_view_t* out_piece,
                             uint32_t* out_line);

#endif  // TFRT_TOOLS_TRANSLATION_TEXT_SPLITTER_H_
