// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/call/strict_call.h"
#include "host_runtime/async/value_storage.h"

#include "host_runtime/async/join.h"
#include "host_runtime/executor/call/queued_call.h"
#include "host_runtime/executor/request/request_context.h"

// Calls with at most this many arguments need no allocation for them.
#define TFRT_STRICT_CALL_INLINE_VALUES 24

static bool strict_call_is_ready(const tfrt_function_t* function,
                                 tfrt_async_value_t* const* arguments) {
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    if (!tfrt_async_value_is_available(arguments[i])) return false;
  }
  return true;
}

// Makes every result |error| (+0).
static void strict_call_fail(const tfrt_function_t* function, tfrt_async_value_t* error,
                             tfrt_async_value_t** results) {
  for (uint32_t i = 0; i < function->result_count; ++i) {
    results[i] = tfrt_async_value_retain(error);
  }
}

// Runs |body| with the values that |arguments| resolve to, which are all there; |values| is room
// for that.
static void strict_call_run_with(const tfrt_function_t* function, tfrt_function_execute_fn_t body,
                                 const tfrt_execution_context_t* context,
                                 tfrt_async_value_t* const* arguments, tfrt_async_value_t** values,
                                 tfrt_async_value_t** results) {
  tfrt_async_value_t* error = tfrt_request_context_cancelled(context->request);
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    values[i] = tfrt_async_value_resolved(arguments[i]);
    if (tfrt_async_value_is_error(values[i])) error = values[i];
  }
  if (error) {
    strict_call_fail(function, error, results);
  } else {
    body(function, context, values, results);
  }
}

static void strict_call_run(const tfrt_function_t* function, tfrt_function_execute_fn_t body,
                            const tfrt_execution_context_t* context,
                            tfrt_async_value_t* const* arguments, tfrt_async_value_t** results) {
  uint32_t count = function->argument_count;
  if (TFRT_LIKELY(count <= TFRT_STRICT_CALL_INLINE_VALUES)) {
    tfrt_async_value_t* values[TFRT_STRICT_CALL_INLINE_VALUES];
    strict_call_run_with(function, body, context, arguments, values, results);
    return;
  }
  tfrt_allocator_t allocator = tfrt_value_storage_allocator();
  tfrt_async_value_t** values = tfrt_allocator_allocate_array(allocator, count, sizeof(*values));
  if (values) {
    strict_call_run_with(function, body, context, arguments, values, results);
  } else {
    strict_call_fail(function, tfrt_async_value_out_of_memory(), results);
  }
  tfrt_allocator_free(allocator, values, count * sizeof(*values));
}

// Runs instead of a call whose arguments can't be waited for.
static void strict_call_no_memory(const tfrt_function_t* function,
                                  const tfrt_execution_context_t* context,
                                  tfrt_async_value_t* const* arguments,
                                  tfrt_async_value_t** results) {
  (void)context;
  for (uint32_t i = 0; i < function->argument_count; ++i) tfrt_async_value_release(arguments[i]);
  strict_call_fail(function, tfrt_async_value_out_of_memory(), results);
}

void tfrt_strict_call(const tfrt_function_t* function, tfrt_function_execute_fn_t body,
                      tfrt_function_execute_fn_t run_take, const tfrt_execution_context_t* context,
                      tfrt_async_value_t* const* arguments, bool take,
                      tfrt_async_value_t** results) {
  uint32_t count = function->argument_count;
  if (TFRT_LIKELY(strict_call_is_ready(function, arguments))) {
    strict_call_run(function, body, context, arguments, results);
    for (uint32_t i = 0; take && i < count; ++i) tfrt_async_value_release(arguments[i]);
    return;
  }
  tfrt_queued_call_t* call =
      tfrt_queued_call_allocate(function, run_take, context, arguments, take, results);
  if (!call) return;
  tfrt_status_t status =
      tfrt_join_and_then(call->values, count, &call->task, tfrt_value_storage_allocator());
  if (!status) return;
  tfrt_status_release(status);
  call->run = strict_call_no_memory;
  tfrt_queued_call_run(call);
}
