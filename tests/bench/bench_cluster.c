// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/bench_cluster.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host_runtime/async/blocking_wait.h"
#include "tests/bench/bench_host.h"
#include "tests/bench/bench_memory.h"
#include "tests/bench/placement.h"

extern char** environ;

#define MAX_RESULTS 4

// --- A worker ------------------------------------------------------------------

// Reads "NAME: listening on ADDRESS" from |output|.
static tfrt_status_t read_address(tfrt_bench_worker_t* worker, int output) {
  static const char kGreeting[] = ": listening on ";
  char line[256];
  size_t size = 0;
  while (size + 1 < sizeof(line)) {
    ssize_t taken = read(output, line + size, 1);
    if (taken < 0 && errno == EINTR) continue;
    if (taken <= 0 || line[size] == '\n') break;
    ++size;
  }
  line[size] = '\0';
  const char* greeting = strstr(line, kGreeting);
  const char* address = greeting ? greeting + sizeof(kGreeting) - 1 : "";
  if (!address[0] || strlen(address) >= sizeof(worker->address)) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "a process said '%s' when it started", line);
  }
  strcpy(worker->address, address);
  return NULL;
}

// Starts |arguments| with the read end of |input| and the write end of |output|.
static int spawn(const char* const* arguments, const int input[2], const int output[2],
                 pid_t* out_process) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  tfrt_bench_placement_enter_next();
  int error =
      posix_spawn(out_process, arguments[0], &actions, NULL, (char* const*)arguments, environ);
  tfrt_bench_placement_leave();
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

tfrt_status_t tfrt_bench_process_start(tfrt_bench_worker_t* worker, const char* const* arguments) {
  *worker = (tfrt_bench_worker_t){.input = -1};
  int input[2];
  int output[2];
  if (pipe2(input, O_CLOEXEC) != 0) return tfrt_status_create(TFRT_STATUS_UNKNOWN, "no pipe");
  if (pipe2(output, O_CLOEXEC) != 0) {
    close(input[0]);
    close(input[1]);
    return tfrt_status_create(TFRT_STATUS_UNKNOWN, "no pipe");
  }
  int error = spawn(arguments, input, output, &worker->process);
  if (error) worker->process = 0;
  worker->input = input[1];
  close(input[0]);
  close(output[1]);
  tfrt_status_t status = error ? tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "can't start %s: %s",
                                                    arguments[0], strerror(error))
                               : read_address(worker, output[0]);
  close(output[0]);
  if (status) tfrt_bench_worker_stop(worker);
  return status;
}

static const char* worker_flag;

void tfrt_bench_worker_set_flag(const char* flag) { worker_flag = flag; }

tfrt_status_t tfrt_bench_worker_start(tfrt_bench_worker_t* worker, const char* tools,
                                      const char* tls_folder) {
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/tfrt_worker", tools);
  const char* arguments[] = {
      path, "--listen", "127.0.0.1:0", "--log-level", "silent", "--stop-with-stdin",
      NULL, NULL,       NULL,          NULL};
  size_t count = 6;
  if (worker_flag) arguments[count++] = worker_flag;
  if (tls_folder) arguments[count++] = "--tls-dir";
  if (tls_folder) arguments[count] = tls_folder;
  return tfrt_bench_process_start(worker, arguments);
}

tfrt_status_t tfrt_bench_worker_memory(const tfrt_bench_worker_t* worker, double* out_kibibytes) {
  *out_kibibytes = (double)tfrt_bench_peak_memory(worker->process);
  if (*out_kibibytes > 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "the memory of a process can't be read");
}

void tfrt_bench_worker_stop(tfrt_bench_worker_t* worker) {
  if (worker->input >= 0) close(worker->input);
  worker->input = -1;
  if (worker->process == 0) return;
  while (waitpid(worker->process, NULL, 0) < 0 && errno == EINTR) {
  }
  worker->process = 0;
}

// --- The cluster ---------------------------------------------------------------

static tfrt_status_t load(tfrt_bench_cluster_t* cluster, tfrt_string_view_t text) {
  void* bytes = NULL;
  size_t size = 0;
  TFRT_RETURN_IF_ERROR(tfrt_bench_translate(text, &bytes, &size));
  tfrt_status_t status = tfrt_bef_file_create(bytes, size, tfrt_allocator_system(), &cluster->file);
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
  if (status) return status;
  const tfrt_bef_function_t* function = tfrt_bef_file_find_function(cluster->file, "main");
  if (!function) return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "there is no function 'main'");
  while (tfrt_bef_file_function(cluster->file, cluster->main) != function) ++cluster->main;
  cluster->result_count = function->result_count;
  return NULL;
}

static tfrt_status_t connect_workers(tfrt_bench_cluster_t* cluster) {
  tfrt_host_process_options_t options;
  tfrt_host_process_options_initialize(&options);
  options.name = tfrt_string_view_of("bench");
  options.threads = 1;
  if (cluster->certificates.path[0]) {
    options.tls = tfrt_certificate_folder_files(&cluster->certificates, TFRT_BENCH_CLUSTER_HOST);
  }
  TFRT_RETURN_IF_ERROR(tfrt_host_process_initialize(&cluster->process, &options));
  cluster->has_process = true;
  tfrt_string_view_t addresses[TFRT_BENCH_CLUSTER_MAX_WORKERS];
  for (uint32_t i = 0; i < cluster->count; ++i) {
    addresses[i] = tfrt_string_view_of(cluster->workers[i].address);
  }
  const tfrt_client_options_t client = {.addresses = addresses,
                                        .host_count = cluster->count,
                                        .name = tfrt_string_view_of("bench"),
                                        .deadline_ns = TFRT_TIME_INFINITE};
  TFRT_RETURN_IF_ERROR(tfrt_client_create(cluster->process.node, &client, &cluster->client));
  tfrt_async_value_t* opened = tfrt_client_opened(cluster->client);
  tfrt_blocking_wait(&opened, 1);
  return tfrt_async_value_is_error(opened) ? tfrt_status_retain(tfrt_async_value_error(opened))
                                           : NULL;
}

tfrt_status_t tfrt_bench_cluster_open(tfrt_bench_cluster_t* cluster, const char* tools,
                                      uint32_t count, bool is_tls, tfrt_string_view_t text) {
  *cluster = (tfrt_bench_cluster_t){0};
  tfrt_status_t status = load(cluster, text);
  if (!status && is_tls) status = tfrt_certificate_folder_make(&cluster->certificates);
  if (!status && is_tls) {
    status = tfrt_certificate_folder_add(&cluster->certificates, TFRT_CERTIFICATE_HOST,
                                         TFRT_BENCH_CLUSTER_HOST, TFRT_A_DAY_S);
  }
  const char* folder = is_tls ? cluster->certificates.path : NULL;
  while (!status && cluster->count < count) {
    status = tfrt_bench_worker_start(&cluster->workers[cluster->count], tools, folder);
    if (!status) ++cluster->count;
  }
  if (!status) status = connect_workers(cluster);
  if (status) tfrt_bench_cluster_close(cluster);
  return status;
}

tfrt_status_t tfrt_bench_cluster_call(tfrt_bench_cluster_t* cluster,
                                      tfrt_async_value_t* const* arguments, uint32_t argument_count,
                                      tfrt_async_value_t** out_result) {
  // The results, and the end of what they don't depend on.
  tfrt_async_value_t* results[MAX_RESULTS + 1] = {0};
  *out_result = NULL;
  if (cluster->result_count > MAX_RESULTS) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "@main has too many results");
  }
  size_t size = 0;
  const char* bytes = tfrt_bef_file_bytes(cluster->file, &size);
  const tfrt_client_start_t start = {.program = tfrt_string_view_make(bytes, size),
                                     .function = cluster->main,
                                     .name = tfrt_string_view_of("main"),
                                     .arguments = arguments,
                                     .argument_count = argument_count,
                                     .result_count = cluster->result_count,
                                     .out_ended = &results[cluster->result_count]};
  tfrt_client_start(cluster->client, &start, results);
  tfrt_blocking_wait(results, cluster->result_count + 1);
  tfrt_status_t status = NULL;
  for (uint32_t i = 0; i <= cluster->result_count; ++i) {
    if (!status && tfrt_async_value_is_error(results[i])) {
      status = tfrt_status_retain(tfrt_async_value_error(results[i]));
    }
  }
  if (!status) *out_result = tfrt_async_value_retain(results[0]);
  for (uint32_t i = 0; i <= cluster->result_count; ++i) tfrt_async_value_release(results[i]);
  return status;
}

void tfrt_bench_cluster_close(tfrt_bench_cluster_t* cluster) {
  if (cluster->client) {
    tfrt_client_close(cluster->client, NULL);
    tfrt_client_release(cluster->client);
  }
  if (cluster->has_process) tfrt_host_process_shut_down(&cluster->process);
  for (uint32_t i = 0; i < cluster->count; ++i) tfrt_bench_worker_stop(&cluster->workers[i]);
  tfrt_bef_file_release(cluster->file);
  (void)tfrt_certificate_folder_remove(&cluster->certificates);
  *cluster = (tfrt_bench_cluster_t){0};
}
