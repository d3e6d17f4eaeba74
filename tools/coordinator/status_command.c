// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/status_command.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/macros.h"
#include "tools/coordinator/cluster_inventory.h"
#include "tools/coordinator/host_status.h"
#include "tools/output/json.h"

static tfrt_async_value_t* status_ask(void* self, tfrt_client_t* client, uint32_t index) {
  (void)self;
  (void)index;
  return tfrt_client_ask(client, 0, &(tfrt_client_question_t){.kind = TFRT_CLIENT_ASK_STATUS});
}

// --- For programs --------------------------------------------------------------

static void status_append_property(tfrt_string_view_t name, tfrt_string_view_t value,
                                   tfrt_string_builder_t* out) {
  static const char* const numbers[] = {
      "number", "age_us",         "bytes",          "rank",    "hosts",         "loans",
      "depth",  "sender",         "request",        "jobs",    "members",       "starts",
      "mail",   "incoming_calls", "outgoing_calls", "objects", "remote_values",
  };
  bool is_number = false;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(numbers); ++i) {
    is_number = is_number || tfrt_string_view_equal(name, tfrt_string_view_of(numbers[i]));
  }
  tfrt_string_builder_append_char(out, ',');
  tfrt_json_append_string(out, name);
  tfrt_string_builder_append_char(out, ':');
  if (tfrt_string_view_equal(value, tfrt_string_view_of("-"))) {
    tfrt_string_builder_append_text(out, "null");
  } else if (is_number) {
    tfrt_string_builder_append_view(out, value);
  } else {
    tfrt_json_append_string(out, value);
  }
}

// All that is alive, an object for each line.
static void status_append_live(tfrt_string_view_t rest, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, ",\"live\":[");
  const char* separator = "";
  for (tfrt_inventory_line_t line; tfrt_inventory_lines_next(&rest, &line);) {
    if (tfrt_inventory_line_is(&line, "host") || tfrt_inventory_line_is(&line, "kernel")) continue;
    tfrt_string_builder_append_format(out, "%s{\"kind\":", separator);
    tfrt_json_append_string(out, line.kind);
    while (line.properties.size > 0) {
      tfrt_string_view_t value = tfrt_inventory_lines_cut(&line.properties, ' ');
      tfrt_string_view_t name = tfrt_inventory_lines_cut(&value, '=');
      status_append_property(name, value, out);
    }
    tfrt_string_builder_append_char(out, '}');
    separator = ",\n";
  }
  tfrt_string_builder_append_char(out, ']');
}

// One host: {"host":ADDRESS,"status":{...},"live":[...]} or {"host":ADDRESS,"error":{...}}.
static void status_append_json(const tfrt_host_query_t* query, uint32_t index,
                               tfrt_string_view_t live, tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, "{\"host\":");
  tfrt_json_append_string(out, query->hosts.addresses[index]);
  tfrt_status_t error = tfrt_host_query_error(query, index);
  tfrt_string_view_t report;
  if (error) {
    const char* code = tfrt_status_code_name(tfrt_status_code(error));
    tfrt_string_builder_append_format(out, ",\"error\":{\"code\":\"%s\",\"message\":", code);
    tfrt_json_append_string(out, tfrt_string_view_of(tfrt_status_message(error)));
    tfrt_string_builder_append_char(out, '}');
  } else if (tfrt_host_query_answer(query, index, &report)) {
    tfrt_string_builder_append_text(out, ",\"status\":");
    tfrt_host_status_append_json(report, out);
    status_append_live(live, out);
  }
  tfrt_string_builder_append_char(out, '}');
}

// --- For people ----------------------------------------------------------------

static void status_append_table(tfrt_table_t* table, tfrt_string_builder_t* out) {
  if (tfrt_table_row_count(table) > 0) {
    tfrt_string_builder_append_char(out, '\n');
    tfrt_table_append_text(table, out);
  }
  tfrt_table_deinitialize(table);
}

static void status_append_host(const tfrt_host_query_t* query, uint32_t index,
                               tfrt_string_builder_t* out) {
  tfrt_string_view_t address = query->hosts.addresses[index];
  tfrt_string_view_t report;
  if (tfrt_host_query_answer(query, index, &report)) {
    tfrt_host_status_append_line(address, report, out);
  } else {
    tfrt_host_status_append_missing(address, tfrt_host_query_missing(query, index), out);
  }
}

// --- The verb ------------------------------------------------------------------

static tfrt_status_t status_check(tfrt_host_query_t* query) {
  if (query->rest.count == 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "name the workers, --hosts HOST:PORT,HOST:PORT, and nothing else");
}

// The live objects of the hosts, copied from the answers before these are freed.
typedef struct tfrt_status_live_s {
  tfrt_string_builder_t tables;                     // for people
  tfrt_string_builder_t lines[TFRT_HOST_LIST_MAX];  // for programs
} tfrt_status_live_t;

static void status_take_live(const tfrt_cluster_inventory_t* inventory,
                             tfrt_status_live_t* out_live) {
  tfrt_table_t table;
  tfrt_string_builder_initialize(&out_live->tables, tfrt_allocator_system());
  tfrt_cluster_inventory_list_calls(inventory, &table);
  status_append_table(&table, &out_live->tables);
  tfrt_cluster_inventory_list_objects(inventory, &table);
  status_append_table(&table, &out_live->tables);
  for (uint32_t i = 0; i < inventory->host_count; ++i) {
    tfrt_string_builder_initialize(&out_live->lines[i], tfrt_allocator_system());
    tfrt_string_builder_append_view(&out_live->lines[i], inventory->lines[i]);
  }
}

static void status_print(const tfrt_host_query_t* query, const tfrt_status_live_t* live) {
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  if (!query->is_json) tfrt_host_status_append_titles(&out);
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    if (query->is_json) {
      tfrt_string_builder_append_char(&out, i > 0 ? ',' : '[');
      status_append_json(query, i, tfrt_string_builder_view(&live->lines[i]), &out);
    } else {
      status_append_host(query, i, &out);
    }
  }
  if (query->is_json) tfrt_string_builder_append_text(&out, "]\n");
  if (!query->is_json) {
    tfrt_string_builder_append_view(&out, tfrt_string_builder_view(&live->tables));
  }
  fputs(tfrt_string_builder_text(&out), stdout);
  tfrt_string_builder_deinitialize(&out);
}

static tfrt_status_t status_run(tfrt_host_query_t* query) {
  static tfrt_cluster_inventory_t inventory;
  static tfrt_status_live_t live;
  TFRT_RETURN_IF_ERROR(tfrt_cluster_inventory_gather(query, TFRT_CLIENT_INVENTORY_FEW, &inventory));
  TFRT_RETURN_IF_ERROR(tfrt_cluster_inventory_index(&inventory));
  status_take_live(&inventory, &live);
  tfrt_cluster_inventory_report_more(&inventory, 0);
  tfrt_cluster_inventory_drop_index(&inventory);
  tfrt_status_t status = tfrt_host_query_ask_lines(query, status_ask, NULL);
  tfrt_host_query_stop_asking(query);
  if (!status) status_print(query, &live);
  tfrt_string_builder_deinitialize(&live.tables);
  for (uint32_t i = 0; i < inventory.host_count; ++i) {
    tfrt_string_builder_deinitialize(&live.lines[i]);
  }
  tfrt_host_query_report_errors(query);
  return status;
}

tfrt_exit_code_t tfrt_status_command(int argument_count, char* const* arguments) {
  static const tfrt_host_query_verb_t verb = {
      .name = "status",
      .usage = "tfrt status --hosts A:P,B:P [FLAGS]",
      .summary =
          "Asks workers how they are, and what is alive on them because of others. Where no\n"
          "program runs, all counts are zero.",
      .footer =
          "JOBS that run; OBJECTS that others know; values on other hosts (REMOTE); calls that\n"
          "others run for this host (OUT), or it for them (IN); values that others wait for\n"
          "(WANTS); payloads on their way (TRANSFERS). Below, each call and value with its age "
          "and\n"
          "the function that made it, as `tfrt list` has them, the first few of many. Exit codes: "
          "see tfrt run --help."};
  return tfrt_host_query_command(&verb, status_check, status_run, argument_count, arguments);
}
