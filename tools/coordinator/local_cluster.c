// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/local_cluster.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/processor_set.h"
#include "tools/kernels/device_platforms.h"
#include "tools/kernels/shared_libraries.h"
#include "tools/process/descriptors.h"
#include "tools/worker/exit_code.h"

// The text that a worker prints in front of its address when it listens.
static const char tfrt_local_cluster_greeting[] = "tfrt_worker: listening on ";

// --- What workers say and how they end -----------------------------------------

static void local_cluster_on_exit(uv_process_t* process, int64_t exit_code, int signal) {
  tfrt_local_worker_t* worker = process->data;
  worker->is_running = false;
  worker->exit_code = exit_code;
  if (exit_code == TFRT_WORKER_EXIT_RACE) worker->cluster->found_races = true;
  worker->signal = signal;
}

static void local_cluster_on_closed(uv_handle_t* handle) {
  tfrt_local_worker_t* worker = handle->data;
  --worker->cluster->open_handles;
}

static void local_cluster_allocate(uv_handle_t* handle, size_t suggested, uv_buf_t* out) {
  static char storage[4096];  // this loop reads one pipe at a time
  (void)handle;
  (void)suggested;
  *out = uv_buf_init(storage, sizeof(storage));
}

// Takes one more byte of the first line.
static void local_cluster_take(tfrt_local_worker_t* worker, char byte) {
  size_t prefix = strlen(tfrt_local_cluster_greeting);
  if (byte != '\n') {
    if (worker->line_size + 1 < sizeof(worker->line)) worker->line[worker->line_size++] = byte;
    return;
  }
  worker->line[worker->line_size] = '\0';
  if (strncmp(worker->line, tfrt_local_cluster_greeting, prefix) == 0 &&
      worker->line_size - prefix < sizeof(worker->address)) {
    strcpy(worker->address, worker->line + prefix);
    worker->is_listening = true;
  } else {
    worker->line_size = 0;
  }
}

// Text behind the first line does not belong to the job's output: it is shown as it is.
static void local_cluster_on_output(uv_stream_t* stream, ssize_t size, const uv_buf_t* bytes) {
  tfrt_local_worker_t* worker = stream->data;
  if (size < 0) {
    uv_read_stop(stream);
    // The worker's process has ended, or is about to. SIGCHLD may have come while this thread
    // blocked signals to start another worker. The signal then went to a thread of a library, where
    // a sanitizer delays it until that thread does something. So check the children once more.
    raise(SIGCHLD);
    return;
  }
  ssize_t i = 0;
  for (; i < size && !worker->is_listening; ++i) local_cluster_take(worker, bytes->base[i]);
  if (i < size) fwrite(bytes->base + i, 1, (size_t)(size - i), stderr);
}

// --- Starting ------------------------------------------------------------------

// The program for workers: named by the user, or beside this one.
static tfrt_status_t local_cluster_find_worker(const tfrt_run_options_t* options, char* path,
                                               size_t capacity) {
  if (options->worker_path) {
    snprintf(path, capacity, "%s", options->worker_path);
    return NULL;
  }
  size_t size = capacity;
  int result = uv_exepath(path, &size);
  char* slash = result == 0 ? strrchr(path, '/') : NULL;
  size_t used = slash ? (size_t)(slash + 1 - path) : 0;
  if (!slash || used + sizeof("tfrt_worker") > capacity) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                              "can't tell where this program lies; --worker names tfrt_worker");
  }
  strcpy(slash + 1, "tfrt_worker");
  return NULL;
}

// Threads for each worker: the processors are shared, unless the user says otherwise.
static int64_t local_cluster_threads(const tfrt_run_options_t* options) {
  if (options->threads > 0) return options->threads;
  int64_t share = (int64_t)uv_available_parallelism() / options->local_count;
  return share > 0 ? share : 1;
}

// This process's environment and the cluster's key. Freed with its |*out_count| + 1 entries.
static char** local_cluster_environment(const tfrt_run_options_t* options, char* key,
                                        size_t key_capacity, size_t* out_count) {
  size_t count = 0;
  while (environ[count]) ++count;
  char** environment =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), (count + 2) * sizeof(*environment));
  *out_count = count + 1;
  if (!environment) return NULL;
  size_t kept = 0;
  size_t name_size = strlen(TFRT_CLUSTER_KEY_VARIABLE);
  for (size_t i = 0; i < count; ++i) {
    bool is_key = strncmp(environ[i], TFRT_CLUSTER_KEY_VARIABLE, name_size) == 0 &&
                  environ[i][name_size] == '=';
    if (!is_key) environment[kept++] = environ[i];
  }
  snprintf(key, key_capacity, "%s=%s", TFRT_CLUSTER_KEY_VARIABLE, options->key.text);
  environment[kept] = key;
  return environment;
}

// Starts the process of |worker|, whose pipes are initialised.
static int local_cluster_spawn(tfrt_local_worker_t* worker, uint32_t rank,
                               const tfrt_run_options_t* options, const char* path,
                               char** environment) {
  char name[32], threads[32], heartbeat[32], silence[32];
  snprintf(name, sizeof(name), "local-%u", rank);
  snprintf(threads, sizeof(threads), "%lld", (long long)local_cluster_threads(options));
  snprintf(heartbeat, sizeof(heartbeat), "%lld", (long long)options->losses.heartbeat_ms);
  snprintf(silence, sizeof(silence), "%lld", (long long)options->losses.silence_ms);
  // The libraries are last: the NULLs have room for them, and one ends the list.
  const char* arguments[] = {path,
                             "--listen",
                             "127.0.0.1:0",
                             "--name",
                             name,
                             "--threads",
                             threads,
                             "--heartbeat-ms",
                             heartbeat,
                             "--silence-ms",
                             silence,
                             "--data-directory",
                             options->directory,
                             "--log-level",
                             options->is_verbose || options->checks.races ? "warning" : "silent",
                             "--stop-with-stdin",
                             options->checks.types ? "--check_types" : "--check_types=false",
                             options->checks.races ? "--check_races" : "--check_races=false",
                             NULL,
                             NULL,
                             NULL,
                             NULL,
                             NULL};
  const char** next = &arguments[TFRT_ARRAY_SIZE(arguments) - 5];
  if (options->libraries.devices) {
    *next++ = "--" TFRT_DEVICE_LIBRARIES_FLAG;
    *next++ = options->libraries.devices;
  }
  if (options->libraries.kernels) {
    *next++ = "--" TFRT_SHARED_LIBRARIES_FLAG;
    *next++ = options->libraries.kernels;
  }
  uv_stdio_container_t streams[3] = {
      {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t*)&worker->input},
      {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t*)&worker->output},
      {.flags = UV_INHERIT_FD, .data.fd = 2}};
  uv_process_options_t process = {.exit_cb = local_cluster_on_exit,
                                  .file = path,
                                  .args = (char**)arguments,
                                  .env = environment,
                                  .flags = UV_PROCESS_DETACHED,
                                  .stdio_count = TFRT_ARRAY_SIZE(streams),
                                  .stdio = streams};
  return uv_spawn(&worker->cluster->loop->loop, &worker->process, &process);
}

// Binds this thread to the share of processors of worker |rank|, which takes it over when it is
// started. Sets |*out_all| to what the thread had before.
static tfrt_status_t local_cluster_enter_share(const tfrt_local_cluster_t* cluster, uint32_t rank,
                                               tfrt_processor_set_t* out_all) {
  *out_all = tfrt_processor_set_of_thread();
  const tfrt_processor_set_t share = tfrt_processor_set_share(out_all, rank, cluster->capacity);
  if (tfrt_processor_set_bind(&share)) return NULL;
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE,
                            "--bind: the system does not let worker %u be bound to processors; "
                            "without --bind all workers share all of them",
                            rank);
}

static tfrt_status_t local_cluster_start_worker(tfrt_local_cluster_t* cluster, uint32_t rank,
                                                const tfrt_run_options_t* options, const char* path,
                                                char** environment) {
  tfrt_processor_set_t all;
  if (options->binds) TFRT_RETURN_IF_ERROR(local_cluster_enter_share(cluster, rank, &all));
  tfrt_local_worker_t* worker = &cluster->workers[rank];
  worker->cluster = cluster;
  uv_pipe_init(&cluster->loop->loop, &worker->input, 0);
  uv_pipe_init(&cluster->loop->loop, &worker->output, 0);
  worker->process.data = worker->input.data = worker->output.data = worker;
  cluster->open_handles += 3;
  ++cluster->count;
  int result = local_cluster_spawn(worker, rank, options, path, environment);
  // It had all of these before.
  if (options->binds) (void)tfrt_processor_set_bind(&all);
  worker->is_running = result == 0;
  if (result == 0) {
    result = uv_read_start((uv_stream_t*)&worker->output, local_cluster_allocate,
                           local_cluster_on_output);
  }
  if (result == 0) return NULL;
  char advice[64] = "";
  if (result == UV_EMFILE) {
    snprintf(advice, sizeof(advice), "; the limit is %llu, raise it (ulimit -n)",
             tfrt_descriptors_limit());
  }
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "worker %u can't be started from %s: %s%s", rank,
                         path, uv_strerror(result), advice);
  return tfrt_cluster_file_locate(&options->cluster_file, options->worker_path, status);
}

static tfrt_status_t local_cluster_start_all(tfrt_local_cluster_t* cluster,
                                             const tfrt_run_options_t* options) {
  char path[4096];
  TFRT_RETURN_IF_ERROR(local_cluster_find_worker(options, path, sizeof(path)));
  char key[sizeof(TFRT_CLUSTER_KEY_VARIABLE) + sizeof(options->key.text)];
  size_t count = 0;
  char** environment = local_cluster_environment(options, key, sizeof(key), &count);
  tfrt_status_t status = environment ? NULL : tfrt_status_out_of_memory();
  for (uint32_t i = 0; i < cluster->capacity && !status; ++i) {
    status = local_cluster_start_worker(cluster, i, options, path, environment);
  }
  tfrt_allocator_free(tfrt_allocator_system(), environment, (count + 1) * sizeof(*environment));
  return status;
}

// Waits until all listen.
static tfrt_status_t local_cluster_wait(tfrt_local_cluster_t* cluster) {
  for (uint32_t i = 0; i < cluster->count; ++i) {
    tfrt_local_worker_t* worker = &cluster->workers[i];
    while (!worker->is_listening) {
      if (cluster->loop->cancelled) return tfrt_status_retain(cluster->loop->cancelled);
      if (!worker->is_running) {
        return tfrt_status_create(TFRT_STATUS_UNAVAILABLE,
                                  "worker %u ended before it listened (%s %lld)", i,
                                  worker->signal ? "signal" : "exit code",
                                  worker->signal ? worker->signal : (long long)worker->exit_code);
      }
      tfrt_run_loop_turn(cluster->loop);
    }
    cluster->addresses[i] = tfrt_string_view_of(worker->address);
  }
  return NULL;
}

tfrt_status_t tfrt_local_cluster_start(tfrt_local_cluster_t* cluster, tfrt_run_loop_t* loop,
                                       const tfrt_run_options_t* options) {
  *cluster = (tfrt_local_cluster_t){.loop = loop, .capacity = (uint32_t)options->local_count};
  tfrt_allocator_t allocator = tfrt_allocator_system();
  cluster->workers =
      tfrt_allocator_allocate_zeroed(allocator, cluster->capacity * sizeof(*cluster->workers));
  cluster->addresses =
      tfrt_allocator_allocate_zeroed(allocator, cluster->capacity * sizeof(*cluster->addresses));
  if (!cluster->workers || !cluster->addresses) return tfrt_status_out_of_memory();
  TFRT_RETURN_IF_ERROR(local_cluster_start_all(cluster, options));
  return local_cluster_wait(cluster);
}

// --- Stopping ------------------------------------------------------------------

static bool local_cluster_is_running(const tfrt_local_cluster_t* cluster) {
  for (uint32_t i = 0; i < cluster->count; ++i) {
    if (cluster->workers[i].is_running) return true;
  }
  return false;
}

// Whether the process |id| was stopped, by SIGSTOP or a debugger: it can't see that its input ends.
static bool local_cluster_is_stopped(uv_pid_t id) {
  char path[64], text[512];
  snprintf(path, sizeof(path), "/proc/%d/stat", (int)id);
  FILE* file = fopen(path, "re");
  if (!file) return false;
  size_t size = fread(text, 1, sizeof(text) - 1, file);
  (void)fclose(file);
  text[size] = '\0';
  // The name of the program, in parentheses, stands before the state.
  const char* state = strrchr(text, ')');
  return state && strlen(state) > 2 && (state[2] == 'T' || state[2] == 't');
}

// Kills all workers that still run, or those alone that were stopped.
static void local_cluster_kill(tfrt_local_cluster_t* cluster, bool only_stopped) {
  for (uint32_t i = 0; i < cluster->count; ++i) {
    tfrt_local_worker_t* worker = &cluster->workers[i];
    if (!worker->is_running) continue;
    if (only_stopped && !local_cluster_is_stopped(worker->process.pid)) continue;
    uv_process_kill(&worker->process, SIGKILL);
  }
}

void tfrt_local_cluster_stop(tfrt_local_cluster_t* cluster) {
  for (uint32_t i = 0; i < cluster->count; ++i) {
    uv_close((uv_handle_t*)&cluster->workers[i].input, local_cluster_on_closed);
  }
  if (cluster->count > 0) {
    tfrt_run_loop_start_alarm(cluster->loop, TFRT_LOCAL_CLUSTER_PATIENCE_MS);
  }
  // The job lost a stopped worker, or has ended: nothing is left for it to do.
  local_cluster_kill(cluster, true);
  bool is_killed = false;
  while (local_cluster_is_running(cluster)) {
    if (cluster->loop->alarm_is_over && !is_killed) local_cluster_kill(cluster, false);
    is_killed = cluster->loop->alarm_is_over;
    tfrt_run_loop_turn(cluster->loop);
  }
  for (uint32_t i = 0; i < cluster->count; ++i) {
    uv_close((uv_handle_t*)&cluster->workers[i].output, local_cluster_on_closed);
    uv_close((uv_handle_t*)&cluster->workers[i].process, local_cluster_on_closed);
  }
  while (cluster->open_handles > 0) tfrt_run_loop_turn(cluster->loop);
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_allocator_free(allocator, cluster->workers, cluster->capacity * sizeof(*cluster->workers));
  tfrt_allocator_free(allocator, cluster->addresses,
                      cluster->capacity * sizeof(*cluster->addresses));
}
