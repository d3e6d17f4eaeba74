// SPDX-License-Identifier: Apache-2.0
//
// Reads hosts' inventories, the lists of what is alive on them (distributed/service/plain_form.h).
// A line is a kind and properties `NAME=TEXT`.
//
//   for (tfrt_inventory_line_t line = {0}; tfrt_inventory_lines_next(&text, &line);) ...
//
// Thread rule: thread-compatible; views borrow from the text.
// Failure rule: none fails; an absent property is empty, or 0.
#ifndef TFRT_TOOLS_COORDINATOR_INVENTORY_LINES_H_
#define TFRT_TOOLS_COORDINATOR_INVENTORY_LINES_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/string_view.h"

typedef struct tfrt_inventory_line_s {
  tfrt_string_view_t kind;
  tfrt_string_view_t properties;
} tfrt_inventory_line_t;

// Takes the first line off |*rest|; false if there is none. Thread-compatible.
bool tfrt_inventory_lines_next(tfrt_string_view_t* rest, tfrt_inventory_line_t* out_line);

// True if |line| is of |kind|; the property |name| of it, "" for none and for `-`, as a text or a
// number. Thread-compatible.
bool tfrt_inventory_line_is(const tfrt_inventory_line_t* line, const char* kind);
tfrt_string_view_t tfrt_inventory_line_text(const tfrt_inventory_line_t* line, const char* name);
uint64_t tfrt_inventory_line_number(const tfrt_inventory_line_t* line, const char* name);

// True if the property |name| of |line| is |text|. Thread-compatible.
bool tfrt_inventory_line_has(const tfrt_inventory_line_t* line, const char* name,
                             tfrt_string_view_t text);

// Takes what is before the first |separator| off |*rest|, which loses both. Thread-compatible.
tfrt_string_view_t tfrt_inventory_lines_cut(tfrt_string_view_t* rest, char separator);

#endif  // TFRT_TOOLS_COORDINATOR_INVENTORY_LINES_H_
