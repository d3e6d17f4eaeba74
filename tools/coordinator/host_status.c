// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/host_status.h"

#include <string.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/utf8.h"
#include "tools/coordinator/inventory_lines.h"
#include "tools/output/json.h"

static bool host_status_is(tfrt_string_view_t text, const char* other) {
  return tfrt_string_view_equal(text, tfrt_string_view_of(other));
}

// The text of the line |name| of |report|; "-" if there is none.
static tfrt_string_view_t host_status_find(tfrt_string_view_t report, const char* name) {
  while (report.size > 0) {
    tfrt_string_view_t line = tfrt_inventory_lines_cut(&report, '\n');
    if (host_status_is(tfrt_inventory_lines_cut(&line, ' '), name)) return line;
  }
  return tfrt_string_view_of("-");
}

// The columns behind address, name and state.
static const struct {
  const char* title;
  const char* line;
} tfrt_host_status_columns[] = {
    {"JOBS", "jobs"},           {"OBJECTS", "objects"},   {"REMOTE", "remote_values"},
    {"OUT", "outgoing_calls"},  {"IN", "incoming_calls"}, {"WANTS", "incoming_wants"},
    {"TRANSFERS", "transfers"},
};

void tfrt_host_status_append_titles(tfrt_string_builder_t* out) {
  tfrt_string_builder_append_format(out, "%-24s %-20s %-9s", "HOST", "NAME", "STATE");
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tfrt_host_status_columns); ++i) {
    tfrt_string_builder_append_format(out, " %9s", tfrt_host_status_columns[i].title);
  }
  tfrt_string_builder_append_char(out, '\n');
}

// Appends |text|, which may be a peer's, to a column that begins at its left, or ends at its right.
static void host_status_append_cell(tfrt_string_view_t text, size_t width, bool is_number,
                                    tfrt_string_builder_t* out) {
  size_t size = tfrt_utf8_shown_size(text);
  size_t fill = width > size ? width - size : 0;
  if (is_number) tfrt_string_builder_append_fill(out, ' ', fill);
  tfrt_string_builder_append_shown(out, text);
  if (!is_number) tfrt_string_builder_append_fill(out, ' ', fill);
}

void tfrt_host_status_append_missing(tfrt_string_view_t address, const char* state,
                                     tfrt_string_builder_t* out) {
  host_status_append_cell(address, 24, false, out);
  tfrt_string_builder_append_format(out, " %-20s %-9s\n", "-", state);
}

void tfrt_host_status_append_line(tfrt_string_view_t address, tfrt_string_view_t report,
                                  tfrt_string_builder_t* out) {
  tfrt_string_view_t name = host_status_find(report, "name");
  bool is_serving = host_status_is(host_status_find(report, "serving"), "1");
  host_status_append_cell(address, 24, false, out);
  tfrt_string_builder_append_char(out, ' ');
  host_status_append_cell(name, 20, false, out);
  tfrt_string_builder_append_format(out, " %-9s", is_serving ? "serving" : "draining");
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tfrt_host_status_columns); ++i) {
    tfrt_string_view_t value = host_status_find(report, tfrt_host_status_columns[i].line);
    tfrt_string_builder_append_char(out, ' ');
    host_status_append_cell(value, 9, true, out);
  }
  tfrt_string_builder_append_char(out, '\n');
}

// A number as JSON writes it.
static bool host_status_is_number(tfrt_string_view_t text) {
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9') return false;
  }
  return text.size == 1 || (text.size > 1 && text.data[0] != '0');
}

static void host_status_append_member(tfrt_string_view_t name, tfrt_string_view_t value,
                                      bool is_text, tfrt_string_builder_t* out) {
  tfrt_json_append_string(out, name);
  tfrt_string_builder_append_char(out, ':');
  if (host_status_is(value, "-")) {
    tfrt_string_builder_append_text(out, "null");
  } else if (!is_text && host_status_is_number(value)) {
    tfrt_string_builder_append_view(out, value);
  } else {
    tfrt_json_append_string(out, value);
  }
}

static void host_status_append_peer(tfrt_string_view_t line, tfrt_string_builder_t* out) {
  static const struct {
    const char* name;
    bool is_text;
  } members[] = {{"incarnation", true},
                 {"state", true},
                 {"round_trip_us", false},
                 {"address", true},
                 {"name", true},
                 {"frames_sent", false},
                 {"frames_received", false},
                 {"bytes_sent", false},
                 {"bytes_received", false},
                 {"payload_bytes_sent", false},
                 {"payload_bytes_received", false},
                 {"payload_bytes_borrowed", false}};
  tfrt_string_builder_append_char(out, '{');
  // A host of an earlier version says less.
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(members) && line.size > 0; ++i) {
    if (i > 0) tfrt_string_builder_append_char(out, ',');
    host_status_append_member(tfrt_string_view_of(members[i].name),
                              tfrt_inventory_lines_cut(&line, ' '), members[i].is_text, out);
  }
  tfrt_string_builder_append_char(out, '}');
}

void tfrt_host_status_append_json(tfrt_string_view_t report, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_char(out, '{');
  for (tfrt_string_view_t rest = report; rest.size > 0;) {
    tfrt_string_view_t line = tfrt_inventory_lines_cut(&rest, '\n');
    tfrt_string_view_t name = tfrt_inventory_lines_cut(&line, ' ');
    if (host_status_is(name, "peer")) continue;
    bool is_text = host_status_is(name, "incarnation") || host_status_is(name, "name");
    host_status_append_member(name, line, is_text, out);
    tfrt_string_builder_append_char(out, ',');
  }
  tfrt_string_builder_append_text(out, "\"peers\":[");
  bool is_first = true;
  for (tfrt_string_view_t rest = report; rest.size > 0;) {
    tfrt_string_view_t line = tfrt_inventory_lines_cut(&rest, '\n');
    if (!host_status_is(tfrt_inventory_lines_cut(&line, ' '), "peer")) continue;
    if (!is_first) tfrt_string_builder_append_char(out, ',');
    is_first = false;
    host_status_append_peer(line, out);
  }
  tfrt_string_builder_append_text(out, "]}");
}
