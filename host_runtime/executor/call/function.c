// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel/function.h"

#include "host_runtime/executor/call/queued_call.h"

void tfrt_function_execute_in_queue(const tfrt_function_t* function,
                                    const tfrt_execution_context_t* context,
                                    tfrt_async_value_t* const* arguments,
                                    tfrt_async_value_t** results) {
  tfrt_queued_call_enqueue(function, function->vtable->execute_take, context, arguments, false,
                           results);
}

void tfrt_function_execute_in_queue_after(const tfrt_function_t* function,
                                          const tfrt_execution_context_t* context,
                                          tfrt_async_value_t* const* arguments,
                                          tfrt_async_value_t** results) {
  if (tfrt_async_value_is_available(arguments[0]) && !tfrt_async_value_is_error(arguments[0])) {
    tfrt_function_execute_in_queue(function, context, arguments, results);
    return;
  }
  tfrt_queued_call_enqueue_after_first(function, function->vtable->execute_take, context, arguments,
                                       results);
}

// A call to be made. Lives on its maker's stack.
typedef struct call_s {
  tfrt_task_t task;
  const tfrt_function_t* function;
  const tfrt_execution_context_t* context;
  tfrt_async_value_t* const* arguments;
  tfrt_async_value_t** results;
} call_t;

static void run_call(tfrt_task_t* task) {
  call_t* call = TFRT_CONTAINER_OF(task, call_t, task);
  tfrt_function_execute(call->function, call->context, call->arguments, call->results);
}

void tfrt_function_execute_here(const tfrt_function_t* function,
                                const tfrt_execution_context_t* context,
                                tfrt_async_value_t* const* arguments,
                                tfrt_async_value_t** results) {
  call_t call = {
      .function = function, .context = context, .arguments = arguments, .results = results};
  tfrt_task_initialize(&call.task, run_call);
  tfrt_work_queue_run_here(context->work_queue, &call.task);
}
