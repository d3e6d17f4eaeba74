// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/host_query.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/macros.h"
#include "tools/cluster/network_trust.h"
#include "tools/command_line/spoken_protocol.h"
#include "tools/coordinator/run_report.h"
#include "tools/process/standard_streams.h"

// How long to wait, unless a flag says otherwise.
#define TFRT_HOST_QUERY_TIMEOUT_MS 5000

// --- Flags ---------------------------------------------------------------------

// Texts of flags that have to be checked before the query uses them.
typedef struct tfrt_host_query_texts_s {
  const char* cluster;
  const char* hosts;
  const char* hostfile;
  const char* key_file;
  const char* output;
  tfrt_tls_flags_t tls;
  bool insecure_network;
} tfrt_host_query_texts_t;

#define TFRT_HOST_QUERY_COMMON_FLAGS 9
#define TFRT_HOST_QUERY_MAX_FLAGS (TFRT_HOST_QUERY_COMMON_FLAGS + TFRT_HOST_QUERY_MAX_OWN_FLAGS)

// Returns how many there are.
static size_t host_query_list_flags(tfrt_host_query_t* query, const tfrt_host_query_verb_t* verb,
                                    tfrt_host_query_texts_t* texts,
                                    tfrt_flag_t out_flags[TFRT_HOST_QUERY_MAX_FLAGS]) {
  const tfrt_flag_t flags[TFRT_HOST_QUERY_COMMON_FLAGS] = {
      {"hosts", TFRT_FLAG_TEXT, &texts->hosts, "A:P,B:P", "workers to ask", 0, 0},
      {"hostfile", TFRT_FLAG_PATH, &texts->hostfile, "FILE",
       "the same from a file: a line HOST:PORT each, maybe with slots=N behind it", 0, 0},
      {"cluster", TFRT_FLAG_PATH, &texts->cluster, "FILE", TFRT_CLUSTER_FILE_FLAG_HELP, 0, 0},
      {"cluster-key-file", TFRT_FLAG_PATH, &texts->key_file, "FILE",
       "the workers' secret (default: the environment's " TFRT_CLUSTER_KEY_VARIABLE ")", 0, 0},
      {"tls-dir", TFRT_FLAG_PATH, &texts->tls.directory, "DIR", TFRT_TLS_DIRECTORY_HELP, 0, 0},
      {"tls-name", TFRT_FLAG_TEXT, &texts->tls.name, "NAME",
       TFRT_TLS_NAME_HELP " (default: client)", 0, 0},
      {"insecure-network", TFRT_FLAG_BOOL, &texts->insecure_network, NULL, TFRT_NETWORK_TRUST_HELP,
       0, 0},
      {"timeout", TFRT_FLAG_NUMBER, &query->timeout_ms, "MS",
       "how long to wait for a worker (default 5000)", 1, INT32_MAX},
      {"o", TFRT_FLAG_TEXT, &texts->output, "FORMAT", "text (default) or json", 0, 0},
  };
  memcpy(out_flags, flags, sizeof(flags));
  for (size_t i = 0; i < verb->flag_count; ++i) {
    out_flags[TFRT_HOST_QUERY_COMMON_FLAGS + i] = verb->flags[i];
  }
  return TFRT_HOST_QUERY_COMMON_FLAGS + verb->flag_count;
}

static tfrt_status_t host_query_parse_flags(tfrt_host_query_t* query,
                                            const tfrt_host_query_verb_t* verb, int argument_count,
                                            char* const* arguments, tfrt_host_query_texts_t* texts,
                                            bool* out_help) {
  tfrt_flag_t flags[TFRT_HOST_QUERY_MAX_FLAGS];
  size_t flag_count = host_query_list_flags(query, verb, texts, flags);
  const tfrt_flag_table_t table = {.usage = verb->usage,
                                   .summary = verb->summary,
                                   .footer = verb->footer,
                                   .flags = flags,
                                   .flag_count = flag_count,
                                   .protocol = TFRT_SPOKEN_PROTOCOL};
  return tfrt_flags_parse(&table, argument_count, arguments, &query->rest, out_help);
}

// Sets what the file of --cluster says; the command line, read again, goes before it.
static tfrt_status_t host_query_take_file(tfrt_host_query_t* query,
                                          const tfrt_host_query_verb_t* verb, int argument_count,
                                          char* const* arguments, tfrt_host_query_texts_t* texts) {
  bool help = false;
  bool has_hosts =
      texts->hosts || texts->hostfile || (verb->has_hosts_as_arguments && query->rest.count > 0);
  tfrt_flag_t flags[TFRT_HOST_QUERY_MAX_FLAGS];
  size_t flag_count = host_query_list_flags(query, verb, texts, flags);
  const tfrt_flag_table_t table = {.flags = flags, .flag_count = flag_count};
  tfrt_status_t status = tfrt_cluster_file_load(texts->cluster, &query->cluster_file);
  if (!status) status = tfrt_cluster_file_apply(&query->cluster_file, &table);
  if (status) return tfrt_status_take_annotate(status, "--cluster");
  if (has_hosts) texts->hosts = texts->hostfile = NULL;
  return host_query_parse_flags(query, verb, argument_count, arguments, texts, &help);
}

// Takes what is no flag for addresses. Beside a flag that names workers, which |has_flag| says,
// they are refused: both lists may be meant, or one of them.
static tfrt_status_t host_query_take_hosts(tfrt_host_query_t* query, bool has_flag) {
  if (has_flag && query->rest.count > 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s, and --hosts or --hostfile: name the workers in one way",
                              query->rest.values[0]);
  }
  for (size_t i = 0; i < query->rest.count; ++i) {
    if (query->hosts.count == TFRT_HOST_LIST_MAX) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "there are more than %d workers",
                                TFRT_HOST_LIST_MAX);
    }
    query->hosts.addresses[query->hosts.count++] = tfrt_string_view_of(query->rest.values[i]);
  }
  query->rest.count = 0;
  return NULL;
}

// Sets |texts| as the command line and the file that it names say, and |query->is_json| even where
// they are wrong.
static tfrt_status_t host_query_parse_all(tfrt_host_query_t* query,
                                          const tfrt_host_query_verb_t* verb, int argument_count,
                                          char* const* arguments, tfrt_host_query_texts_t* texts,
                                          bool* out_help) {
  tfrt_status_t status =
      host_query_parse_flags(query, verb, argument_count, arguments, texts, out_help);
  if (!status && !*out_help && texts->cluster) {
    status = host_query_take_file(query, verb, argument_count, arguments, texts);
  }
  // Parsing may have stopped at an error in front of -o.
  const char* output = status ? tfrt_flags_last_value(argument_count, arguments, "o") : NULL;
  query->is_json = strcmp(output ? output : texts->output, "json") == 0;
  return status;
}

tfrt_status_t tfrt_host_query_parse(tfrt_host_query_t* query, const tfrt_host_query_verb_t* verb,
                                    int argument_count, char* const* arguments, bool* out_help) {
  tfrt_host_query_texts_t texts = {.output = "text"};
  query->name = verb->name;
  query->timeout_ms = TFRT_HOST_QUERY_TIMEOUT_MS;
  TFRT_RETURN_IF_ERROR(
      host_query_parse_all(query, verb, argument_count, arguments, &texts, out_help));
  if (*out_help) return NULL;
  if (!query->is_json && strcmp(texts.output, "text") != 0) {
    tfrt_status_t status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                              "-o %s: there are text and json", texts.output);
    return tfrt_cluster_file_locate(&query->cluster_file, texts.output, status);
  }
  TFRT_RETURN_IF_ERROR(tfrt_cluster_file_locate(
      &query->cluster_file, texts.hostfile,
      tfrt_host_list_choose(texts.hosts, texts.hostfile, &query->hostfile, &query->hosts)));
  if (verb->has_hosts_as_arguments) {
    TFRT_RETURN_IF_ERROR(host_query_take_hosts(query, texts.hosts || texts.hostfile));
  }
  if (query->hosts.count == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "name the workers: --hosts HOST:PORT,HOST:PORT, --hostfile FILE or "
                              "--cluster FILE");
  }
  TFRT_RETURN_IF_ERROR(tfrt_cluster_file_locate(
      &query->cluster_file, texts.tls.directory,
      tfrt_tls_files_read(&texts.tls, "client", TFRT_CERTIFICATE_CLIENT, &query->tls)));
  TFRT_RETURN_IF_ERROR(tfrt_cluster_file_locate(
      &query->cluster_file, texts.key_file, tfrt_cluster_key_read(texts.key_file, &query->key)));
  if (query->key.size == 0 || query->tls.is_given || texts.insecure_network) return NULL;
  return tfrt_network_trust_check_key(query->hosts.addresses, query->hosts.count);
}

// --- Connections ---------------------------------------------------------------

static void host_query_wake(tfrt_task_t* task) {
  tfrt_host_query_waiter_t* waiter = TFRT_CONTAINER_OF(task, tfrt_host_query_waiter_t, task);
  tfrt_run_loop_t* loop = &waiter->query->loop;
  // Pairs with the load in host_query_is_done(), behind which |waiter| may be used again.
  atomic_store_explicit(&waiter->is_done, true, memory_order_release);
  tfrt_run_loop_wake(loop);
}

// Has the main thread look when |value| is resolved.
static void host_query_watch(tfrt_host_query_t* query, tfrt_host_query_waiter_t* waiter,
                             tfrt_async_value_t* value) {
  waiter->query = query;
  // Relaxed: nobody else knows |waiter| before tfrt_async_value_and_then().
  atomic_store_explicit(&waiter->is_done, false, memory_order_relaxed);
  tfrt_task_initialize(&waiter->task, host_query_wake);
  tfrt_async_value_and_then(value, &waiter->task);
}

// The value that |waiter| watches is there, and |waiter| the main thread's again.
static bool host_query_is_done(const tfrt_host_query_waiter_t* waiter) {
  // Pairs with the store in host_query_wake().
  return atomic_load_explicit(&waiter->is_done, memory_order_acquire);
}

static tfrt_status_t host_query_connect(tfrt_host_query_t* query) {
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    tfrt_host_query_host_t* host = &query->host[i];
    tfrt_client_options_t options = {.addresses = &query->hosts.addresses[i],
                                     .host_count = 1,
                                     .name = tfrt_string_view_of(query->name),
                                     .deadline_ns = TFRT_TIME_INFINITE,
                                     .asks_only = true};
    TFRT_RETURN_IF_ERROR(tfrt_client_create(query->process.node, &options, &host->client));
    host->opened = tfrt_client_opened(host->client);
    host_query_watch(query, &host->on_opened, host->opened);
  }
  return NULL;
}

tfrt_status_t tfrt_host_query_open(tfrt_host_query_t* query) {
  char name[32];
  snprintf(name, sizeof(name), "tfrt %s", query->name);
  tfrt_host_process_options_t options;
  tfrt_host_process_options_initialize(&options);
  options.name = tfrt_string_view_of(name);
  options.cluster_key = tfrt_cluster_key_view(&query->key);
  options.tls = tfrt_tls_files_view(&query->tls);
  options.threads = 1;
  // A host that does not read must not hold up the user.
  options.linger_ms = 300;
  TFRT_RETURN_IF_ERROR(tfrt_run_loop_initialize(&query->loop, 0));
  tfrt_status_t status = tfrt_host_process_initialize(&query->process, &options);
  if (status) {
    tfrt_run_loop_deinitialize(&query->loop);
    return status;
  }
  query->is_open = true;
  return host_query_connect(query);
}

void tfrt_host_query_close(tfrt_host_query_t* query) {
  tfrt_cluster_file_free(&query->cluster_file);
  if (!query->is_open) return;
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    tfrt_host_query_host_t* host = &query->host[i];
    if (!host->client) continue;
    tfrt_client_close(host->client, NULL);
    tfrt_async_value_release(host->answer);
    tfrt_client_release(host->client);
  }
  // Joins the threads that may still wake the loop.
  tfrt_host_process_shut_down(&query->process);
  tfrt_run_loop_deinitialize(&query->loop);
  tfrt_status_release(query->failure);
}

// --- Questions -----------------------------------------------------------------

// Asks |host| if it can be asked by now; true if it has answered, or is not asked.
static bool host_query_advance(tfrt_host_query_t* query, uint32_t index, tfrt_host_query_fn_t ask,
                               void* self) {
  tfrt_host_query_host_t* host = &query->host[index];
  if (!host->is_asked) {
    if (!host_query_is_done(&host->on_opened)) return false;
    host->is_asked = true;
    host->answered_ns = 0;
    host->asked_ns = tfrt_clock_now_ns(tfrt_clock_system());
    host->answer = tfrt_async_value_is_error(host->opened) ? tfrt_async_value_retain(host->opened)
                                                           : ask(self, host->client, index);
    if (host->answer) host_query_watch(query, &host->on_answer, host->answer);
  }
  if (host->answer && !host_query_is_done(&host->on_answer)) return false;
  if (host->answered_ns == 0) host->answered_ns = tfrt_clock_now_ns(tfrt_clock_system());
  return true;
}

// Closes the connections to hosts that have not answered, so that their pending answers become
// errors.
static void host_query_give_up(tfrt_host_query_t* query) {
  tfrt_status_t late =
      query->loop.cancelled
          ? tfrt_status_retain(query->loop.cancelled)
          : tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED,
                               "no answer in %lld ms; look whether a worker runs there, or give "
                               "it more time, --timeout",
                               (long long)query->timeout_ms);
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    tfrt_host_query_host_t* host = &query->host[i];
    bool is_late = !host->is_asked || (host->answer && !host_query_is_done(&host->on_answer));
    if (is_late) tfrt_client_close(host->client, late);
  }
  tfrt_status_release(late);
}

static void host_query_note_failure(tfrt_host_query_t* query) {
  for (uint32_t i = 0; i < query->hosts.count && !query->failure; ++i) {
    query->failure = tfrt_status_retain(tfrt_host_query_error(query, i));
  }
}

tfrt_status_t tfrt_host_query_ask(tfrt_host_query_t* query, tfrt_host_query_fn_t ask, void* self) {
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    tfrt_async_value_release(query->host[i].answer);
    query->host[i].answer = NULL;
    query->host[i].is_asked = false;
  }
  tfrt_run_loop_start_alarm(&query->loop, (uint64_t)query->timeout_ms);
  for (bool is_given_up = false;;) {
    bool all = true;
    for (uint32_t i = 0; i < query->hosts.count; ++i) {
      all = host_query_advance(query, i, ask, self) && all;
    }
    if (all) break;
    if (!is_given_up && (query->loop.cancelled || query->loop.alarm_is_over)) {
      host_query_give_up(query);
      is_given_up = true;
    }
    tfrt_run_loop_turn(&query->loop);
  }
  host_query_note_failure(query);
  return NULL;
}

tfrt_status_t tfrt_host_query_ask_lines(tfrt_host_query_t* query, tfrt_host_query_fn_t ask,
                                        void* self) {
  TFRT_RETURN_IF_ERROR(tfrt_host_query_ask(query, ask, self));
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    tfrt_host_query_host_t* host = &query->host[i];
    if (host->answer) host->answer = tfrt_client_lines_take(host->answer);
  }
  host_query_note_failure(query);
  return NULL;
}

bool tfrt_host_query_answer(const tfrt_host_query_t* query, uint32_t index,
                            tfrt_string_view_t* out_text) {
  tfrt_async_value_t* answer = query->host[index].answer;
  if (!answer || tfrt_async_value_is_error(answer)) return false;
  *out_text = tfrt_async_value_string(answer);
  return true;
}

tfrt_status_t tfrt_host_query_error(const tfrt_host_query_t* query, uint32_t index) {
  tfrt_async_value_t* answer = query->host[index].answer;
  return answer && tfrt_async_value_is_error(answer) ? tfrt_async_value_error(answer) : NULL;
}

const char* tfrt_host_query_missing(const tfrt_host_query_t* query, uint32_t index) {
  tfrt_status_code_t code = tfrt_status_code(tfrt_host_query_error(query, index));
  return code == TFRT_STATUS_UNAUTHENTICATED ? "refused" : "no answer";
}

tfrt_status_t tfrt_host_query_named_error(const tfrt_host_query_t* query, uint32_t index) {
  tfrt_status_t error = tfrt_host_query_error(query, index);
  if (!error) return NULL;
  return tfrt_status_annotate(error, "%.*s",
                              TFRT_STRING_VIEW_ARGUMENTS(query->hosts.addresses[index]));
}

void tfrt_host_query_report_errors(tfrt_host_query_t* query) {
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    tfrt_status_t named = query->host[i].is_told ? NULL : tfrt_host_query_named_error(query, i);
    if (!named) continue;
    tfrt_run_report_error(named);
    tfrt_status_release(named);
    query->host[i].is_told = true;
  }
}

tfrt_status_t tfrt_host_query_check_answered(tfrt_host_query_t* query) {
  uint32_t untold = query->hosts.count;
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    if (!tfrt_host_query_error(query, i)) return NULL;
    if (!query->host[i].is_told && i < untold) untold = i;
  }
  // If all errors were reported already, the verb still ends with an error.
  uint32_t last = untold < query->hosts.count ? untold : 0;
  query->host[last].is_told = true;
  tfrt_host_query_report_errors(query);
  return tfrt_host_query_named_error(query, last);
}

tfrt_status_t tfrt_host_query_not_found(tfrt_host_query_t* query, const char* what,
                                        const char* name) {
  uint32_t silent = 0;
  while (silent < query->hosts.count && !tfrt_host_query_error(query, silent)) ++silent;
  if (silent == query->hosts.count) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "there is no %s '%s' on the workers (any more)", what, name);
  }
  query->host[silent].is_told = true;
  tfrt_host_query_report_errors(query);
  return tfrt_status_take_annotate(
      tfrt_host_query_named_error(query, silent),
      "there is no %s '%s' on the workers that answer, and this one may have it", what, name);
}

void tfrt_host_query_stop_asking(tfrt_host_query_t* query) {
  tfrt_run_loop_bound_end(&query->loop, TFRT_RUN_LOOP_REPORT_SECONDS);
}

void tfrt_host_query_leave_others(tfrt_host_query_t* query, uint32_t index) {
  for (uint32_t i = 0; i < query->hosts.count; ++i) {
    if (i != index) tfrt_client_close(query->host[i].client, NULL);
  }
}

void tfrt_host_query_forget_failure(tfrt_host_query_t* query) {
  tfrt_status_release(query->failure);
  query->failure = NULL;
}

// --- The whole verb ------------------------------------------------------------

tfrt_exit_code_t tfrt_host_query_command(const tfrt_host_query_verb_t* verb,
                                         tfrt_host_query_run_fn_t check,
                                         tfrt_host_query_run_fn_t run, int argument_count,
                                         char* const* arguments) {
  static tfrt_host_query_t query;
  bool help = false;
  tfrt_log_set_level(TFRT_LOG_SILENT);
  tfrt_status_t status = tfrt_host_query_parse(&query, verb, argument_count, arguments, &help);
  if (!status && !help) status = check(&query);
  // An error of this process gets the exit code of a usage error, too, and not that of a cluster's
  // error.
  if (!status && !help) status = tfrt_host_query_open(&query);
  tfrt_exit_code_t exit_code = status ? TFRT_EXIT_USAGE : TFRT_EXIT_SUCCESS;
  if (!status && !help) {
    status = run(&query);
    if (!status) exit_code = query.exit_code;
    if (status) exit_code = tfrt_exit_code_of_cluster(status);
    if (!status && query.failure) exit_code = tfrt_exit_code_of_cluster(query.failure);
  }
  if (status) tfrt_run_report_failure(status, query.is_json);
  if (tfrt_status_code(status) == TFRT_STATUS_UNAUTHENTICATED) exit_code = TFRT_EXIT_AUTHENTICATION;
  tfrt_status_release(status);
  // A verb that has failed has reported its error already.
  status = tfrt_standard_streams_flush();
  if (status && exit_code == TFRT_EXIT_SUCCESS) {
    tfrt_run_report_error(status);
    exit_code = TFRT_EXIT_PROGRAM_ERROR;
  }
  tfrt_status_release(status);
  tfrt_host_query_close(&query);
  return exit_code;
}
