// SPDX-License-Identifier: Apache-2.0
#include "tools/worker/worker.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "distributed/host/node.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/plural.h"
#include "host_runtime/executor/program/race_watch.h"
#include "tools/cluster/host_process.h"
#include "tools/process/descriptors.h"
#include "tools/process/stop_signals.h"
#include "tools/process/unused_memory.h"
#include "tools/worker/presence_file.h"

// How often a worker that drains looks whether the last job is over.
#define TFRT_WORKER_LOOK_MS 20

// How often an idle worker looks whether it keeps memory that nobody uses.
#define TFRT_WORKER_MEMORY_LOOK_MS 1000

// So long may those who only ask take to hear their answers and leave, when nothing else is left.
#define TFRT_WORKER_ANSWER_MS 1000

// How long the end may take, in seconds: sessions say their goodbyes within two, the rest is
// for kernels. Without a standard input, nobody is left who would wait.
#define TFRT_WORKER_END_SECONDS 10
#define TFRT_WORKER_ABANDONED_END_SECONDS 3

typedef struct tfrt_worker_s {
  const tfrt_worker_options_t* options;
  tfrt_host_process_t process;
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_presence_file_t pid_file;
  tfrt_presence_file_t ready_file;
  uv_loop_t loop;
  tfrt_stop_signals_t signals;
  uv_async_t drain;  // somebody asks for it over the network
  uv_timer_t look;   // runs while draining
  uv_timer_t limit;  // of draining
  uv_timer_t memory_look;
  tfrt_unused_memory_t unused_memory;
  uv_pipe_t input;
  bool is_draining;
  int idle_look_count;  // while draining, one after the other
  bool is_abandoned;    // the standard input has ended
} tfrt_worker_t;

// The one of this process.
static tfrt_worker_t tfrt_worker_state;

static void worker_print_error(tfrt_status_t status) {
  fprintf(stderr, "tfrt_worker: %s\n", tfrt_status_message(status));
}

// --- The end -----------------------------------------------------------------

static void worker_stop(tfrt_worker_t* worker) { uv_stop(&worker->loop); }

// A handler may do little more than ask the system. The other thread that removes the file waits
// for kernels.
static void worker_end_by_force(int number) {
  (void)number;
  tfrt_presence_file_remove(&tfrt_worker_state.pid_file);
  static const char line[] = "tfrt_worker: kernels still run; exiting without them\n";
  ssize_t written = write(STDERR_FILENO, line, sizeof(line) - 1);
  (void)written;
  _exit(TFRT_WORKER_EXIT_SYSTEM);
}

// The same, before the worker has printed its address.
static void worker_end_untold(int number) {
  (void)number;
  tfrt_presence_file_remove(&tfrt_worker_state.pid_file);
  _exit(TFRT_WORKER_EXIT_STOPPED);
}

static void worker_bound_end(unsigned seconds) {
  signal(SIGALRM, worker_end_by_force);
  alarm(seconds);
}

static void worker_on_look(uv_timer_t* timer) {
  tfrt_worker_t* worker = timer->data;
  if (tfrt_node_counts(worker->process.node).running_jobs > 0) {
    worker->idle_look_count = 0;
    return;
  }
  bool is_over = tfrt_node_counts(worker->process.node).jobs == 0 ||
                 worker->idle_look_count++ >= TFRT_WORKER_ANSWER_MS / TFRT_WORKER_LOOK_MS;
  if (is_over) worker_stop(worker);
}

static void worker_on_limit(uv_timer_t* timer) {
  tfrt_worker_t* worker = timer->data;
  const size_t count = tfrt_node_counts(worker->process.node).running_jobs;
  if (count > 0) {
    tfrt_log(TFRT_LOG_WARNING, NULL, "the time to drain is over: %zu job%s %s cancelled", count,
             tfrt_plural(count), count == 1 ? "is" : "are");
  }
  worker_stop(worker);
}

static void worker_drain(tfrt_worker_t* worker) {
  worker->is_draining = true;
  tfrt_node_refuse_jobs(worker->process.node);
  tfrt_host_process_set_serving(&worker->process, false);
  const size_t count = tfrt_node_counts(worker->process.node).running_jobs;
  tfrt_log(TFRT_LOG_INFO, NULL, "draining: %zu job%s may go on for %lld ms", count,
           tfrt_plural(count), (long long)worker->options->drain_timeout_ms);
  uv_update_time(&worker->loop);
  uv_timer_start(&worker->look, worker_on_look, 0, TFRT_WORKER_LOOK_MS);
  uv_timer_start(&worker->limit, worker_on_limit, (uint64_t)worker->options->drain_timeout_ms, 0);
}

static void worker_on_signal(void* self, int number) {
  tfrt_worker_t* worker = self;
  const char* name = number == SIGINT ? "SIGINT" : number == SIGHUP ? "SIGHUP" : "SIGTERM";
  tfrt_log(TFRT_LOG_INFO, NULL, "told to stop by %s", name);
  if (worker->is_draining) {
    worker_stop(worker);
  } else {
    worker_drain(worker);
  }
}

static void worker_on_drain(uv_async_t* handle) {
  tfrt_worker_t* worker = handle->data;
  if (worker->is_draining) return;
  tfrt_log(TFRT_LOG_INFO, NULL, "told to drain by a client");
  worker_drain(worker);
}

// Called from a thread of the network.
static void worker_ask_to_drain(void* self) {
  tfrt_worker_t* worker = self;
  uv_async_send(&worker->drain);
}

// --- Idleness ----------------------------------------------------------------

static void worker_on_memory_look(uv_timer_t* timer) {
  tfrt_worker_t* worker = timer->data;
  if (tfrt_node_counts(worker->process.node).jobs > 0) return;
  size_t before = tfrt_unused_memory_resident_size();
  if (!tfrt_unused_memory_give_back(&worker->unused_memory)) return;
  tfrt_log(TFRT_LOG_DEBUG, NULL, "idle: %zu MiB in memory, %zu MiB before unused memory went back",
           worker->unused_memory.resident_size >> 20, before >> 20);
}

// --- The standard input ------------------------------------------------------

static void worker_allocate(uv_handle_t* handle, size_t suggested, uv_buf_t* out) {
  static char storage[4096];  // nobody reads what comes
  (void)handle;
  (void)suggested;
  *out = uv_buf_init(storage, sizeof(storage));
}

static void worker_on_input(uv_stream_t* stream, ssize_t size, const uv_buf_t* bytes) {
  (void)bytes;
  if (size >= 0) return;
  tfrt_worker_t* worker = stream->data;
  uv_read_stop(stream);
  worker->is_abandoned = true;
  tfrt_log(TFRT_LOG_INFO, NULL, "told to stop by the end of the standard input");
  worker_stop(worker);
}

static int worker_open_input(tfrt_worker_t* worker) {
  int result = uv_pipe_init(&worker->loop, &worker->input, 0);
  if (result != 0) return result;
  worker->input.data = worker;
  result = uv_pipe_open(&worker->input, STDIN_FILENO);
  if (result != 0) return result;
  return uv_read_start((uv_stream_t*)&worker->input, worker_allocate, worker_on_input);
}

// --- The loop ----------------------------------------------------------------

// libuv's initialisers fail only when the system is out of something.
static int worker_open_handles(tfrt_worker_t* worker) {
  int result = uv_loop_init(&worker->loop);
  if (result == 0) result = uv_async_init(&worker->loop, &worker->drain, worker_on_drain);
  if (result == 0) result = uv_timer_init(&worker->loop, &worker->look);
  if (result == 0) result = uv_timer_init(&worker->loop, &worker->limit);
  if (result == 0) result = uv_timer_init(&worker->loop, &worker->memory_look);
  if (result != 0) return result;
  worker->memory_look.data = worker;
  worker->look.data = worker->limit.data = worker->drain.data = worker;
  result = tfrt_stop_signals_initialize(&worker->signals, &worker->loop, worker_on_signal, worker);
  if (result == 0 && worker->options->stops_with_stdin) result = worker_open_input(worker);
  return result;
}

static tfrt_status_t worker_open_loop(tfrt_worker_t* worker) {
  if (worker->options->stops_with_stdin && uv_guess_handle(STDIN_FILENO) != UV_NAMED_PIPE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--stop-with-stdin: the standard input is no pipe, so nobody could "
                              "end it; leave the flag out, or start the worker with a pipe");
  }
  TFRT_RETURN_IF_ERROR(tfrt_descriptors_check());
  int result = worker_open_handles(worker);
  if (result == 0) return NULL;
  // The process ends right after this, and what was opened with it.
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no event loop: %s",
                            uv_strerror(result));
}

// --- The beginning -----------------------------------------------------------

static void worker_prepare_system(const tfrt_worker_options_t* options) {
  tfrt_log_set_level(options->log_level);
  tfrt_log_set_format(options->log_format);
  // The reader of our output, or a peer, may go at any time.
  signal(SIGPIPE, SIG_IGN);
}

static tfrt_status_t worker_initialize_process(tfrt_worker_t* worker) {
  const tfrt_worker_options_t* options = worker->options;
  tfrt_host_process_options_t process;
  tfrt_host_process_options_initialize(&process);
  process.name = tfrt_string_view_of(options->name);
  process.cluster_key = tfrt_cluster_key_view(&options->cluster_key);
  process.tls = tfrt_tls_files_view(&options->tls);
  process.threads = options->threads;
  process.heartbeat_ms = options->heartbeat_ms;
  process.silence_ms = options->silence_ms;
  process.job_limits = (tfrt_job_limits_t){.memory_bytes = (uint64_t)options->job_memory,
                                           .objects = (uint32_t)options->job_objects,
                                           .calls = (uint32_t)options->job_calls,
                                           .made = (uint32_t)options->job_calls,
                                           .requests = (uint32_t)options->job_requests};
  process.data_directory = options->data_directory;
  process.checks_types = options->checks_types;
  process.checks_races = options->checks_races;
  process.lends_memory = options->lends_memory;
  process.logs_events = true;
  process.on_drain = worker_ask_to_drain;
  process.on_drain_self = worker;
  return tfrt_host_process_initialize(&worker->process, &process);
}

// "HOST:PORT": the name of this machine, and the port, which only listening tells.
static tfrt_status_t worker_name_itself(tfrt_worker_t* worker) {
  if (worker->options->name) return NULL;
  char host[HOST_NAME_MAX + 1] = "";
  if (gethostname(host, sizeof(host) - 1) != 0) strcpy(host, "worker");
  char name[sizeof(host) + TFRT_TRANSPORT_ADDRESS_SIZE];
  const char* port = strrchr(worker->address, ':');
  snprintf(name, sizeof(name), "%s%s", host, port ? port : "");
  tfrt_string_view_t view = tfrt_string_view_of(name);
  if (view.size > TFRT_WORKER_MAX_NAME_SIZE) view.size = TFRT_WORKER_MAX_NAME_SIZE;
  return tfrt_node_set_name(worker->process.node, view);
}

static tfrt_status_t worker_write_files(tfrt_worker_t* worker) {
  char text[TFRT_TRANSPORT_ADDRESS_SIZE + 1];
  tfrt_status_t status = NULL;
  if (worker->options->pid_file) {
    snprintf(text, sizeof(text), "%lld\n", (long long)getpid());
    status = tfrt_presence_file_write(worker->options->pid_file, text, &worker->pid_file);
    if (status) return tfrt_status_take_annotate(status, "--pid-file");
  }
  if (worker->options->ready_file) {
    snprintf(text, sizeof(text), "%s\n", worker->address);
    // It may be a pipe that nobody reads yet.
    tfrt_stop_signals_lend(worker_end_untold);
    status = tfrt_presence_file_write(worker->options->ready_file, text, &worker->ready_file);
    tfrt_stop_signals_take_back();
    if (status) return tfrt_status_take_annotate(status, "--ready-file");
  }
  return NULL;
}

static void worker_announce(const tfrt_worker_t* worker) {
  tfrt_log(TFRT_LOG_INFO, NULL, "listening on %s as process %016llx%s", worker->address,
           (unsigned long long)tfrt_node_incarnation(worker->process.node),
           worker->options->cluster_key.size > 0 ? "" : ", without a cluster key");
  if (!worker->options->listen.is_local && !worker->options->tls.is_given) {
    tfrt_log(TFRT_LOG_WARNING, NULL,
             "--insecure-network: nothing that other machines exchange with %s is encrypted",
             worker->address);
  }
  printf("tfrt_worker: listening on %s\n", worker->address);
  fflush(stdout);
}

// --- The whole life ----------------------------------------------------------

static tfrt_worker_exit_t worker_listen(tfrt_worker_t* worker) {
  tfrt_status_t status = tfrt_node_listen(
      worker->process.node, tfrt_string_view_of(worker->options->listen.text), worker->address);
  tfrt_worker_exit_t exit_code = tfrt_worker_exit_of_listening(status);
  if (!status) {
    exit_code = TFRT_WORKER_EXIT_USAGE;
    status = worker_name_itself(worker);
    if (!status) status = worker_write_files(worker);
  }
  if (!status) return TFRT_WORKER_EXIT_STOPPED;
  worker_print_error(status);
  tfrt_status_release(status);
  return exit_code;
}

static tfrt_worker_exit_t worker_serve(tfrt_worker_t* worker) {
  tfrt_worker_exit_t exit_code = worker_listen(worker);
  if (exit_code == TFRT_WORKER_EXIT_STOPPED) {
    worker_announce(worker);
    uv_timer_start(&worker->memory_look, worker_on_memory_look, TFRT_WORKER_MEMORY_LOOK_MS,
                   TFRT_WORKER_MEMORY_LOOK_MS);
    uv_run(&worker->loop, UV_RUN_DEFAULT);
  }
  worker_bound_end(worker->is_abandoned ? TFRT_WORKER_ABANDONED_END_SECONDS
                                        : TFRT_WORKER_END_SECONDS);
  tfrt_presence_file_remove(&worker->ready_file);
  // Signals stay blocked to the last moment, so the end is the same however many come.
  tfrt_host_process_shut_down(&worker->process);
  tfrt_presence_file_remove(&worker->pid_file);
  if (exit_code != TFRT_WORKER_EXIT_STOPPED) return exit_code;
  tfrt_log(TFRT_LOG_INFO, NULL, "ended");
  return tfrt_race_watch_found() ? TFRT_WORKER_EXIT_RACE : TFRT_WORKER_EXIT_STOPPED;
}

tfrt_worker_exit_t tfrt_worker_run(const tfrt_worker_options_t* options) {
  tfrt_worker_t* worker = &tfrt_worker_state;
  *worker = (tfrt_worker_t){.options = options};
  worker_prepare_system(options);
  tfrt_status_t status = worker_open_loop(worker);
  if (!status) status = worker_initialize_process(worker);
  if (!status) return worker_serve(worker);
  worker_print_error(status);
  tfrt_worker_exit_t exit_code = tfrt_worker_exit_of_listening(status);
  tfrt_status_release(status);
  return exit_code;
}
