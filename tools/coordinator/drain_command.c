// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/drain_command.h"

#include "tools/coordinator/host_query.h"
#include "tools/coordinator/table.h"

static tfrt_status_t drain_check(tfrt_host_query_t* query) {
  (void)query;
  return NULL;
}

static tfrt_async_value_t* drain_ask(void* self, tfrt_client_t* client, uint32_t index) {
  (void)self;
  (void)index;
  return tfrt_client_ask(client, 0, &(tfrt_client_question_t){.kind = TFRT_CLIENT_ASK_DRAIN});
}

static tfrt_status_t drain_run(tfrt_host_query_t* query) {
  static const tfrt_table_column_t columns[] = {
      {"HOST", "host", false}, {"STATE", "state", false}, {"JOBS", "jobs", true}};
  TFRT_RETURN_IF_ERROR(tfrt_host_query_ask_lines(query, drain_ask, NULL));
  TFRT_RETURN_IF_ERROR(tfrt_host_query_check_answered(query));
  tfrt_table_t table;
  tfrt_table_initialize(&table, columns, sizeof(columns) / sizeof(columns[0]));
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    tfrt_string_view_t jobs = tfrt_string_view_of("");
    bool is_there = tfrt_host_query_answer(query, i, &jobs);
    tfrt_table_add_view(&table, query->hosts.addresses[i]);
    tfrt_table_add_text(&table, is_there ? "draining" : "no answer");
    tfrt_table_add_view(&table, jobs);
  }
  tfrt_table_print(&table, query->is_json);
  tfrt_table_deinitialize(&table);
  tfrt_host_query_report_errors(query);
  return NULL;
}

tfrt_exit_code_t tfrt_drain_command(int argument_count, char* const* arguments) {
  static const tfrt_host_query_verb_t verb = {
      .name = "drain",
      .has_hosts_as_arguments = true,
      .usage = "tfrt drain HOST:PORT... [FLAGS]",
      .summary =
          "Has workers take no more jobs, and end when those that run are over: what SIGTERM does\n"
          "on their machine.",
      .footer =
          "JOBS go on, for at most the worker's --drain-timeout-ms. Exit codes: see tfrt run "
          "--help."};
  return tfrt_host_query_command(&verb, drain_check, drain_run, argument_count, arguments);
}
