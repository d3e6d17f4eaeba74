// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/status_command.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "distributed/client.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/join.h"
#include "host_runtime/base/log.h"
#include "tools/common/cluster_key.h"
#include "tools/common/flags.h"
#include "tools/common/host_process.h"
#include "tools/common/json.h"
#include "tools/common/tls_files.h"
#include "tools/coordinator/host_list.h"
#include "tools/coordinator/host_status.h"
#include "tools/coordinator/run_loop.h"
#include "tools/coordinator/run_report.h"

typedef struct tfrt_status_run_s {
  const char* output;
  int64_t timeout_ms;
  tfrt_host_list_t hosts;
  tfrt_cluster_key_t key;
  tfrt_tls_files_t tls;
  tfrt_run_loop_t loop;
  tfrt_host_process_t process;
  tfrt_client_t* clients[TFRT_HOST_LIST_MAX];       // +1; one per host
  tfrt_async_value_t* opened[TFRT_HOST_LIST_MAX];   // +0, the clients'
  tfrt_async_value_t* reports[TFRT_HOST_LIST_MAX];  // +1
  tfrt_task_t task;
  atomic_bool is_done;
} tfrt_status_run_t;

// --- Flags ---------------------------------------------------------------------

static tfrt_status_t tfrt_status_parse(tfrt_status_run_t* run, int argument_count,
                                       char* const* arguments, bool* out_help) {
  const char* hosts = NULL;
  const char* key_file = NULL;
  tfrt_tls_flags_t tls = {NULL, NULL};
  const tfrt_flag_t flags[] = {
      {"hosts", TFRT_FLAG_TEXT, &hosts, "A:P,B:P", "workers to ask", 0, 0},
      {"cluster-key-file", TFRT_FLAG_TEXT, &key_file, "FILE",
       "the workers' secret (default: the environment's " TFRT_CLUSTER_KEY_VARIABLE ")", 0, 0},
      {"tls-dir", TFRT_FLAG_TEXT, &tls.directory, "DIR", TFRT_TLS_DIRECTORY_HELP, 0, 0},
      {"tls-name", TFRT_FLAG_TEXT, &tls.name, "NAME", TFRT_TLS_NAME_HELP " (default: client)", 0,
       0},
      {"timeout", TFRT_FLAG_NUMBER, &run->timeout_ms, "MS", "how long to wait (default 5000)", 1,
       INT32_MAX},
      {"o", TFRT_FLAG_TEXT, &run->output, "FORMAT", "text (default) or json", 0, 0},
  };
  const tfrt_flag_table_t table = {
      .usage = "tfrt status --hosts A:P,B:P [FLAGS]",
      .summary = "Asks workers how they are. Where no program runs, all counts are zero.",
      .footer =
          "JOBS that run; OBJECTS that others know; values on other hosts (REMOTE); calls that\n"
          "others run for this host (OUT), or it for them (IN); values that others wait for\n"
          "(WANTS); payloads on their way (TRANSFERS). Exit codes: see tfrt run --help.",
      .flags = flags,
      .flag_count = TFRT_ARRAY_SIZE(flags)};
  tfrt_flag_list_t rest;
  TFRT_RETURN_IF_ERROR(tfrt_flags_parse(&table, argument_count, arguments, &rest, out_help));
  if (*out_help) {
    tfrt_flags_print_help(&table);
    return NULL;
  }
  if (!hosts || rest.count > 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "name the workers, --hosts HOST:PORT,HOST:PORT, and nothing else");
  }
  if (strcmp(run->output, "text") != 0 && strcmp(run->output, "json") != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "-o %s: there are text and json",
                              run->output);
  }
  TFRT_RETURN_IF_ERROR(tfrt_host_list_parse(hosts, &run->hosts));
  TFRT_RETURN_IF_ERROR(tfrt_tls_files_read(&tls, "client", TFRT_CERTIFICATE_CLIENT, &run->tls));
  return tfrt_cluster_key_read(key_file, &run->key);
}

// --- Asking --------------------------------------------------------------------

static void tfrt_status_on_done(tfrt_task_t* task) {
  tfrt_status_run_t* run = TFRT_CONTAINER_OF(task, tfrt_status_run_t, task);
  // Pairs with the load in tfrt_status_wait().
  atomic_store_explicit(&run->is_done, true, memory_order_release);
  tfrt_run_loop_wake(&run->loop);
}

static void tfrt_status_close(tfrt_status_run_t* run) {
  for (uint32_t i = 0; i < run->hosts.count; ++i) {
    if (run->clients[i]) tfrt_client_close(run->clients[i], run->loop.cancelled);
  }
}

// Waits until all |values|, one per host, are resolved. The end of the time, or an impatient
// user, makes errors of those that are not.
static tfrt_status_t tfrt_status_wait(tfrt_status_run_t* run, tfrt_async_value_t* const* values) {
  atomic_store_explicit(&run->is_done, false, memory_order_relaxed);
  tfrt_task_initialize(&run->task, tfrt_status_on_done);
  TFRT_RETURN_IF_ERROR(
      tfrt_join_and_then(values, run->hosts.count, &run->task, tfrt_allocator_system()));
  // Pairs with the store in tfrt_status_on_done().
  while (!atomic_load_explicit(&run->is_done, memory_order_acquire)) {
    if (run->loop.cancelled) tfrt_status_close(run);
    tfrt_run_loop_turn(&run->loop);
  }
  return NULL;
}

static tfrt_status_t tfrt_status_ask(tfrt_status_run_t* run) {
  for (uint32_t i = 0; i < run->hosts.count; ++i) {
    tfrt_client_options_t options = {.addresses = &run->hosts.addresses[i],
                                     .host_count = 1,
                                     .name = tfrt_string_view_of("status"),
                                     .deadline_ns = TFRT_TIME_INFINITE};
    TFRT_RETURN_IF_ERROR(tfrt_client_create(run->process.node, &options, &run->clients[i]));
    run->opened[i] = tfrt_client_opened(run->clients[i]);
  }
  TFRT_RETURN_IF_ERROR(tfrt_status_wait(run, run->opened));
  for (uint32_t i = 0; i < run->hosts.count; ++i) {
    run->reports[i] = tfrt_async_value_is_error(run->opened[i])
                          ? tfrt_async_value_retain(run->opened[i])
                          : tfrt_client_status(run->clients[i], 0);
  }
  return tfrt_status_wait(run, run->reports);
}

// --- Printing ------------------------------------------------------------------

// One host as JSON: {"host":ADDRESS,"status":{...}} or {"host":ADDRESS,"error":{...}}.
static void tfrt_status_append_json(tfrt_string_view_t address, tfrt_async_value_t* report,
                                    tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, "{\"host\":");
  tfrt_json_append_string(out, address);
  if (tfrt_async_value_is_error(report)) {
    tfrt_status_t error = tfrt_async_value_error(report);
    const char* code = tfrt_status_code_name(tfrt_status_code(error));
    tfrt_string_builder_append_format(out, ",\"error\":{\"code\":\"%s\",\"message\":", code);
    tfrt_json_append_string(out, tfrt_string_view_of(tfrt_status_message(error)));
    tfrt_string_builder_append_char(out, '}');
  } else {
    tfrt_string_builder_append_text(out, ",\"status\":");
    tfrt_host_status_append_json(tfrt_async_value_string(report), out);
  }
  tfrt_string_builder_append_char(out, '}');
}

static tfrt_exit_code_t tfrt_status_print(const tfrt_status_run_t* run) {
  bool is_json = strcmp(run->output, "json") == 0;
  tfrt_status_t first = NULL;
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  if (!is_json) tfrt_host_status_append_titles(&out);
  for (uint32_t i = 0; i < run->hosts.count; ++i) {
    tfrt_string_view_t address = run->hosts.addresses[i];
    bool is_error = tfrt_async_value_is_error(run->reports[i]);
    if (is_error && !first) first = tfrt_async_value_error(run->reports[i]);
    if (is_json) {
      tfrt_string_builder_append_char(&out, i > 0 ? ',' : '[');
      tfrt_status_append_json(address, run->reports[i], &out);
    } else if (!is_error) {
      tfrt_host_status_append_line(address, tfrt_async_value_string(run->reports[i]), &out);
    } else {
      tfrt_string_builder_append_format(&out, "%-24.*s %-20s %-9s\n", (int)address.size,
                                        address.data, "-", "no answer");
      tfrt_run_report_error(tfrt_async_value_error(run->reports[i]));
    }
  }
  if (is_json) tfrt_string_builder_append_text(&out, "]\n");
  fputs(tfrt_string_builder_text(&out), stdout);
  fflush(stdout);
  tfrt_string_builder_deinitialize(&out);
  return first ? tfrt_exit_code_of_cluster(first) : TFRT_EXIT_SUCCESS;
}

// --- The verb ------------------------------------------------------------------

static tfrt_status_t tfrt_status_execute(tfrt_status_run_t* run, tfrt_exit_code_t* out_exit_code) {
  TFRT_RETURN_IF_ERROR(tfrt_run_loop_initialize(&run->loop, run->timeout_ms));
  tfrt_host_process_options_t options;
  tfrt_host_process_options_initialize(&options);
  options.name = tfrt_string_view_of("tfrt status");
  options.cluster_key = tfrt_cluster_key_view(&run->key);
  options.tls = tfrt_tls_files_view(&run->tls);
  options.threads = 1;
  options.linger_ms = 300;
  tfrt_status_t status = tfrt_host_process_initialize(&run->process, &options);
  if (!status) {
    status = tfrt_status_ask(run);
    if (!status) *out_exit_code = tfrt_status_print(run);
    tfrt_status_close(run);
    for (uint32_t i = 0; i < run->hosts.count; ++i) {
      tfrt_async_value_release(run->reports[i]);
      tfrt_client_release(run->clients[i]);
    }
    tfrt_host_process_shut_down(&run->process);
  }
  tfrt_run_loop_deinitialize(&run->loop);
  return status;
}

tfrt_exit_code_t tfrt_status_command(int argument_count, char* const* arguments) {
  static tfrt_status_run_t run = {.output = "text", .timeout_ms = 5000};
  bool help = false;
  tfrt_exit_code_t exit_code = TFRT_EXIT_USAGE;
  tfrt_log_set_level(TFRT_LOG_SILENT);
  tfrt_status_t status = tfrt_status_parse(&run, argument_count, arguments, &help);
  if (!status && help) exit_code = TFRT_EXIT_SUCCESS;
  if (!status && !help) status = tfrt_status_execute(&run, &exit_code);
  if (status) tfrt_run_report_error(status);
  if (tfrt_status_code(status) == TFRT_STATUS_UNAUTHENTICATED) exit_code = TFRT_EXIT_AUTHENTICATION;
  tfrt_status_release(status);
  return exit_code;
}
