// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/in_process_run.h"

#include <stdatomic.h>

#include "host_runtime/async/join.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/executor/hosts/in_process_hosts.h"
#include "host_runtime/executor/request/output.h"
#include "kernels/device/host_devices.h"
#include "tools/coordinator/device_placement.h"
#include "tools/kernels/device_platforms.h"
#include "tools/kernels/kernel_rooms.h"

typedef struct tfrt_in_process_run_s {
  tfrt_task_t start;       // runs the function, on a thread of the queue
  tfrt_task_t on_results;  // runs when all results are resolved, on any thread
  tfrt_output_t output;    // takes the lines of all hosts
  tfrt_host_context_t* host;
  tfrt_in_process_hosts_t* hosts;
  tfrt_request_context_t* request;  // of the entry function
  tfrt_run_plan_t* plan;
  tfrt_run_loop_t* loop;
  tfrt_async_value_t** results;  // as |plan| has them first
  tfrt_status_t status;          // +1; why the results can't be waited for, or NULL
  bool is_told;                  // that it is cancelled
  atomic_bool has_results;       // resolved or not: |results| is filled
  atomic_bool is_done;           // what is waited for: the results, then all that was begun
} tfrt_in_process_run_t;

tfrt_status_t tfrt_in_process_run_make_host(const tfrt_run_options_t* options,
                                            tfrt_host_context_t** out_host) {
  *out_host = NULL;
  tfrt_thread_pool_options_t pool = {.thread_count = (int)options->threads};
  tfrt_work_queue_t* queue = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_thread_pool_work_queue_create(&pool, tfrt_allocator_system(), &queue));
  TFRT_RETURN_IF_ERROR(
      tfrt_host_context_allocate(tfrt_allocator_system(), tfrt_clock_system(), queue, out_host));
  (*out_host)->data_directory = options->directory;
  TFRT_RETURN_IF_ERROR(tfrt_kernel_rooms_register((*out_host)->registry));
  tfrt_kernel_registry_set_type_checks((*out_host)->registry, options->checks.types);
  tfrt_kernel_registry_set_race_checks((*out_host)->registry, options->checks.races);
  return tfrt_device_platforms_add(*out_host, NULL);
}

// A run whose lines nobody takes is cancelled: its program may print for ever, and need not look at
// the chains.
static tfrt_async_value_t* in_process_run_print(tfrt_output_t* output, tfrt_string_view_t text,
                                                tfrt_call_scope_t* scope) {
  tfrt_in_process_run_t* run = TFRT_CONTAINER_OF(output, tfrt_in_process_run_t, output);
  tfrt_output_t* standard = tfrt_output_standard();
  tfrt_async_value_t* chain = standard->vtable->print(standard, text, scope);
  if (tfrt_async_value_is_error(chain)) tfrt_run_loop_post_give_up(run->loop);
  return chain;
}

static const tfrt_output_vtable_t tfrt_in_process_run_output_vtable = {
    .print = in_process_run_print,
};

static void in_process_run_end(tfrt_in_process_run_t* run) {
  // Pairs with the loads in in_process_run_wait(): what was written to |run| is seen there.
  atomic_store_explicit(&run->is_done, true, memory_order_release);
  tfrt_run_loop_wake(run->loop);
}

static void in_process_run_on_results(tfrt_task_t* task) {
  in_process_run_end(TFRT_CONTAINER_OF(task, tfrt_in_process_run_t, on_results));
}

// Not on the main thread: a function whose values are all there at once runs to its end here,
// and the main thread has to listen meanwhile.
static void in_process_run_start(tfrt_task_t* task) {
  tfrt_in_process_run_t* run = TFRT_CONTAINER_OF(task, tfrt_in_process_run_t, start);
  tfrt_run_plan_t* plan = run->plan;
  tfrt_execution_context_t context = tfrt_host_context_execution(run->host, run->request);
  tfrt_function_execute(plan->function, &context, plan->arguments, run->results);
  // Pairs with the load in in_process_run_abandon().
  atomic_store_explicit(&run->has_results, true, memory_order_release);
  tfrt_status_t status = tfrt_join_and_then(run->results, plan->function->result_count,
                                            &run->on_results, tfrt_allocator_system());
  if (!status) return;
  run->status = status;
  in_process_run_end(run);
}

// Waits in turns of the loop. Returns false if the run was cancelled and its grace is over.
static bool in_process_run_wait(tfrt_in_process_run_t* run) {
  tfrt_run_loop_t* loop = run->loop;
  // Pairs with the store in in_process_run_end().
  while (!atomic_load_explicit(&run->is_done, memory_order_acquire)) {
    if (loop->cancelled && !run->is_told) {
      tfrt_request_context_cancel(run->request, loop->cancelled);
      tfrt_run_loop_start_alarm(loop, TFRT_RUN_LOOP_GRACE_MS);
      run->is_told = true;
    }
    if (run->is_told && (loop->cancel_count > 1 || loop->alarm_is_over)) return false;
    tfrt_run_loop_turn(loop);
  }
  return true;
}

// All hosts of this process have the same devices. May block: nothing runs yet.
static tfrt_status_t in_process_run_ask_for_device(void* self, uint32_t rank, const char* device) {
  (void)rank;
  tfrt_device_t* found;
  tfrt_host_context_t* host = self;
  TFRT_RETURN_IF_ERROR(tfrt_host_devices_get(host, tfrt_string_view_of(device), &found));
  tfrt_device_release(found);
  return NULL;
}

tfrt_status_t tfrt_in_process_run_check_devices(tfrt_host_context_t* host,
                                                const tfrt_run_plan_t* plan, uint32_t host_count) {
  return tfrt_device_placement_check(plan->file, host_count, in_process_run_ask_for_device, host);
}

// Waits until all work has run to its end. Cancels work that waits for a message that nobody has
// sent: the results don't depend on it.
static void in_process_run_quiesce(void* argument) {
  tfrt_in_process_run_t* run = argument;
  tfrt_work_queue_t* queue = run->host->work_queue;
  // The task that woke the loop may still be on its way out of the run's storage.
  tfrt_work_queue_quiesce(queue);
  tfrt_status_t reason = tfrt_status_create(TFRT_STATUS_CANCELLED, "the program has ended");
  tfrt_request_context_cancel(run->request, reason);
  tfrt_status_release(reason);
  tfrt_work_queue_quiesce(queue);
  in_process_run_end(run);
}

// Waits for all that was begun, on a thread of its own: this one listens. False as above.
static bool in_process_run_finish(tfrt_in_process_run_t* run) {
  atomic_store_explicit(&run->is_done, false, memory_order_relaxed);
  tfrt_thread_t thread;
  tfrt_status_t status = tfrt_thread_create("tfrt-quiesce", in_process_run_quiesce, run, &thread);
  if (status) {
    tfrt_status_release(status);
    tfrt_run_loop_bound_end(run->loop, TFRT_RUN_LOOP_REPORT_SECONDS);
    in_process_run_quiesce(run);
    return true;
  }
  if (!in_process_run_wait(run)) return false;
  tfrt_thread_join(&thread);
  return true;
}

// Threads go on with |run| and its results: the plan gets others, those that are known, and for
// the rest why the run was cancelled.
static tfrt_status_t in_process_run_abandon(tfrt_in_process_run_t* run) {
  uint32_t count = run->plan->function->result_count;
  tfrt_async_value_t** told =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), (count + 1) * sizeof(*told));
  if (!told) return tfrt_status_out_of_memory();
  // Pairs with the store in in_process_run_start().
  bool has_results = atomic_load_explicit(&run->has_results, memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    bool is_known = has_results && tfrt_async_value_is_available(run->results[i]);
    told[i] = is_known ? tfrt_async_value_retain(run->results[i])
                       : tfrt_async_value_create_error(run->loop->cancelled);
  }
  run->plan->results = told;
  run->plan->ended = told + count;
  return NULL;
}

tfrt_status_t tfrt_in_process_run(tfrt_host_context_t* host, tfrt_run_plan_t* plan,
                                  uint32_t host_count, tfrt_trace_t* trace, tfrt_run_loop_t* loop,
                                  bool* out_is_abandoned) {
  // Threads may use it to the end of the process.
  static tfrt_in_process_run_t run;
  tfrt_request_options_t options = tfrt_request_options_default();
  options.id = 1;
  options.trace = trace;
  run = (tfrt_in_process_run_t){.output = {.vtable = &tfrt_in_process_run_output_vtable},
                                .host = host,
                                .plan = plan,
                                .loop = loop,
                                .results = plan->results};
  *out_is_abandoned = false;
  options.output = &run.output;
  TFRT_RETURN_IF_ERROR(
      tfrt_in_process_hosts_allocate(host_count, &options, tfrt_allocator_system(), &run.hosts));
  run.request = tfrt_in_process_hosts_request(run.hosts);
  tfrt_task_initialize(&run.start, in_process_run_start);
  tfrt_task_initialize(&run.on_results, in_process_run_on_results);
  tfrt_work_queue_add_task(host->work_queue, &run.start);
  *out_is_abandoned = !in_process_run_wait(&run) || !in_process_run_finish(&run);
  tfrt_run_loop_bound_end(loop, TFRT_RUN_LOOP_REPORT_SECONDS);
  if (*out_is_abandoned) return in_process_run_abandon(&run);
  tfrt_in_process_hosts_free(run.hosts);
  tfrt_output_flush_standard();
  return run.status;
}
