// SPDX-License-Identifier: Apache-2.0
//
// A call of a function that runs later, as a task: because somebody wants it in the queue,
// or because the stack is deep, or because its arguments are late. Private to the executor.
//
//   call: task | context | arguments (+1) | indirect values for the results (+1)
//
// Life:
//  1. Allocated: retains program and request, enters the scope, and has made the results.
//  2. Started by its task, at the latest when nothing else is left to do.
//  3. Run: the function gets the arguments for good; what it gives goes to the indirect
//     values; the call frees itself.
//
// Thread rule: one thread at a time, the one that runs the task.
// Failure rule: allocation gives NULL, and results that say so, when memory is out.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_CALL_QUEUED_CALL_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_CALL_QUEUED_CALL_H_

#include <stdbool.h>
#include <stddef.h>

#include "host_runtime/executor/kernel/function.h"

typedef struct tfrt_queued_call_s {
  tfrt_task_t task;  // runs the call
  const tfrt_function_t* function;
  tfrt_function_execute_fn_t run;  // consumes the arguments
  tfrt_execution_context_t context;
  size_t size;
  tfrt_async_value_t* values[];  // arguments, indirect values, room for results
} tfrt_queued_call_t;

// A call of |function| by |run|, which consumes arguments. |arguments| are at +0, or, with
// |take|, at +1 and consumed. Fills in |results| (+1). NULL when memory is out: then |results|
// are errors. Thread-safe.
tfrt_queued_call_t* tfrt_queued_call_allocate(const tfrt_function_t* function,
                                              tfrt_function_execute_fn_t run,
                                              const tfrt_execution_context_t* context,
                                              tfrt_async_value_t* const* arguments, bool take,
                                              tfrt_async_value_t** results) TFRT_MUST_USE;

// Runs |call|, which is gone after that. Thread-compatible.
void tfrt_queued_call_run(tfrt_queued_call_t* call);

// Allocates a call as above and gives it to the context's work queue. Thread-safe.
void tfrt_queued_call_enqueue(const tfrt_function_t* function, tfrt_function_execute_fn_t run,
                              const tfrt_execution_context_t* context,
                              tfrt_async_value_t* const* arguments, bool take,
                              tfrt_async_value_t** results);

// The same for a function with arguments, once the first of them is there. An error there is that
// of all results, and nothing runs. Thread-safe.
void tfrt_queued_call_enqueue_after_first(const tfrt_function_t* function,
                                          tfrt_function_execute_fn_t run,
                                          const tfrt_execution_context_t* context,
                                          tfrt_async_value_t* const* arguments,
                                          tfrt_async_value_t** results);

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_CALL_QUEUED_CALL_H_
