// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/cluster_run.h"

#include "host_runtime/async/join.h"
#include "tools/coordinator/device_placement.h"
#include "tools/coordinator/line_printer.h"
#include "tools/coordinator/run_report.h"
#include "tools/coordinator/trace_collection.h"
#include "tools/coordinator/value_wait.h"

tfrt_status_t tfrt_cluster_run_initialize(tfrt_cluster_run_t* run,
                                          const tfrt_run_options_t* options,
                                          tfrt_run_loop_t* loop) {
  *run = (tfrt_cluster_run_t){.options = options, .loop = loop};
  tfrt_host_process_options_t process;
  tfrt_host_process_options_initialize(&process);
  process.name = tfrt_string_view_of("tfrt run");
  process.cluster_key = tfrt_cluster_key_view(&options->key);
  process.tls = tfrt_tls_files_view(&options->tls);
  process.threads = 1;  // nothing is computed here
  process.heartbeat_ms = options->losses.heartbeat_ms;
  process.silence_ms = options->losses.silence_ms;
  // A host that has stopped reading must not hold up the user, who has the results.
  process.linger_ms = 300;
  process.data_directory = options->directory;
  return tfrt_host_process_initialize(&run->process, &process);
}

// --- Printed lines -------------------------------------------------------------

static void cluster_run_print(void* self, uint32_t rank, tfrt_string_view_t text) {
  tfrt_cluster_run_t* run = self;
  if (!tfrt_line_printer_print(rank, text)) tfrt_run_loop_post_give_up(run->loop);
}

// --- Forming -------------------------------------------------------------------

tfrt_status_t tfrt_cluster_run_create_client(tfrt_cluster_run_t* run) {
  const tfrt_run_options_t* options = run->options;
  bool is_local = options->local_count > 0;
  run->addresses = is_local ? run->workers.addresses : options->hosts.addresses;
  run->host_count = is_local ? run->workers.count : options->hosts.count;
  tfrt_client_options_t client = {.addresses = run->addresses,
                                  .host_count = run->host_count,
                                  .name = tfrt_string_view_of(options->path),
                                  .deadline_ns = TFRT_TIME_INFINITE,
                                  .is_traced = options->records.trace || options->records.profile,
                                  .is_detached = options->detach,
                                  .keep_results_ms = (uint64_t)options->keep_ms,
                                  .print = cluster_run_print,
                                  .print_self = run};
  if (client.name.size >= 256) client.name = tfrt_string_view_of("a program");
  if (options->timeout_ms > 0) {
    client.deadline_ns =
        tfrt_deadline_after(tfrt_clock_now_ns(tfrt_clock_system()),
                            options->timeout_ms * TFRT_NANOSECONDS_PER_MILLISECOND);
  }
  return tfrt_client_create(run->process.node, &client, &run->client);
}

static tfrt_status_t cluster_run_await(tfrt_cluster_run_t* run, tfrt_async_value_t* value) {
  TFRT_RETURN_IF_ERROR(tfrt_value_wait(run->client, value, run->loop, 0, true));
  if (run->loop->cancelled) return tfrt_status_retain(run->loop->cancelled);
  return tfrt_async_value_is_error(value) ? tfrt_status_retain(tfrt_async_value_error(value))
                                          : NULL;
}

static tfrt_status_t cluster_run_ask_for_device(void* self, uint32_t rank, const char* device) {
  tfrt_cluster_run_t* run = self;
  const tfrt_client_question_t question = {.kind = TFRT_CLIENT_ASK_DEVICE,
                                           .about = tfrt_string_view_of(device)};
  tfrt_async_value_t* answer = tfrt_client_ask(run->client, rank, &question);
  tfrt_status_t status = cluster_run_await(run, answer);
  tfrt_async_value_release(answer);
  return status;
}

tfrt_status_t tfrt_cluster_run_check_devices(tfrt_cluster_run_t* run, const tfrt_run_plan_t* plan) {
  if (!tfrt_device_placement_is_needed(plan->file)) return NULL;
  TFRT_RETURN_IF_ERROR(cluster_run_await(run, tfrt_client_opened(run->client)));
  return tfrt_device_placement_check(plan->file, (uint32_t)run->host_count,
                                     cluster_run_ask_for_device, run);
}

// --- Running -------------------------------------------------------------------

// How far a run is ended; its number is that of cancels that it has taken.
typedef enum tfrt_cluster_run_step_e {
  TFRT_CLUSTER_RUN_GOES_ON = 0,
  TFRT_CLUSTER_RUN_CANCELLED = 1,  // host 0 has been told to end the start
  TFRT_CLUSTER_RUN_ENDED = 2,      // and the job
  TFRT_CLUSTER_RUN_CLOSED = 3,     // and this process has no part in it any more
} tfrt_cluster_run_step_t;

static void cluster_run_on_results(tfrt_task_t* task) {
  tfrt_cluster_run_t* run = TFRT_CONTAINER_OF(task, tfrt_cluster_run_t, on_results);
  // Pairs with the load in cluster_run_wait().
  atomic_store_explicit(&run->is_done, true, memory_order_release);
  tfrt_run_loop_wake(run->loop);
}

// The answer to the end of a job comes at once, or not at all.
#define TFRT_CLUSTER_RUN_ANSWER_MS 1000

// Takes the next step behind |step| towards the end of |run|, and returns it.
static tfrt_cluster_run_step_t cluster_run_end_more(tfrt_cluster_run_t* run,
                                                    tfrt_cluster_run_step_t step) {
  tfrt_run_loop_t* loop = run->loop;
  switch (step) {
    case TFRT_CLUSTER_RUN_GOES_ON:
      tfrt_client_cancel(run->client, 0, loop->cancelled);
      tfrt_run_loop_start_alarm(loop, TFRT_RUN_LOOP_GRACE_MS);
      return TFRT_CLUSTER_RUN_CANCELLED;
    case TFRT_CLUSTER_RUN_CANCELLED:
      tfrt_client_end(run->client, TFRT_CLIENT_ENDS_JOB, loop->cancelled);
      tfrt_run_loop_start_alarm(loop, TFRT_CLUSTER_RUN_ANSWER_MS);
      return TFRT_CLUSTER_RUN_ENDED;
    default:
      tfrt_client_close(run->client, loop->cancelled);
      // From now on this process may not wait for others, not even for the reader of its lines.
      tfrt_run_loop_bound_end(loop, TFRT_RUN_LOOP_REPORT_SECONDS);
      return TFRT_CLUSTER_RUN_CLOSED;
  }
}

// Waits for the results. The first cancel is passed on to host 0, whose answer is still waited
// for. A second one, or the end of the grace, ends the job there, which has host 0 say at once what
// is known; a third one, or that no such answer comes, closes it here. A run whose lines nobody
// takes is cancelled.
static void cluster_run_wait(tfrt_cluster_run_t* run, const tfrt_run_plan_t* plan) {
  tfrt_run_loop_t* loop = run->loop;
  tfrt_loss_watch_start(&run->loss, run->client, loop, plan, run->options->losses.end_run);
  tfrt_cluster_run_step_t step = TFRT_CLUSTER_RUN_GOES_ON;
  // Pairs with the store in cluster_run_on_results().
  while (!atomic_load_explicit(&run->is_done, memory_order_acquire)) {
    if (!loop->cancelled) tfrt_loss_watch_look(&run->loss);
    bool is_over = step == TFRT_CLUSTER_RUN_GOES_ON ? loop->cancelled != NULL : loop->alarm_is_over;
    if (step != TFRT_CLUSTER_RUN_CLOSED && (is_over || loop->cancel_count > (uint32_t)step)) {
      step = cluster_run_end_more(run, step);
    } else {
      tfrt_run_loop_turn(loop);
    }
  }
}

void tfrt_cluster_run_start(tfrt_cluster_run_t* run, tfrt_run_plan_t* plan) {
  const tfrt_function_t* function = plan->function;
  size_t size = 0;
  const char* bytes = tfrt_bef_file_bytes(plan->file, &size);
  tfrt_client_start_t start = {.program = tfrt_string_view_make(bytes, size),
                               .function = function->index,
                               .name = tfrt_string_view_of(function->name),
                               .arguments = plan->arguments,
                               .argument_count = function->argument_count,
                               .result_count = function->result_count,
                               .out_ended = plan->ended};
  tfrt_client_start(run->client, &start, plan->results);
}

static tfrt_status_t cluster_run_call(tfrt_cluster_run_t* run, tfrt_run_plan_t* plan) {
  tfrt_cluster_run_start(run, plan);
  tfrt_task_initialize(&run->on_results, cluster_run_on_results);
  // The results, and the end of what they don't depend on.
  TFRT_RETURN_IF_ERROR(tfrt_join_and_then(plan->results, plan->function->result_count + 1,
                                          &run->on_results, tfrt_allocator_system()));
  cluster_run_wait(run, plan);
  tfrt_run_loop_bound_end(run->loop, TFRT_RUN_LOOP_REPORT_SECONDS);
  return NULL;
}

tfrt_status_t tfrt_cluster_run_execute(tfrt_cluster_run_t* run, tfrt_run_plan_t* plan,
                                       tfrt_exit_code_t* out_exit_code) {
  tfrt_status_t status = NULL;
  if (run->options->local_count > 0) {
    status = tfrt_local_cluster_start(&run->workers, run->loop, run->options);
  }
  if (!status) status = tfrt_cluster_run_create_client(run);
  if (!status) status = tfrt_cluster_run_check_devices(run, plan);
  if (!status) status = cluster_run_call(run, plan);
  if (!status) {
    // If it is still to come the job was not refused: it is open, or the run was cancelled.
    tfrt_async_value_t* opened = tfrt_client_opened(run->client);
    if (tfrt_async_value_is_error(opened)) {
      status = tfrt_status_retain(tfrt_async_value_error(opened));
    } else if (!tfrt_async_value_is_available(opened)) {
      status = tfrt_status_retain(run->loop->cancelled);
    }
  }
  // A host that was there and died meanwhile is a lost one.
  bool is_loss = run->client && tfrt_client_has_lost(run->client, status);
  *out_exit_code = is_loss ? tfrt_exit_code_of_loss(status) : tfrt_exit_code_of_cluster(status);
  return status;
}

tfrt_status_t tfrt_cluster_run_write_traces(tfrt_cluster_run_t* run, const tfrt_run_plan_t* plan) {
  const tfrt_trace_files_t files = {.trace_path = run->options->records.trace,
                                    .profile_path = run->options->records.profile,
                                    .program = plan->file};
  if (!files.trace_path && !files.profile_path) return NULL;
  return tfrt_trace_collection_write(run->client, run->addresses, run->host_count, run->loop,
                                     &files);
}

void tfrt_cluster_run_shut_down(tfrt_cluster_run_t* run, tfrt_run_plan_t* plan) {
  if (run->client) {
    tfrt_client_close(run->client, NULL);
    tfrt_client_release(run->client);
  }
  tfrt_loss_watch_deinitialize(&run->loss);
  tfrt_run_plan_deinitialize(plan);
  tfrt_host_process_shut_down(&run->process);
  tfrt_local_cluster_stop(&run->workers);
}
