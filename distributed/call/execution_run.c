// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/execution_impl.h"
#include "distributed/call/trace_flow.h"
#include "distributed/threads/reader_pair.h"
#include "distributed/value/whole_value.h"
#include "host_runtime/async/join.h"
#include "host_runtime/base/plural.h"
#include "host_runtime/executor/hosts/withdrawal.h"

// --- What is to be run -------------------------------------------------------

// Sets |*out_function| to the function to run, or returns the error.
static tfrt_status_t tfrt_execution_find_function(const tfrt_execution_t* execution,
                                                  const tfrt_function_t** out_function) {
  *out_function = NULL;
  if (execution->cancelled) return tfrt_status_retain(execution->cancelled);
  // The timer may be late, and a replayed call may have come too late altogether.
  if (execution->deadline.at_ns != TFRT_TIME_INFINITE &&
      execution->deadline.at_ns <= tfrt_node_now_ns(execution->node)) {
    return tfrt_execution_too_late(execution);
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
static tfrt_status_t tfrt_execution_take_results(tfrt_execution_t* execution,
                                                 const tfrt_function_t* function) {
  if (!execution->needs.any_result_count) return NULL;
  tfrt_allocator_t allocator = execution->node->options.allocator;
  size_t count = function->result_count;
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
static tfrt_status_t tfrt_execution_check_arguments(const tfrt_execution_t* execution) {
  for (uint32_t i = 0; i < execution->argument_count && execution->needs.arguments; ++i) {
    tfrt_async_value_t* argument = execution->arguments[i];
    bool is_reference = argument->kind == TFRT_ASYNC_VALUE_INDIRECT;
    if (is_reference && tfrt_async_value_is_error(argument)) {
      return tfrt_status_retain(tfrt_async_value_error(argument));
    }
  }
  return NULL;
}

static tfrt_status_t tfrt_execution_prepare(tfrt_execution_t* execution,
                                            const tfrt_function_t** out_function) {
  TFRT_RETURN_IF_ERROR(tfrt_execution_find_function(execution, out_function));
  TFRT_RETURN_IF_ERROR(tfrt_execution_check_arguments(execution));
  TFRT_RETURN_IF_ERROR(tfrt_execution_take_results(execution, *out_function));
  tfrt_request_options_t options = tfrt_request_options_default();
  options.id = execution->request_id;
  if (execution->device[0]) options.device = execution->device;
  options.trace = tfrt_job_trace(execution->job);
  options.deadline_ns = execution->deadline.at_ns;
  options.output = &execution->job->output;
  options.router = &execution->job->router;
  options.call_depth = execution->depth;
  options.names_are_short_lived = execution->is_carried;
  TFRT_RETURN_IF_ERROR(tfrt_request_context_create(&options, execution->node->options.allocator,
                                                   &execution->request));
  tfrt_execution_context_t context =
      tfrt_host_context_execution(execution->node->options.host, execution->request);
  context.scope = &execution->unawaited.scope;
  return tfrt_withdrawal_begin(&context, *out_function, execution->arguments);
}

// --- Running -----------------------------------------------------------------

static void tfrt_execution_fail(tfrt_execution_t* execution, tfrt_status_t status) {
  execution->failure = tfrt_status_retain(status);
  for (uint32_t i = 0; i < execution->result_count; ++i) {
    execution->results[i].value = tfrt_async_value_create_error(status);
  }
  tfrt_execution_end_start(execution, true);
}

// Runs |function| as far as it goes on this thread; in a trace, that is a span around its kernels.
static void tfrt_execution_enter(tfrt_execution_t* execution, const tfrt_function_t* function,
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
    tfrt_trace_flow_add(execution->job, TFRT_TRACE_FLOW_IN, execution->caller, execution->call,
                        node->incarnation, execution->request_id);
  }
  tfrt_function_execute(function, &context, execution->arguments, results);
  tfrt_trace_add(trace, "call", function->name, begin_ns,
                 tfrt_clock_now_ns(node->options.host->clock), execution->request_id);
}

static void tfrt_execution_call(tfrt_execution_t* execution, const tfrt_function_t* function) {
  tfrt_async_value_t* few[8];
  tfrt_async_value_t** results = few;
  tfrt_allocator_t allocator = execution->node->options.allocator;
  size_t size = execution->result_count * sizeof(*results);
  if (execution->result_count > 8) results = tfrt_allocator_allocate(allocator, size);
  if (!results) {
    tfrt_node_lock_tables(execution->node);
    tfrt_execution_fail(execution, tfrt_status_out_of_memory());
    return;
  }
  tfrt_execution_enter(execution, function, results);
  for (uint32_t i = 0; i < execution->result_count && execution->needs.results; ++i) {
    results[i] = tfrt_whole_value_take(results[i], allocator);
  }
  tfrt_node_lock_tables(execution->node);
  tfrt_execution_set_results(execution, results);
  tfrt_execution_end_start(execution, true);
  if (results != few) tfrt_allocator_free(allocator, results, size);
}

// Runs on the work queue, when the program is loaded or can't be.
static void tfrt_execution_run(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  const tfrt_function_t* function = NULL;
  tfrt_status_t status = tfrt_execution_prepare(execution, &function);
  if (status) {
    tfrt_execution_fail(execution, status);
    tfrt_status_release(status);
  } else {
    tfrt_node_unlock(node);
    tfrt_execution_call(execution, function);
  }
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs when the program is loaded, on whichever thread that was; again when arguments that are
// needed are here.
static void tfrt_execution_queue(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  if (execution->needs.arguments && !execution->needs.has_waited) {
    execution->needs.has_waited = true;
    tfrt_task_initialize(&execution->tasks.run, tfrt_execution_queue);
    tfrt_status_t status =
        tfrt_join_and_then(execution->arguments, execution->argument_count, &execution->tasks.run,
                           execution->node->options.allocator);
    if (!status) return;
    // Without memory to wait, the function begins at once.
    tfrt_status_release(status);
  }
  tfrt_task_initialize(&execution->tasks.run, tfrt_execution_run);
  tfrt_reader_pair_run_soon(execution->node->options.host->work_queue, &execution->tasks.run);
}

void tfrt_execution_start(tfrt_execution_t* execution) {
  tfrt_execution_begin(execution);
  tfrt_execution_retain(execution);
  tfrt_task_initialize(&execution->tasks.run, tfrt_execution_queue);
  tfrt_cached_program_and_then(execution->program, &execution->tasks.run);
}
