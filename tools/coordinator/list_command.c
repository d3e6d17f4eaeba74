// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/list_command.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/macros.h"
#include "tools/coordinator/cluster_inventory.h"

static const char* const tfrt_list_nouns[] = {"hosts", "jobs", "calls", "objects"};

static int64_t tfrt_list_skip;  // a flag

static tfrt_status_t list_check(tfrt_host_query_t* query) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(tfrt_list_nouns) && query->rest.count == 1; ++i) {
    if (strcmp(query->rest.values[0], tfrt_list_nouns[i]) == 0) return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "say what to list: hosts, jobs, calls or objects");
}

static tfrt_status_t list_run(tfrt_host_query_t* query) {
  static tfrt_cluster_inventory_t inventory;
  const char* noun = query->rest.values[0];
  bool lists_jobs = strcmp(noun, "jobs") == 0;
  TFRT_RETURN_IF_ERROR(tfrt_cluster_inventory_gather_page(
      query, lists_jobs ? TFRT_CLIENT_INVENTORY_JOBS : TFRT_CLIENT_INVENTORY_ALL,
      (uint64_t)tfrt_list_skip, &inventory));
  TFRT_RETURN_IF_ERROR(tfrt_host_query_check_answered(query));
  tfrt_host_query_stop_asking(query);
  TFRT_RETURN_IF_ERROR(tfrt_cluster_inventory_index(&inventory));
  tfrt_table_t table;
  if (strcmp(noun, "hosts") == 0) {
    tfrt_cluster_inventory_list_hosts(&inventory, query, &table);
  } else if (lists_jobs) {
    tfrt_cluster_inventory_list_jobs(&inventory, &table);
  } else if (strcmp(noun, "calls") == 0) {
    tfrt_cluster_inventory_list_calls(&inventory, &table);
  } else {
    tfrt_cluster_inventory_list_objects(&inventory, &table);
  }
  tfrt_table_print(&table, query->is_json);
  tfrt_table_deinitialize(&table);
  // The totals of hosts have all of it.
  if (strcmp(noun, "hosts") != 0) {
    const uint64_t next = (uint64_t)tfrt_list_skip + TFRT_CLIENT_INVENTORY_PAGE;
    tfrt_cluster_inventory_report_more(&inventory, lists_jobs ? 0 : next);
  }
  tfrt_cluster_inventory_drop_index(&inventory);
  tfrt_host_query_report_errors(query);
  return NULL;
}

tfrt_exit_code_t tfrt_list_command(int argument_count, char* const* arguments) {
  static const tfrt_flag_t flags[] = {
      {"skip", TFRT_FLAG_NUMBER, &tfrt_list_skip, "N",
       "pass over the first N calls each way, or values each way, of each worker", 0,
       INT64_MAX - TFRT_CLIENT_INVENTORY_PAGE},
  };
  static const tfrt_host_query_verb_t verb = {
      .name = "list",
      .usage = "tfrt list hosts|jobs|calls|objects --hosts A:P,B:P [FLAGS]",
      .summary = "Lists what is alive on workers because of others.",
      .footer =
          "hosts    the workers, with what each has; BYTES are those of values that are there\n"
          "jobs     what `tfrt run` and other clients have opened\n"
          "calls    what workers run for each other; AT is where the call stands in the program\n"
          "objects  values that others know (object), and placeholders for values of others\n"
          "         (remote), with the function that made them\n"
          "\n"
          "A worker lists 4,096 things of each kind, and says how many more there are: --skip 4096 "
          "lists\n"
          "the next ones. The order stays as long as nothing comes or goes.\n"
          "`tfrt cancel` takes what stands under JOB and CALL. Exit codes: see tfrt run --help.",
      .flags = flags,
      .flag_count = TFRT_ARRAY_SIZE(flags)};
  return tfrt_host_query_command(&verb, list_check, list_run, argument_count, arguments);
}
