// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/cluster_inventory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/macros.h"

// --- Gathering -----------------------------------------------------------------

static tfrt_async_value_t* cluster_inventory_ask(void* self, tfrt_client_t* client,
                                                 uint32_t index) {
  (void)index;
  return tfrt_client_ask(client, 0, self);
}

tfrt_status_t tfrt_cluster_inventory_gather(tfrt_host_query_t* query, tfrt_client_inventory_t which,
                                            tfrt_cluster_inventory_t* out_inventory) {
  return tfrt_cluster_inventory_gather_page(query, which, 0, out_inventory);
}

tfrt_status_t tfrt_cluster_inventory_gather_page(tfrt_host_query_t* query,
                                                 tfrt_client_inventory_t which, uint64_t skip,
                                                 tfrt_cluster_inventory_t* out_inventory) {
  memset(out_inventory, 0, sizeof(*out_inventory));
  tfrt_client_question_t question = {
      .kind = TFRT_CLIENT_ASK_INVENTORY, .part = which, .number = skip};
  out_inventory->host_count = query->hosts.count;
  TFRT_RETURN_IF_ERROR(tfrt_host_query_ask_lines(query, cluster_inventory_ask, &question));
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    out_inventory->addresses[i] = query->hosts.addresses[i];
    out_inventory->incarnations[i] = tfrt_string_view_of("");
    out_inventory->lines[i] = tfrt_string_view_of("");
    tfrt_host_query_answer(query, i, &out_inventory->lines[i]);
    tfrt_string_view_t rest = out_inventory->lines[i];
    tfrt_inventory_line_t line;
    if (tfrt_inventory_lines_next(&rest, &line)) {
      out_inventory->incarnations[i] = tfrt_inventory_line_text(&line, "incarnation");
    }
  }
  return NULL;
}

tfrt_status_t tfrt_cluster_inventory_index(tfrt_cluster_inventory_t* inventory) {
  return tfrt_inventory_index_build(&inventory->index, inventory->lines, inventory->host_count);
}

void tfrt_cluster_inventory_drop_index(tfrt_cluster_inventory_t* inventory) {
  tfrt_inventory_index_deinitialize(&inventory->index);
}

// The line of |host| that says how many things it has not listed; false if it lists all.
static bool cluster_inventory_find_more(const tfrt_cluster_inventory_t* inventory, uint32_t host,
                                        tfrt_inventory_line_t* out_line) {
  for (tfrt_string_view_t rest = inventory->lines[host];
       tfrt_inventory_lines_next(&rest, out_line);) {
    if (tfrt_inventory_line_is(out_line, "more")) return true;
  }
  return false;
}

void tfrt_cluster_inventory_report_more(const tfrt_cluster_inventory_t* inventory,
                                        uint64_t next_skip) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < inventory->host_count; ++i) {
    tfrt_inventory_line_t more;
    if (!cluster_inventory_find_more(inventory, i, &more)) continue;
    ++count;
    fprintf(stderr,
            "tfrt: %.*s has %" PRIu64 " more jobs, %" PRIu64 " more calls and %" PRIu64
            " more values than are shown\n",
            TFRT_STRING_VIEW_ARGUMENTS(inventory->addresses[i]),
            tfrt_inventory_line_number(&more, "jobs"),
            tfrt_inventory_line_number(&more, "incoming_calls") +
                tfrt_inventory_line_number(&more, "outgoing_calls"),
            tfrt_inventory_line_number(&more, "objects") +
                tfrt_inventory_line_number(&more, "remote_values"));
  }
  if (count > 0 && next_skip > 0) {
    fprintf(stderr, "tfrt: --skip=%" PRIu64 " shows the next calls and values\n", next_skip);
  }
}

// --- Who is who ----------------------------------------------------------------

uint32_t tfrt_cluster_inventory_find(const tfrt_cluster_inventory_t* inventory,
                                     tfrt_string_view_t incarnation) {
  for (uint32_t i = 0; i < inventory->host_count && incarnation.size > 0; ++i) {
    if (tfrt_string_view_equal(inventory->incarnations[i], incarnation)) return i;
  }
  return UINT32_MAX;
}

// Sets |*out_line| to the line about |key|; false if there is none.
static bool cluster_inventory_find_line(const tfrt_cluster_inventory_t* inventory,
                                        const tfrt_inventory_key_t* key,
                                        tfrt_inventory_line_t* out_line) {
  if (!inventory->index.entries) {
    return tfrt_inventory_index_search(inventory->lines, inventory->host_count, key, out_line);
  }
  uint32_t place = tfrt_inventory_index_find(&inventory->index, key);
  if (place == TFRT_INVENTORY_INDEX_NONE) return false;
  *out_line = inventory->index.entries[place].line;
  return true;
}

tfrt_string_view_t tfrt_cluster_inventory_name(const tfrt_cluster_inventory_t* inventory,
                                               tfrt_string_view_t incarnation) {
  uint32_t host = tfrt_cluster_inventory_find(inventory, incarnation);
  if (host != UINT32_MAX) return inventory->addresses[host];
  const tfrt_inventory_key_t key = {
      .about = TFRT_INVENTORY_MEMBER, .first = incarnation, .number = tfrt_string_view_of("")};
  tfrt_inventory_line_t line;
  bool is_known = cluster_inventory_find_line(inventory, &key, &line);
  return is_known ? tfrt_inventory_line_text(&line, "address") : incarnation;
}

static int cluster_inventory_shown_size(tfrt_string_view_t id) {
  return id.size < TFRT_CLUSTER_INVENTORY_DIGITS ? (int)id.size : TFRT_CLUSTER_INVENTORY_DIGITS;
}

void tfrt_cluster_inventory_call_name(const tfrt_cluster_inventory_t* inventory, uint32_t host,
                                      const tfrt_inventory_line_t* line, char* out, size_t size) {
  bool is_in = tfrt_inventory_line_has(line, "dir", tfrt_string_view_of("in"));
  tfrt_string_view_t peer = tfrt_inventory_line_text(line, "peer");
  tfrt_string_view_t own = inventory->incarnations[host];
  tfrt_string_view_t caller = is_in ? peer : own;
  tfrt_string_view_t callee = is_in ? own : peer;
  snprintf(out, size, "%.*s.%" PRIu64 "@%.*s", cluster_inventory_shown_size(caller), caller.data,
           tfrt_inventory_line_number(line, "number"), cluster_inventory_shown_size(callee),
           callee.data);
}

// The line of |host| for the call |number| of or to |other|, as |about| says.
static bool cluster_inventory_find_side(const tfrt_cluster_inventory_t* inventory, uint32_t host,
                                        tfrt_inventory_about_t about, tfrt_string_view_t other,
                                        tfrt_string_view_t number,
                                        tfrt_inventory_line_t* out_line) {
  const tfrt_inventory_key_t key = {host, about, other, number};
  return cluster_inventory_find_line(inventory, &key, out_line);
}

bool tfrt_cluster_inventory_find_caller(const tfrt_cluster_inventory_t* inventory, uint32_t callee,
                                        const tfrt_inventory_line_t* line,
                                        tfrt_inventory_line_t* out_line) {
  uint32_t caller = tfrt_cluster_inventory_find(inventory, tfrt_inventory_line_text(line, "peer"));
  return caller != UINT32_MAX &&
         cluster_inventory_find_side(inventory, caller, TFRT_INVENTORY_CALL_OUT,
                                     inventory->incarnations[callee],
                                     tfrt_inventory_line_text(line, "number"), out_line);
}

bool tfrt_cluster_inventory_find_callee(const tfrt_cluster_inventory_t* inventory, uint32_t caller,
                                        const tfrt_inventory_line_t* line, uint32_t* out_host,
                                        tfrt_inventory_line_t* out_line) {
  *out_host = tfrt_cluster_inventory_find(inventory, tfrt_inventory_line_text(line, "peer"));
  return *out_host != UINT32_MAX &&
         cluster_inventory_find_side(inventory, *out_host, TFRT_INVENTORY_CALL_IN,
                                     inventory->incarnations[caller],
                                     tfrt_inventory_line_text(line, "number"), out_line);
}

// --- Tables --------------------------------------------------------------------

static void cluster_inventory_add_id(tfrt_table_t* table, tfrt_string_view_t id) {
  id.size = (size_t)cluster_inventory_shown_size(id);
  tfrt_table_add_view(table, id);
}

static void cluster_inventory_add_age(tfrt_table_t* table, const tfrt_inventory_line_t* line) {
  tfrt_table_add_format(table, "%.1f", (double)tfrt_inventory_line_number(line, "age_us") / 1e6);
}

static void cluster_inventory_add(tfrt_table_t* table, const tfrt_inventory_line_t* line,
                                  const char* name) {
  tfrt_table_add_view(table, tfrt_inventory_line_text(line, name));
}

// The totals of one host.
typedef struct tfrt_cluster_inventory_totals_s {
  uint64_t jobs;
  uint64_t calls;
  uint64_t objects;
  uint64_t remotes;
  uint64_t bytes;
} tfrt_cluster_inventory_totals_t;

static tfrt_cluster_inventory_totals_t cluster_inventory_count(tfrt_string_view_t rest) {
  tfrt_cluster_inventory_totals_t totals = {0};
  for (tfrt_inventory_line_t line; tfrt_inventory_lines_next(&rest, &line);) {
    bool is_object = tfrt_inventory_line_is(&line, "object");
    bool is_remote = tfrt_inventory_line_is(&line, "remote");
    if (tfrt_inventory_line_is(&line, "more")) {
      totals.jobs += tfrt_inventory_line_number(&line, "jobs");
      totals.calls += tfrt_inventory_line_number(&line, "incoming_calls");
      totals.objects += tfrt_inventory_line_number(&line, "objects");
      totals.remotes += tfrt_inventory_line_number(&line, "remote_values");
      continue;
    }
    totals.jobs += tfrt_inventory_line_is(&line, "job");
    totals.calls += tfrt_inventory_line_is(&line, "call") &&
                    tfrt_inventory_line_has(&line, "dir", tfrt_string_view_of("in"));
    totals.objects += is_object;
    totals.remotes += is_remote;
    // An object that a host only knows of uses none of its memory.
    bool is_here = tfrt_inventory_line_has(&line, "state", tfrt_string_view_of("ready"));
    if ((is_object || is_remote) && is_here) {
      totals.bytes += tfrt_inventory_line_number(&line, "bytes");
    }
  }
  return totals;
}

void tfrt_cluster_inventory_list_hosts(const tfrt_cluster_inventory_t* inventory,
                                       const tfrt_host_query_t* query, tfrt_table_t* out_table) {
  static const tfrt_table_column_t columns[] = {
      {"HOST", "host", false},
      {"NAME", "name", false},
      {"INCARNATION", "incarnation", false},
      {"STATE", "state", false},
      {"JOBS", "jobs", true},
      {"CALLS", "calls", true},
      {"OBJECTS", "objects", true},
      {"REMOTE", "remote_values", true},
      {"BYTES", "bytes", true},
  };
  tfrt_table_initialize(out_table, columns, TFRT_ARRAY_SIZE(columns));
  for (uint32_t i = 0; i < inventory->host_count; ++i) {
    tfrt_string_view_t rest = inventory->lines[i];
    tfrt_inventory_line_t line;
    tfrt_table_add_view(out_table, inventory->addresses[i]);
    if (tfrt_host_query_error(query, i) || !tfrt_inventory_lines_next(&rest, &line)) {
      const char* const missing[] = {"", "", tfrt_host_query_missing(query, i), "", "", "", "", ""};
      for (size_t c = 0; c < TFRT_ARRAY_SIZE(missing); ++c) {
        tfrt_table_add_text(out_table, missing[c]);
      }
      continue;
    }
    tfrt_cluster_inventory_totals_t totals = cluster_inventory_count(rest);
    cluster_inventory_add(out_table, &line, "name");
    cluster_inventory_add(out_table, &line, "incarnation");
    bool is_serving = tfrt_inventory_line_number(&line, "serving") == 1;
    tfrt_table_add_text(out_table, is_serving ? "serving" : "draining");
    tfrt_table_add_format(out_table, "%" PRIu64, totals.jobs);
    tfrt_table_add_format(out_table, "%" PRIu64, totals.calls);
    tfrt_table_add_format(out_table, "%" PRIu64, totals.objects);
    tfrt_table_add_format(out_table, "%" PRIu64, totals.remotes);
    tfrt_table_add_format(out_table, "%" PRIu64, totals.bytes);
  }
}

// True if a host before |host| has a line for the job |id|.
static bool cluster_inventory_is_listed(const tfrt_cluster_inventory_t* inventory, uint32_t host,
                                        tfrt_string_view_t id) {
  for (uint32_t i = 0; i < host; ++i) {
    tfrt_inventory_line_t line;
    for (tfrt_string_view_t rest = inventory->lines[i]; tfrt_inventory_lines_next(&rest, &line);) {
      if (tfrt_inventory_line_is(&line, "job") && tfrt_inventory_line_has(&line, "job", id)) {
        return true;
      }
    }
  }
  return false;
}

void tfrt_cluster_inventory_list_jobs(const tfrt_cluster_inventory_t* inventory,
                                      tfrt_table_t* out_table) {
  static const tfrt_table_column_t columns[] = {
      {"JOB", "job", false},   {"NAME", "name", false},  {"HOSTS", "hosts", true},
      {"ROOT", "root", false}, {"AGE_S", "age_s", true}, {"STATE", "state", false},
  };
  tfrt_table_initialize(out_table, columns, TFRT_ARRAY_SIZE(columns));
  for (uint32_t i = 0; i < inventory->host_count; ++i) {
    tfrt_inventory_line_t line;
    for (tfrt_string_view_t rest = inventory->lines[i]; tfrt_inventory_lines_next(&rest, &line);) {
      tfrt_string_view_t id = tfrt_inventory_line_text(&line, "job");
      if (!tfrt_inventory_line_is(&line, "job")) continue;
      if (cluster_inventory_is_listed(inventory, i, id)) continue;
      cluster_inventory_add_id(out_table, id);
      cluster_inventory_add(out_table, &line, "name");
      cluster_inventory_add(out_table, &line, "hosts");
      tfrt_table_add_view(out_table, tfrt_cluster_inventory_name(
                                         inventory, tfrt_inventory_line_text(&line, "root")));
      cluster_inventory_add_age(out_table, &line);
      cluster_inventory_add(out_table, &line, "state");
    }
  }
}

// One call, as |host| has it.
static void cluster_inventory_list_call(const tfrt_cluster_inventory_t* inventory, uint32_t host,
                                        const tfrt_inventory_line_t* line, tfrt_table_t* table) {
  bool is_in = tfrt_inventory_line_has(line, "dir", tfrt_string_view_of("in"));
  tfrt_string_view_t peer =
      tfrt_cluster_inventory_name(inventory, tfrt_inventory_line_text(line, "peer"));
  tfrt_inventory_line_t caller = *line;
  bool has_place = !is_in || tfrt_cluster_inventory_find_caller(inventory, host, line, &caller);
  char name[64];
  tfrt_cluster_inventory_call_name(inventory, host, line, name, sizeof(name));
  tfrt_table_add_text(table, name);
  cluster_inventory_add(table, line, "function");
  tfrt_table_add_view(table, is_in ? peer : inventory->addresses[host]);
  tfrt_table_add_view(table, is_in ? inventory->addresses[host] : peer);
  cluster_inventory_add_age(table, line);
  cluster_inventory_add(table, line, "state");
  tfrt_table_add_view(
      table, has_place ? tfrt_inventory_line_text(&caller, "at") : tfrt_string_view_of(""));
  cluster_inventory_add_id(table, tfrt_inventory_line_text(line, "job"));
}

void tfrt_cluster_inventory_list_calls(const tfrt_cluster_inventory_t* inventory,
                                       tfrt_table_t* out_table) {
  static const tfrt_table_column_t columns[] = {
      {"CALL", "call", false}, {"FUNCTION", "function", false}, {"FROM", "from", false},
      {"TO", "to", false},     {"AGE_S", "age_s", true},        {"STATE", "state", false},
      {"AT", "at", false},     {"JOB", "job", false},
  };
  tfrt_table_initialize(out_table, columns, TFRT_ARRAY_SIZE(columns));
  for (uint32_t i = 0; i < inventory->host_count; ++i) {
    tfrt_inventory_line_t line;
    for (tfrt_string_view_t rest = inventory->lines[i]; tfrt_inventory_lines_next(&rest, &line);) {
      if (!tfrt_inventory_line_is(&line, "call")) continue;
      bool is_in = tfrt_inventory_line_has(&line, "dir", tfrt_string_view_of("in"));
      uint32_t callee = 0;
      tfrt_inventory_line_t other;
      // Each call once: by the callee, if that knows it.
      if (!is_in && tfrt_cluster_inventory_find_callee(inventory, i, &line, &callee, &other)) {
        continue;
      }
      cluster_inventory_list_call(inventory, i, &line, out_table);
    }
  }
}

static void cluster_inventory_list_object(const tfrt_cluster_inventory_t* inventory, uint32_t host,
                                          const tfrt_inventory_line_t* line, tfrt_table_t* table) {
  bool is_remote = tfrt_inventory_line_is(line, "remote");
  tfrt_table_add_view(table, inventory->addresses[host]);
  tfrt_table_add_text(table, is_remote ? "remote" : "object");
  cluster_inventory_add(table, line, "id");
  tfrt_table_add_view(table, is_remote ? tfrt_cluster_inventory_name(
                                             inventory, tfrt_inventory_line_text(line, "owner"))
                                       : inventory->addresses[host]);
  cluster_inventory_add(table, line, "state");
  cluster_inventory_add(table, line, "type");
  cluster_inventory_add(table, line, "bytes");
  cluster_inventory_add_age(table, line);
  cluster_inventory_add(table, line, "function");
  cluster_inventory_add_id(table, tfrt_inventory_line_text(line, "job"));
}

void tfrt_cluster_inventory_list_objects(const tfrt_cluster_inventory_t* inventory,
                                         tfrt_table_t* out_table) {
  static const tfrt_table_column_t columns[] = {
      {"HOST", "host", false},   {"KIND", "kind", false},   {"ID", "id", false},
      {"OWNER", "owner", false}, {"STATE", "state", false}, {"TYPE", "type", false},
      {"BYTES", "bytes", true},  {"AGE_S", "age_s", true},  {"FUNCTION", "function", false},
      {"JOB", "job", false},
  };
  tfrt_table_initialize(out_table, columns, TFRT_ARRAY_SIZE(columns));
  for (uint32_t i = 0; i < inventory->host_count; ++i) {
    tfrt_inventory_line_t line;
    for (tfrt_string_view_t rest = inventory->lines[i]; tfrt_inventory_lines_next(&rest, &line);) {
      if (tfrt_inventory_line_is(&line, "object") || tfrt_inventory_line_is(&line, "remote")) {
        cluster_inventory_list_object(inventory, i, &line, out_table);
      }
    }
  }
}
