// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/execution.h"

#include <assert.h>
#include <string.h>

#include "distributed/call/call_hooks.h"
#include "distributed/call/outgoing_call.h"
#include "distributed/delivery/push_inbox.h"
#include "distributed/threads/reader_pair.h"
#include "distributed/value/incoming_want.h"
#include "distributed/value/list_item.h"
#include "distributed/value/object_table.h"
#include "distributed/value/value_item.h"
#include "host_runtime/async/join.h"
#include "host_runtime/base/plural.h"
#include "host_runtime/executor/hosts/withdrawal.h"

// --- States --------------------------------------------------------------------

void tfrt_execution_set_state(tfrt_execution_t* execution, tfrt_execution_state_t state) {
#ifndef NDEBUG
#define TFRT_EXECUTION_BIT(name) (1u << TFRT_EXECUTION_##name)
  // The states that may follow each state.
  static const uint32_t next_states[] = {
      [TFRT_EXECUTION_MADE] = TFRT_EXECUTION_BIT(WAITING) | TFRT_EXECUTION_BIT(FINISHED),
      [TFRT_EXECUTION_WAITING] = TFRT_EXECUTION_BIT(TELLING) | TFRT_EXECUTION_BIT(RUNNING),
      [TFRT_EXECUTION_TELLING] = TFRT_EXECUTION_BIT(RETIRED),
      [TFRT_EXECUTION_RUNNING] = TFRT_EXECUTION_BIT(RETIRED),
      [TFRT_EXECUTION_RETIRED] = TFRT_EXECUTION_BIT(FINISHED),
      [TFRT_EXECUTION_FINISHED] = 0,
  };
  assert(next_states[execution->state] & (1u << state));
#endif
  execution->state = state;
}

// --- Arguments ---------------------------------------------------------------

tfrt_async_value_t* tfrt_execution_argument(tfrt_job_t* job, const tfrt_wire_item_t* item,
                                            const tfrt_execution_t* execution) {
  tfrt_node_t* node = job->node;
  if (item->kind == TFRT_WIRE_ITEM_INLINE) {
    return tfrt_value_item_decode(&item->value, node->options.host->allocator);
  }
  if (item->kind == TFRT_WIRE_ITEM_ERROR) return tfrt_value_item_decode_error(item->error);
  if (item->reference.owner == node->incarnation) {
    return tfrt_incoming_want_own_value(job, &item->reference);
  }
  // The caller says to this host alone that the value is pushed.
  tfrt_wire_reference_t reference = item->reference;
  reference.is_pushed = false;
  tfrt_remote_value_loan_t loan = {0};
  if (execution) {
    loan = (tfrt_remote_value_loan_t){.lender = execution->caller,
                                      .user = execution->program,
                                      .user_function = execution->function};
  }
  tfrt_remote_value_t* remote = tfrt_remote_value_create(job, &reference, &loan);
  if (!remote) return tfrt_async_value_out_of_memory();
  if (execution) tfrt_remote_value_set_device(remote, execution->device);
  if (item->reference.is_pushed) tfrt_push_inbox_expect(remote);
  return &remote->base.base;
}

// True if |item| lends something that may be written while it is available. A chain has nothing
// that could be: it would wait for itself.
static bool execution_lends_mutable(const tfrt_wire_item_t* item) {
  return item->kind == TFRT_WIRE_ITEM_REFERENCE && item->reference.is_mutable &&
         !item->reference.is_chain;
}

static bool execution_has_mutable(const tfrt_wire_item_t* items, size_t item_count) {
  for (size_t i = 0; i < item_count; ++i) {
    if (execution_lends_mutable(&items[i])) return true;
  }
  return false;
}

// Has the mutable arguments of |execution| fetched only after the chains of the call have come: a
// kernel may still write to such a value when it is available. |items| are the arguments as they
// came.
static tfrt_status_t execution_order_arguments(tfrt_execution_t* execution,
                                               const tfrt_wire_item_t* items) {
  if (!execution_has_mutable(items, execution->argument_count)) return NULL;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, execution->node->options.allocator);
  tfrt_async_value_t** chains =
      tfrt_arena_allocate_array(&arena, execution->argument_count + 1, sizeof(tfrt_async_value_t*));
  uint32_t chain_count = 0;
  for (uint32_t i = 0; i < execution->argument_count && chains; ++i) {
    if (items[i].kind != TFRT_WIRE_ITEM_REFERENCE || !items[i].reference.is_chain) continue;
    chains[chain_count++] = execution->arguments[i];
  }
  for (uint32_t i = 0; i < execution->argument_count && chain_count > 0; ++i) {
    if (!execution_lends_mutable(&items[i])) continue;
    tfrt_remote_value_t* remote = tfrt_remote_value_of(execution->node, execution->arguments[i]);
    if (!remote) continue;
    // Only the argument itself is ordered, and not a placeholder that a value of ours leads to.
    bool is_lent = &remote->base.base == execution->arguments[i];
    if (is_lent) tfrt_remote_value_order(remote, chains, chain_count);
    tfrt_remote_value_release(remote);
  }
  tfrt_arena_deinitialize(&arena);
  return chains ? NULL : tfrt_status_out_of_memory();
}

// Ends the waits for arguments that were lent for |execution| alone, because of |reason| (+0).
static void execution_fail_arguments(tfrt_execution_t* execution, tfrt_status_t reason) {
  for (uint32_t i = 0; i < execution->argument_count; ++i) {
    tfrt_async_value_t* argument = execution->arguments[i];
    if (!argument) continue;
    tfrt_remote_value_t* list = tfrt_remote_value_cast(argument);
    if (list && list->parts.cover && !list->place.function) {
      tfrt_remote_value_fail(list->parts.cover, reason);
    }
    tfrt_remote_value_t* remote = tfrt_remote_value_of(execution->node, argument);
    if (!remote) continue;
    bool is_lent = !remote->place.function && &remote->base.base == argument;
    if (is_lent) tfrt_remote_value_fail(remote, reason);
    tfrt_remote_value_release(remote);
  }
}

// --- Life --------------------------------------------------------------------

// Puts the arrays into the owner's room, or allocates them. Returns false when memory is out.
static bool execution_make_arrays(tfrt_execution_t* execution, size_t argument_count,
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

static void execution_free_arrays(tfrt_execution_t* execution) {
  if (execution->room) return;
  tfrt_allocator_t allocator = execution->node->options.allocator;
  // One more than there are, see execution_make_arrays().
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
  if (!execution_make_arrays(execution, item_count, result_count)) {
    return tfrt_status_out_of_memory();
  }
  execution->argument_count = (uint32_t)item_count;
  execution->result_count = result_count;
  for (uint32_t i = 0; i < item_count; ++i) {
    execution->arguments[i] = tfrt_execution_argument(job, &items[i], execution);
  }
  for (uint32_t i = 0; i < result_count; ++i) execution->results[i].owner = execution;
  return execution_order_arguments(execution, items);
}

void tfrt_execution_retain(tfrt_execution_t* execution) {
  tfrt_ref_count_increment(&execution->ref_count);
}

static void execution_release_node(void* node) { tfrt_node_release(node); }

static void execution_release_request(void* request) { tfrt_request_context_release(request); }

// Frees the rest of the execution; the arrays' content is gone since the finish.
static void execution_free(tfrt_execution_t* execution) {
  tfrt_node_t* node = execution->node;
  if (execution->request) {
    tfrt_action_queue_call(&node->actions, execution_release_request, execution->request);
  }
  if (execution->program) tfrt_cached_program_release(execution->program);
  tfrt_status_release(execution->cancelled);
  tfrt_status_release(execution->failure);
  execution_free_arrays(execution);
  tfrt_job_release(execution->job);
  execution->vtable->destroy(execution);
  tfrt_action_queue_call(&node->actions, execution_release_node, node);
}

void tfrt_execution_release(tfrt_execution_t* execution) {
  if (tfrt_ref_count_decrement(&execution->ref_count)) execution_free(execution);
}

void tfrt_execution_finish(tfrt_execution_t* execution) {
  if (execution->state == TFRT_EXECUTION_FINISHED) return;
  bool was_begun = execution->state != TFRT_EXECUTION_MADE;
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
  if (was_begun && execution->deadline.at_ns != TFRT_TIME_INFINITE &&
      tfrt_timer_cancel(execution->node->options.timers, &execution->deadline.timer)) {
    tfrt_execution_release(execution);
  }
  tfrt_job_leave(execution->job);
}

// --- Results -----------------------------------------------------------------

// Tells the owner of result |index| if it is known, or waits for it.
static void execution_observe(tfrt_execution_t* execution, uint32_t index, tfrt_action_wait_t how);

// Runs when a result is settled.
static void execution_run_waiter(tfrt_task_t* task) {
  tfrt_execution_result_t* result = TFRT_CONTAINER_OF(task, tfrt_execution_result_t, waiter);
  tfrt_execution_t* execution = result->owner;
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  uint32_t index = (uint32_t)(result - execution->results);
  // A settled result that is neither here nor known to be elsewhere is on its way.
  execution_observe(execution, index, TFRT_ACTION_AND_THEN);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static void execution_observe(tfrt_execution_t* execution, uint32_t index, tfrt_action_wait_t how) {
  tfrt_execution_result_t* result = &execution->results[index];
  if (execution->state == TFRT_EXECUTION_FINISHED) return;
  tfrt_node_t* node = execution->node;
  tfrt_remote_value_t* remote = tfrt_remote_value_of(node, result->value);
  if (remote || tfrt_async_value_is_available(result->value)) {
    result->known = true;
    tfrt_object_table_fulfil(node->objects, &result->promise, result->value);
    execution->vtable->known(execution, index);
    if (remote) tfrt_remote_value_release(remote);
    return;
  }
  if (remote) tfrt_remote_value_release(remote);
  tfrt_execution_retain(execution);
  tfrt_task_initialize(&result->waiter, execution_run_waiter);
  tfrt_action_queue_wait(&node->actions, result->value, how, &result->waiter);
}

void tfrt_execution_observe_again(tfrt_execution_t* execution, uint32_t index) {
  execution->results[index].known = false;
  execution_observe(execution, index, TFRT_ACTION_AND_THEN);
}

// Tells the owner and the slots the results, which have been set, each once it is known: until then
// a cancel can still end the waits for it.
static void execution_publish(tfrt_execution_t* execution) {
  for (uint32_t i = 0; i < execution->result_count; ++i) {
    execution_observe(execution, i, TFRT_ACTION_AWAIT);
  }
}

// --- The end -----------------------------------------------------------------

// The call's kernels and nested calls are over. Drops the scope's reference.
static void execution_retire(tfrt_execution_t* execution) {
  bool at_once = execution->state == TFRT_EXECUTION_TELLING;
  tfrt_execution_set_state(execution, TFRT_EXECUTION_RETIRED);
  if (execution->request) tfrt_withdrawal_end(execution->request);
  execution->node->call_hooks->close_scope(execution->job, &execution->scope);
  execution->vtable->retired(execution, at_once);
  tfrt_execution_release(execution);
}

// Runs when everything that the call has started is over, but for unawaited calls.
static void execution_run_ending(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.ending);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  if (tfrt_outgoing_unawaited_end(&execution->unawaited)) execution_retire(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs when the unawaited calls are over, too.
static void execution_run_retired(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.retired);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  execution_retire(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// The error (+1) of one whose deadline has passed.
static tfrt_status_t execution_too_late(const tfrt_execution_t* execution) {
  const char* name = execution->program ? tfrt_execution_function_name(execution) : "";
  return tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED,
                            "the deadline of the call%s%s has passed", name[0] ? " of @" : "",
                            name);
}

// The owner's part of the scope is over: everything was started. A call may be over as soon as its
// results are there. Then this critical section already knows it, and one message tells the results
// and the end. It is written here if the execution |is_alone|, else when the lock is opened, as
// others may be at work in the same critical section.
static void execution_end_start(tfrt_execution_t* execution, bool is_alone) {
  bool is_over = tfrt_call_scope_leave_last(&execution->scope) &&
                 tfrt_outgoing_unawaited_end(&execution->unawaited);
  if (is_over && is_alone) {
    tfrt_execution_set_state(execution, TFRT_EXECUTION_TELLING);
    execution_publish(execution);
  } else {
    execution_publish(execution);
    tfrt_execution_set_state(execution, TFRT_EXECUTION_RUNNING);
  }
  if (is_over) {
    execution_retire(execution);
  } else {
    execution->vtable->waits(execution);
  }
}

// The results are |results| (consumed).
static void execution_set_results(tfrt_execution_t* execution, tfrt_async_value_t* const* results) {
  for (uint32_t i = 0; i < execution->result_count; ++i) {
    execution->results[i].value = results[i];
  }
}

// --- The beginning -----------------------------------------------------------

static void execution_run_timer(tfrt_timer_t* timer) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(timer, tfrt_execution_t, deadline.timer);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  tfrt_status_t status = execution_too_late(execution);
  tfrt_execution_cancel(execution, status);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_status_release(status);
  tfrt_node_release(node);
}

static void unawaited_initialize(tfrt_unawaited_t* unawaited, tfrt_task_t* over) {
  tfrt_call_scope_initialize(&unawaited->scope, over);
  tfrt_list_initialize(&unawaited->calls);
  unawaited->fed_others = 0;
}

void tfrt_execution_begin(tfrt_execution_t* execution) {
  tfrt_execution_set_state(execution, TFRT_EXECUTION_WAITING);
  if (execution->deadline.at_ns != TFRT_TIME_INFINITE) {
    tfrt_execution_retain(execution);
    tfrt_timer_start(execution->node->options.timers, &execution->deadline.timer,
                     execution->deadline.at_ns, execution_run_timer);
  }
  // For the scope.
  tfrt_execution_retain(execution);
  tfrt_task_initialize(&execution->tasks.ending, execution_run_ending);
  tfrt_call_scope_initialize(&execution->scope, &execution->tasks.ending);
  tfrt_task_initialize(&execution->tasks.retired, execution_run_retired);
  unawaited_initialize(&execution->unawaited, &execution->tasks.retired);
}

tfrt_unawaited_t* tfrt_execution_unawaited(tfrt_call_scope_t* scope) {
  bool is_one = scope && scope->done->run == execution_run_ending;
  return is_one ? &TFRT_CONTAINER_OF(scope, tfrt_execution_t, scope)->unawaited : NULL;
}

const tfrt_execution_t* tfrt_execution_of_scope(const tfrt_call_scope_t* scope) {
  if (!scope) return NULL;
  if (scope->done->run == execution_run_ending) {
    return TFRT_CONTAINER_OF(scope, const tfrt_execution_t, scope);
  }
  bool is_unawaited = scope->done->run == execution_run_retired;
  return is_unawaited ? TFRT_CONTAINER_OF(scope, const tfrt_execution_t, unawaited.scope) : NULL;
}

void tfrt_execution_complete(tfrt_execution_t* execution, tfrt_async_value_t* const* results) {
  execution_set_results(execution, results);
  execution_end_start(execution, false);
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

// --- What is to be run -------------------------------------------------------

// Sets |*out_function| to the function to run, or returns the error.
static tfrt_status_t execution_find_function(const tfrt_execution_t* execution,
                                             const tfrt_function_t** out_function) {
  *out_function = NULL;
  if (execution->cancelled) return tfrt_status_retain(execution->cancelled);
  // The timer may be late, and a replayed call may have come too late altogether.
  if (execution->deadline.at_ns != TFRT_TIME_INFINITE &&
      execution->deadline.at_ns <= tfrt_node_now_ns(execution->node)) {
    return execution_too_late(execution);
  }
  const tfrt_cached_program_t* program = execution->program;
  if (!program->program) {
    if (tfrt_async_value_is_error(program->ready)) {
      return tfrt_status_retain(tfrt_async_value_error(program->ready));
    }
    return tfrt_status_create(TFRT_STATUS_INTERNAL, "the program is not loaded");
  }
  if (execution->function >= tfrt_program_function_count(program->program)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the program has no function %u",
                              execution->function);
  }
  const tfrt_function_t* function = tfrt_program_function(program->program, execution->function);
  if (function->argument_count != execution->argument_count ||
      (!execution->needs.any_result_count && function->result_count != execution->result_count)) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "function '%s' takes %u argument%s and gives %u result%s; the call has %u and wants %u",
        function->name, function->argument_count, tfrt_plural(function->argument_count),
        function->result_count, tfrt_plural(function->result_count), execution->argument_count,
        execution->result_count);
  }
  *out_function = function;
  return NULL;
}

// Makes room for as many results as |function| has.
static tfrt_status_t execution_take_results(tfrt_execution_t* execution,
                                            const tfrt_function_t* function) {
  if (!execution->needs.any_result_count) return NULL;
  tfrt_allocator_t allocator = execution->node->options.allocator;
  size_t count = function->result_count;
  // Before anything runs: the message with the results could not be sent.
  if (count > TFRT_WIRE_MAX_RESULTS) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "function '%s' gives %zu results; across hosts a function gives at "
                              "most %u, so return fewer, or lists of them",
                              function->name, count, TFRT_WIRE_MAX_RESULTS);
  }
  tfrt_execution_result_t* results =
      tfrt_allocator_allocate_zeroed(allocator, (count + 1) * sizeof(*results));
  if (!results) return tfrt_status_out_of_memory();
  tfrt_allocator_free(allocator, execution->results,
                      (execution->result_count + 1) * sizeof(*execution->results));
  execution->results = results;
  execution->result_count = function->result_count;
  for (size_t i = 0; i < count; ++i) results[i].owner = execution;
  return NULL;
}

// Returns the error (+1) of an argument, if the call needs its arguments to be here.
static tfrt_status_t execution_check_arguments(const tfrt_execution_t* execution) {
  for (uint32_t i = 0; i < execution->argument_count && execution->needs.arguments; ++i) {
    tfrt_async_value_t* argument = execution->arguments[i];
    bool is_reference = argument->kind == TFRT_ASYNC_VALUE_INDIRECT;
    if (is_reference && tfrt_async_value_is_error(argument)) {
      return tfrt_status_retain(tfrt_async_value_error(argument));
    }
  }
  return NULL;
}

static tfrt_status_t execution_prepare(tfrt_execution_t* execution,
                                       const tfrt_function_t** out_function) {
  TFRT_RETURN_IF_ERROR(execution_find_function(execution, out_function));
  TFRT_RETURN_IF_ERROR(execution_check_arguments(execution));
  TFRT_RETURN_IF_ERROR(execution_take_results(execution, *out_function));
  tfrt_request_options_t options = tfrt_request_options_default();
  options.id = execution->request_id;
  if (execution->device[0]) options.device = execution->device;
  options.trace = tfrt_job_trace(execution->job);
  options.deadline_ns = execution->deadline.at_ns;
  options.output = &execution->job->output;
  options.router = &execution->job->router;
  options.call_depth = execution->depth;
  options.most_open_calls = execution->job->usage.limits.calls;
  options.names_are_short_lived = execution->is_carried;
  TFRT_RETURN_IF_ERROR(tfrt_request_context_create(&options, execution->node->options.allocator,
                                                   &execution->request));
  tfrt_execution_context_t context =
      tfrt_host_context_execution(execution->node->options.host, execution->request);
  context.scope = &execution->unawaited.scope;
  return tfrt_withdrawal_begin(&context, *out_function, execution->arguments);
}

// --- Running -----------------------------------------------------------------

static void execution_fail(tfrt_execution_t* execution, tfrt_status_t status) {
  execution->failure = tfrt_status_retain(status);
  for (uint32_t i = 0; i < execution->result_count; ++i) {
    execution->results[i].value = tfrt_async_value_create_error(status);
  }
  execution_end_start(execution, true);
}

// Runs |function| as far as it goes on this thread; in a trace, that is a span around its kernels.
static void execution_enter(tfrt_execution_t* execution, const tfrt_function_t* function,
                            tfrt_async_value_t** results) {
  const tfrt_node_t* node = execution->node;
  tfrt_trace_t* trace = tfrt_job_trace(execution->job);
  tfrt_execution_context_t context =
      tfrt_host_context_execution(node->options.host, execution->request);
  context.scope = &execution->scope;
  if (!trace) {
    tfrt_function_execute(function, &context, execution->arguments, results);
    return;
  }
  int64_t begin_ns = tfrt_clock_now_ns(node->options.host->clock);
  if (execution->caller != 0) {
    tfrt_job_add_trace_flow(execution->job, TFRT_TRACE_FLOW_IN, execution->caller, execution->call,
                            node->incarnation, execution->request_id);
  }
  tfrt_function_execute(function, &context, execution->arguments, results);
  tfrt_trace_add(trace, "call", function->name, begin_ns,
                 tfrt_clock_now_ns(node->options.host->clock), execution->request_id);
}

static void execution_call(tfrt_execution_t* execution, const tfrt_function_t* function) {
  tfrt_async_value_t* few[8];
  tfrt_async_value_t** results = few;
  tfrt_allocator_t allocator = execution->node->options.allocator;
  size_t size = execution->result_count * sizeof(*results);
  if (execution->result_count > 8) results = tfrt_allocator_allocate(allocator, size);
  if (!results) {
    tfrt_node_lock_tables(execution->node);
    execution_fail(execution, tfrt_status_out_of_memory());
    return;
  }
  execution_enter(execution, function, results);
  for (uint32_t i = 0; i < execution->result_count && execution->needs.results; ++i) {
    results[i] = tfrt_list_item_whole_take(results[i], allocator);
  }
  tfrt_node_lock_tables(execution->node);
  execution_set_results(execution, results);
  execution_end_start(execution, true);
  if (results != few) tfrt_allocator_free(allocator, results, size);
}

// Runs on the work queue, when the program is loaded or can't be.
static void execution_run(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  const tfrt_function_t* function = NULL;
  tfrt_status_t status = execution_prepare(execution, &function);
  if (status) {
    execution_fail(execution, status);
    tfrt_status_release(status);
  } else {
    tfrt_node_unlock(node);
    execution_call(execution, function);
  }
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs when all is here that the function needs, on whichever thread that was.
static void execution_queue(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  tfrt_task_initialize(&execution->tasks.run, execution_run);
  tfrt_reader_pair_offer(execution->node->options.host->work_queue, &execution->tasks.run,
                         TFRT_READER_PAIR_SOON);
}

// Runs when the program is loaded, on whichever thread that was.
static void execution_run_loaded(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  if (!execution->needs.arguments) {
    execution_queue(task);
    return;
  }
  tfrt_task_initialize(&execution->tasks.run, execution_queue);
  tfrt_status_t status =
      tfrt_join_and_then(execution->arguments, execution->argument_count, &execution->tasks.run,
                         execution->node->options.allocator);
  // Without memory to wait, the function begins at once.
  if (status) execution_queue(&execution->tasks.run);
  tfrt_status_release(status);
}

void tfrt_execution_start(tfrt_execution_t* execution) {
  tfrt_execution_begin(execution);
  tfrt_execution_retain(execution);
  tfrt_task_initialize(&execution->tasks.run, execution_run_loaded);
  tfrt_cached_program_load(execution->program, &execution->tasks.run);
}

// --- Cancel ------------------------------------------------------------------

// The placeholder (+1) of the first result of |execution|, from |*index| on, that isn't known and
// that another call of this host waits for; or NULL. Sets |*index| behind it.
static tfrt_async_value_t* execution_next_promise(const tfrt_execution_t* execution,
                                                  uint32_t* index) {
  while (*index < execution->result_count) {
    const tfrt_execution_result_t* result = &execution->results[(*index)++];
    if (result->known || !result->promise.placeholder) continue;
    return tfrt_async_value_retain(&result->promise.placeholder->base);
  }
  return NULL;
}

// Runs with the lock open. First ends the waits of other calls of this host for results that aren't
// known yet: calls that are given each other's results would wait for ever.
static void execution_run_cancel(void* argument) {
  tfrt_execution_t* execution = argument;
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  uint32_t index = 0;
  for (tfrt_async_value_t* promised; (promised = execution_next_promise(execution, &index));) {
    tfrt_node_unlock(node);
    // The call may still give it another value: the first one counts.
    tfrt_async_value_set_error(promised, execution->cancelled);
    tfrt_async_value_release(promised);
    tfrt_node_lock_tables(node);
  }
  tfrt_node_unlock(node);
  if (execution->request) tfrt_request_context_cancel(execution->request, execution->cancelled);
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
  // If the whole request is cancelled, or the job is closed, all hosts hear of that: no
  // withdrawals are needed.
  bool all_know = tfrt_job_is_closed(execution->job) ||
                  tfrt_cancelled_requests_find(&execution->job->cancelled_requests,
                                               execution->request_id) != NULL;
  if (execution->request && all_know) tfrt_withdrawal_end(execution->request);
  tfrt_execution_retain(execution);
  tfrt_action_queue_call_at_once(&node->actions, execution_run_cancel, execution);
  execution_fail_arguments(execution, reason);
}
