// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/open_calls.h"

#include "host_runtime/base/plural.h"

// The most calls that are named.
#define TFRT_OPEN_CALLS_NAMED 3u

static void open_calls_append_view(tfrt_string_builder_t* out, const char* before,
                                   tfrt_string_view_t text) {
  if (text.size == 0) return;
  tfrt_string_builder_append_text(out, before);
  tfrt_string_builder_append_view(out, text);
}

// The rank of the process |incarnation| in the job |id|; "" if the inventory does not show it.
static tfrt_string_view_t open_calls_rank(tfrt_string_view_t inventory, tfrt_string_view_t id,
                                          tfrt_string_view_t incarnation) {
  for (tfrt_inventory_line_t line = {0}; tfrt_inventory_lines_next(&inventory, &line);) {
    bool is_it = tfrt_inventory_line_is(&line, "member") &&
                 tfrt_inventory_line_has(&line, "job", id) &&
                 tfrt_inventory_line_has(&line, "incarnation", incarnation);
    if (is_it) return tfrt_inventory_line_text(&line, "rank");
  }
  return tfrt_string_view_of("");
}

static void open_calls_append_call(tfrt_string_view_t inventory, tfrt_string_view_t id,
                                   const tfrt_inventory_line_t* line, tfrt_string_builder_t* out) {
  tfrt_string_view_t peer = tfrt_inventory_line_text(line, "peer");
  open_calls_append_view(out, "@", tfrt_inventory_line_text(line, "function"));
  open_calls_append_view(out, " on host ", open_calls_rank(inventory, id, peer));
  open_calls_append_view(out, ", called at ", tfrt_inventory_line_text(line, "at"));
}

static void open_calls_append_kernel(const tfrt_inventory_line_t* line,
                                     tfrt_string_builder_t* out) {
  open_calls_append_view(out, "", tfrt_inventory_line_text(line, "name"));
  open_calls_append_view(out, " of @", tfrt_inventory_line_text(line, "function"));
  open_calls_append_view(out, " at ", tfrt_inventory_line_text(line, "at"));
}

void tfrt_open_calls_append(tfrt_string_view_t inventory, tfrt_string_view_t id,
                            tfrt_string_view_t lost, tfrt_string_builder_t* out) {
  uint32_t count = 0;
  uint64_t oldest_us = 0;
  tfrt_inventory_line_t kernel = {0};
  tfrt_string_view_t rest = inventory;
  for (tfrt_inventory_line_t line = {0}; tfrt_inventory_lines_next(&rest, &line);) {
    if (!tfrt_inventory_line_has(&line, "job", id)) continue;
    if (tfrt_inventory_line_is(&line, "kernel")) {
      uint64_t age_us = tfrt_inventory_line_number(&line, "age_us");
      if (kernel.kind.size == 0 || age_us > oldest_us) kernel = line;
      if (age_us > oldest_us) oldest_us = age_us;
    }
    bool is_call = tfrt_inventory_line_is(&line, "call") &&
                   tfrt_inventory_line_has(&line, "dir", tfrt_string_view_of("out")) &&
                   !tfrt_inventory_line_has(&line, "peer", lost);
    if (!is_call) continue;
    if (++count > TFRT_OPEN_CALLS_NAMED) continue;
    if (count > 1) tfrt_string_builder_append_text(out, "; ");
    open_calls_append_call(inventory, id, &line, out);
  }
  if (count > TFRT_OPEN_CALLS_NAMED) {
    const uint32_t others = count - TFRT_OPEN_CALLS_NAMED;
    tfrt_string_builder_append_format(out, "; and %u more call%s", others, tfrt_plural(others));
  }
  if (count == 0 && kernel.kind.size > 0) open_calls_append_kernel(&kernel, out);
}
