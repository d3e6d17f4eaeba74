// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/execution_impl.h"

#include <assert.h>
#include <string.h>

#include "distributed/call/call_hooks.h"
#include "distributed/call/outgoing_call.h"
#include "distributed/value/object_table.h"
#include "host_runtime/executor/hosts/withdrawal.h"

// --- Life --------------------------------------------------------------------

// Puts the arrays into the owner's room, or allocates them. Returns false when memory is out.
static bool tfrt_execution_make_arrays(tfrt_execution_t* execution, size_t argument_count,
                                       size_t result_count) {
  if (execution->room) {
    execution->arguments = execution->room;
    execution->results = (tfrt_execution_result_t*)(execution->arguments + argument_count);
    return true;
  }
  tfrt_allocator_t allocator = execution->node->options.allocator;
  size_t arguments_size = (argument_count + 1) * sizeof(*execution->arguments);
  size_t results_size = (result_count + 1) * sizeof(*execution->results);
  execution->arguments = tfrt_allocator_allocate_zeroed(allocator, arguments_size);
  execution->results = tfrt_allocator_allocate_zeroed(allocator, results_size);
  if (execution->arguments && execution->results) return true;
  tfrt_allocator_free(allocator, execution->arguments, arguments_size);
  tfrt_allocator_free(allocator, execution->results, results_size);
  execution->arguments = NULL;
  execution->results = NULL;
  return false;
}

static void tfrt_execution_free_arrays(tfrt_execution_t* execution) {
  if (execution->room) return;
  tfrt_allocator_t allocator = execution->node->options.allocator;
  // One more than there are, see tfrt_execution_make_arrays().
  tfrt_allocator_free(allocator, execution->arguments,
                      (execution->argument_count + 1) * sizeof(*execution->arguments));
  tfrt_allocator_free(allocator, execution->results,
                      (execution->result_count + 1) * sizeof(*execution->results));
}

tfrt_status_t tfrt_execution_initialize(tfrt_execution_t* execution,
                                        const tfrt_execution_vtable_t* vtable, tfrt_job_t* job,
                                        const tfrt_wire_item_t* items, size_t item_count,
                                        uint32_t result_count) {
  execution->vtable = vtable;
  tfrt_ref_count_initialize(&execution->ref_count);
  execution->node = tfrt_node_retain(job->node);
  execution->job = tfrt_job_retain(job);
  execution->since_ns = job->node->tick_ns;
  tfrt_job_enter(job);
  if (execution->program) tfrt_cached_program_retain(execution->program);
  if (!tfrt_execution_make_arrays(execution, item_count, result_count)) {
    return tfrt_status_out_of_memory();
  }
  execution->argument_count = (uint32_t)item_count;
  execution->result_count = result_count;
  for (uint32_t i = 0; i < item_count; ++i) {
    execution->arguments[i] = tfrt_execution_argument(job, &items[i], execution);
  }
  for (uint32_t i = 0; i < result_count; ++i) execution->results[i].owner = execution;
  return tfrt_execution_order_arguments(execution, items);
}

void tfrt_execution_retain(tfrt_execution_t* execution) {
  tfrt_ref_count_increment(&execution->ref_count);
}

static void tfrt_execution_release_node(void* node) { tfrt_node_release(node); }

static void tfrt_execution_release_request(void* request) { tfrt_request_context_release(request); }

// Frees the rest of the execution; the arrays' content is gone since the finish.
static void tfrt_execution_free(tfrt_execution_t* execution) {
  tfrt_node_t* node = execution->node;
  if (execution->request) {
    tfrt_action_queue_call(&node->actions, tfrt_execution_release_request, execution->request);
  }
  if (execution->program) tfrt_cached_program_release(execution->program);
  tfrt_status_release(execution->cancelled);
  tfrt_status_release(execution->failure);
  tfrt_execution_free_arrays(execution);
  tfrt_job_release(execution->job);
  execution->vtable->destroy(execution);
  tfrt_action_queue_call(&node->actions, tfrt_execution_release_node, node);
}

void tfrt_execution_release(tfrt_execution_t* execution) {
  if (tfrt_ref_count_decrement(&execution->ref_count)) tfrt_execution_free(execution);
}

// |execution| is in |state| from now on: states only follow each other. A refused one is finished
// before it runs, but nothing retires after the end.
static void tfrt_execution_set_state(tfrt_execution_t* execution, tfrt_execution_state_t state) {
  assert(state > execution->state);
  execution->state = state;
}

void tfrt_execution_finish(tfrt_execution_t* execution) {
  if (execution->state == TFRT_EXECUTION_FINISHED) return;
  tfrt_execution_set_state(execution, TFRT_EXECUTION_FINISHED);
  tfrt_action_queue_t* actions = &execution->node->actions;
  for (uint32_t i = 0; i < execution->argument_count; ++i) {
    tfrt_action_queue_release(actions, execution->arguments[i]);
    execution->arguments[i] = NULL;
  }
  for (uint32_t i = 0; i < execution->result_count; ++i) {
    tfrt_execution_result_t* result = &execution->results[i];
    tfrt_action_queue_release(actions, result->value);
    tfrt_object_table_break(execution->node->objects, &result->promise);
    result->value = NULL;
  }
  if (execution->deadline.is_started &&
      tfrt_timer_cancel(execution->node->options.timers, &execution->deadline.timer)) {
    tfrt_execution_release(execution);
  }
  tfrt_job_leave(execution->job);
}

// --- Results -----------------------------------------------------------------

// Tells the owner of result |index| if it is known, or waits for it.
static void tfrt_execution_observe(tfrt_execution_t* execution, uint32_t index,
                                   tfrt_action_wait_t how);

// Runs when a result is settled.
static void tfrt_execution_run_waiter(tfrt_task_t* task) {
  tfrt_execution_result_t* result = TFRT_CONTAINER_OF(task, tfrt_execution_result_t, waiter);
  tfrt_execution_t* execution = result->owner;
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  uint32_t index = (uint32_t)(result - execution->results);
  // A settled result that is neither here nor known to be elsewhere is on its way.
  tfrt_execution_observe(execution, index, TFRT_ACTION_AND_THEN);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static void tfrt_execution_observe(tfrt_execution_t* execution, uint32_t index,
                                   tfrt_action_wait_t how) {
  tfrt_execution_result_t* result = &execution->results[index];
  if (execution->state == TFRT_EXECUTION_FINISHED) return;
  tfrt_node_t* node = execution->node;
  tfrt_remote_value_t* remote = tfrt_remote_value_of(node, result->value);
  if (remote || tfrt_async_value_is_available(result->value)) {
    result->known = true;
    execution->vtable->known(execution, index);
    if (remote) tfrt_remote_value_release(remote);
    return;
  }
  if (remote) tfrt_remote_value_release(remote);
  tfrt_execution_retain(execution);
  tfrt_task_initialize(&result->waiter, tfrt_execution_run_waiter);
  tfrt_action_queue_wait(&node->actions, result->value, how, &result->waiter);
}

void tfrt_execution_observe_again(tfrt_execution_t* execution, uint32_t index) {
  execution->results[index].known = false;
  tfrt_execution_observe(execution, index, TFRT_ACTION_AND_THEN);
}

// Gives the owner and the slots all results, which have been set.
static void tfrt_execution_publish(tfrt_execution_t* execution) {
  for (uint32_t i = 0; i < execution->result_count; ++i) {
    tfrt_execution_result_t* result = &execution->results[i];
    tfrt_object_table_fulfil(execution->node->objects, &result->promise, result->value);
  }
  for (uint32_t i = 0; i < execution->result_count; ++i) {
    tfrt_execution_observe(execution, i, TFRT_ACTION_AWAIT);
  }
}

// --- The end -----------------------------------------------------------------

// The call's kernels and nested calls are over. Drops the scope's reference.
static void tfrt_execution_retire(tfrt_execution_t* execution) {
  tfrt_execution_set_state(execution, TFRT_EXECUTION_RETIRED);
  if (execution->request) tfrt_withdrawal_end(execution->request);
  execution->node->call_hooks->close_scope(execution->job, &execution->scope);
  execution->vtable->retired(execution);
  tfrt_execution_release(execution);
}

// Runs when everything that the call has started is over, but for unawaited calls.
static void tfrt_execution_run_ending(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.ending);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  if (tfrt_outgoing_unawaited_end(&execution->unawaited)) tfrt_execution_retire(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs when the unawaited calls are over, too.
static void tfrt_execution_run_retired(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.retired);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  tfrt_execution_retire(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

tfrt_status_t tfrt_execution_too_late(const tfrt_execution_t* execution) {
  const char* name = execution->program ? tfrt_execution_function_name(execution) : "";
  return tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED,
                            "the deadline of the call%s%s has passed", name[0] ? " of @" : "",
                            name);
}

void tfrt_execution_end_start(tfrt_execution_t* execution, bool is_alone) {
  bool is_over = tfrt_call_scope_leave_last(&execution->scope) &&
                 tfrt_outgoing_unawaited_end(&execution->unawaited);
  execution->tells_at_once = is_over && is_alone;
  tfrt_execution_publish(execution);
  tfrt_execution_set_state(execution, TFRT_EXECUTION_RUNNING);
  if (!is_over) {
    execution->vtable->waits(execution);
    return;
  }
  tfrt_execution_retain(execution);
  tfrt_execution_retire(execution);
  execution->tells_at_once = false;
  tfrt_execution_release(execution);
}

bool tfrt_execution_is_ending(const tfrt_execution_t* execution) {
  return execution->state == TFRT_EXECUTION_RUNNING &&
         tfrt_ref_count_is_one(&execution->scope.active) &&
         tfrt_ref_count_is_one(&execution->unawaited.scope.active);
}

void tfrt_execution_set_results(tfrt_execution_t* execution, tfrt_async_value_t* const* results) {
  for (uint32_t i = 0; i < execution->result_count; ++i) {
    execution->results[i].value = results[i];
  }
}

// --- The beginning -----------------------------------------------------------

static void tfrt_execution_run_timer(tfrt_timer_t* timer) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(timer, tfrt_execution_t, deadline.timer);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  tfrt_status_t status = tfrt_execution_too_late(execution);
  tfrt_execution_cancel(execution, status);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_status_release(status);
  tfrt_node_release(node);
}

void tfrt_execution_begin(tfrt_execution_t* execution) {
  if (execution->deadline.at_ns != TFRT_TIME_INFINITE) {
    tfrt_execution_retain(execution);
    execution->deadline.is_started = true;
    tfrt_timer_start(execution->node->options.timers, &execution->deadline.timer,
                     execution->deadline.at_ns, tfrt_execution_run_timer);
  }
  // For the scope.
  tfrt_execution_retain(execution);
  tfrt_task_initialize(&execution->tasks.ending, tfrt_execution_run_ending);
  tfrt_call_scope_initialize(&execution->scope, &execution->tasks.ending);
  tfrt_task_initialize(&execution->tasks.retired, tfrt_execution_run_retired);
  tfrt_unawaited_initialize(&execution->unawaited, &execution->tasks.retired);
}

tfrt_unawaited_t* tfrt_execution_unawaited(tfrt_call_scope_t* scope) {
  bool is_one = scope && scope->done->run == tfrt_execution_run_ending;
  return is_one ? &TFRT_CONTAINER_OF(scope, tfrt_execution_t, scope)->unawaited : NULL;
}

void tfrt_execution_complete(tfrt_execution_t* execution, tfrt_async_value_t* const* results) {
  tfrt_execution_set_results(execution, results);
  tfrt_execution_end_start(execution, false);
}

const char* tfrt_execution_function_name(const tfrt_execution_t* execution) {
  static const char* const builtins[] = {
      "",       "print", "send",   "trace",       "status", "copy",        "inventory",
      "cancel", "drain", "follow", "kept_result", "record", "check_device"};
  if (!execution->program) {
    return execution->function < TFRT_ARRAY_SIZE(builtins) ? builtins[execution->function] : "";
  }
  return tfrt_cached_program_function_name(execution->program, execution->function);
}

void tfrt_execution_function_place(const tfrt_execution_t* execution,
                                   tfrt_status_origin_t* out_place) {
  tfrt_cached_program_function_place(execution->program, execution->function, out_place);
}

// --- Cancel ------------------------------------------------------------------

// Runs with the lock open.
static void tfrt_execution_run_cancel(void* argument) {
  tfrt_execution_t* execution = argument;
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_request_context_cancel(execution->request, execution->cancelled);
  tfrt_node_lock_tables(node);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_execution_cancel(tfrt_execution_t* execution, tfrt_status_t reason) {
  if (execution->cancelled || execution->state == TFRT_EXECUTION_FINISHED) return;
  execution->cancelled = tfrt_status_retain(reason);
  execution->vtable->cancelled(execution);
  tfrt_node_t* node = execution->node;
  if (execution->request) {
    // If the whole request is cancelled, or the job is closed, all hosts hear of that: no
    // withdrawals are needed.
    bool all_know = tfrt_cancelled_requests_find(&execution->job->cancelled_requests,
                                                 execution->request_id) != NULL;
    if (all_know || tfrt_job_is_closed(execution->job)) tfrt_withdrawal_end(execution->request);
    tfrt_execution_retain(execution);
    tfrt_action_queue_call_at_once(&node->actions, tfrt_execution_run_cancel, execution);
  }
  tfrt_execution_fail_arguments(execution, reason);
}
