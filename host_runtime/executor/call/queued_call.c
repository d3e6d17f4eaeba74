// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/call/queued_call.h"

#include "host_runtime/async/value_storage.h"
#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/executor/request/request_context.h"

void tfrt_queued_call_run(tfrt_queued_call_t* call) {
  const tfrt_function_t* function = call->function;
  tfrt_async_value_t** placeholders = call->values + function->argument_count;
  tfrt_async_value_t** results = placeholders + function->result_count;
  call->run(function, &call->context, call->values, results);
  for (uint32_t i = 0; i < function->result_count; ++i) {
    tfrt_indirect_value_forward_take((tfrt_indirect_value_t*)placeholders[i], results[i]);
    tfrt_async_value_release(placeholders[i]);
  }
  tfrt_execution_context_t context = call->context;
  tfrt_value_storage_free(call, call->size);
  tfrt_request_context_release(context.request);
  tfrt_program_release((tfrt_program_t*)function->program);
  tfrt_call_scope_leave(context.scope);
}

static void queued_call_run_task(tfrt_task_t* task) {
  tfrt_queued_call_run(TFRT_CONTAINER_OF(task, tfrt_queued_call_t, task));
}

// Fills |results| with indirects, or with errors and returns false.
static bool queued_call_make_placeholders(uint32_t count, tfrt_async_value_t** results) {
  bool complete = true;
  for (uint32_t i = 0; i < count; ++i) {
    tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
    complete &= indirect != NULL;
    results[i] = indirect ? &indirect->base : tfrt_async_value_out_of_memory();
  }
  return complete;
}

// As a call of the executor that gets no memory, it ends its request.
static void queued_call_give_up(const tfrt_function_t* function,
                                const tfrt_execution_context_t* context,
                                tfrt_async_value_t* const* arguments, bool take,
                                tfrt_async_value_t** results) {
  tfrt_request_context_cancel(context->request, tfrt_status_out_of_memory());
  for (uint32_t i = 0; i < function->result_count; ++i) {
    tfrt_async_value_release(results[i]);
    results[i] = tfrt_async_value_out_of_memory();
  }
  for (uint32_t i = 0; take && i < function->argument_count; ++i) {
    tfrt_async_value_release(arguments[i]);
  }
}

tfrt_queued_call_t* tfrt_queued_call_allocate(const tfrt_function_t* function,
                                              tfrt_function_execute_fn_t run,
                                              const tfrt_execution_context_t* context,
                                              tfrt_async_value_t* const* arguments, bool take,
                                              tfrt_async_value_t** results) {
  uint32_t argument_count = function->argument_count;
  uint32_t result_count = function->result_count;
  size_t size = sizeof(tfrt_queued_call_t) +
                ((size_t)argument_count + 2 * (size_t)result_count) * sizeof(void*);
  tfrt_queued_call_t* call = tfrt_value_storage_allocate(size);
  if (!queued_call_make_placeholders(result_count, results) || !call) {
    queued_call_give_up(function, context, arguments, take, results);
    if (call) tfrt_value_storage_free(call, size);
    return NULL;
  }
  tfrt_task_initialize(&call->task, queued_call_run_task);
  call->function = function;
  call->run = run;
  call->context = *context;
  call->size = size;
  for (uint32_t i = 0; i < argument_count; ++i) {
    call->values[i] = take ? arguments[i] : tfrt_async_value_retain(arguments[i]);
  }
  for (uint32_t i = 0; i < result_count; ++i) {
    call->values[argument_count + i] = tfrt_async_value_retain_unshared(results[i]);
  }
  tfrt_program_retain((tfrt_program_t*)function->program);
  tfrt_request_context_retain(context->request);
  tfrt_call_scope_enter(context->scope);
  return call;
}

void tfrt_queued_call_enqueue(const tfrt_function_t* function, tfrt_function_execute_fn_t run,
                              const tfrt_execution_context_t* context,
                              tfrt_async_value_t* const* arguments, bool take,
                              tfrt_async_value_t** results) {
  tfrt_queued_call_t* call =
      tfrt_queued_call_allocate(function, run, context, arguments, take, results);
  if (call) tfrt_work_queue_add_task(context->work_queue, &call->task);
}

// --- After the first argument ----------------------------------------------------------------

// A thread that has made this many calls which wait may have to run what they wait for.
#define TFRT_QUEUED_CALL_MANY_WAIT 64

static _Thread_local uint32_t tfrt_queued_call_waiting_count;

// Runs instead of a call whose first argument is an error.
static void queued_call_fail(const tfrt_function_t* function,
                             const tfrt_execution_context_t* context,
                             tfrt_async_value_t* const* arguments, tfrt_async_value_t** results) {
  (void)context;
  tfrt_async_value_t* error = tfrt_async_value_resolved(arguments[0]);
  for (uint32_t i = 0; i < function->result_count; ++i) {
    results[i] = tfrt_async_value_retain(error);
  }
  for (uint32_t i = 0; i < function->argument_count; ++i) tfrt_async_value_release(arguments[i]);
}

static void queued_call_arrive(tfrt_task_t* task) {
  tfrt_queued_call_t* call = TFRT_CONTAINER_OF(task, tfrt_queued_call_t, task);
  if (tfrt_async_value_is_error(call->values[0])) {
    call->run = queued_call_fail;
    tfrt_queued_call_run(call);
    return;
  }
  tfrt_task_initialize(&call->task, queued_call_run_task);
  tfrt_work_queue_add_task(call->context.work_queue, &call->task);
}

void tfrt_queued_call_enqueue_after_first(const tfrt_function_t* function,
                                          tfrt_function_execute_fn_t run,
                                          const tfrt_execution_context_t* context,
                                          tfrt_async_value_t* const* arguments,
                                          tfrt_async_value_t** results) {
  tfrt_queued_call_t* call =
      tfrt_queued_call_allocate(function, run, context, arguments, false, results);
  if (!call) return;
  if (++tfrt_queued_call_waiting_count % TFRT_QUEUED_CALL_MANY_WAIT == 0) {
    tfrt_work_queue_note_backlog(context->work_queue);
  }
  tfrt_task_initialize(&call->task, queued_call_arrive);
  tfrt_async_value_and_then(call->values[0], &call->task);
}
