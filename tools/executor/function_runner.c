// SPDX-License-Identifier: Apache-2.0
#include "tools/executor/function_runner.h"

#include <stdio.h>

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/sync.h"
#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/executor/request/request_deadline.h"
#include "kernels/device/host_devices.h"
#include "tools/output/result_printer.h"

static tfrt_status_t print_results(const tfrt_function_runner_t* runner,
                                   const tfrt_function_t* function, tfrt_async_value_t** results) {
  if (function->result_count == 0) return NULL;
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_allocator_system());
  tfrt_result_printer_append(function->name, results, function->result_count,
                             runner->print_error_code, &line);
  tfrt_status_t status = line.failed ? tfrt_status_out_of_memory() : NULL;
  if (!status) puts(tfrt_string_builder_text(&line));
  tfrt_string_builder_deinitialize(&line);
  return status;
}

static tfrt_status_t no_memory(uint32_t count) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for %u results", count);
}

// The end of a call, as a value to wait for: what a device still has to do for it is in no work
// queue.
typedef struct call_end_s {
  tfrt_call_scope_t scope;
  tfrt_task_t task;
  tfrt_async_value_t* value;  // +1
} call_end_t;

static void on_end(tfrt_task_t* task) {
  tfrt_async_value_set_available(TFRT_CONTAINER_OF(task, call_end_t, task)->value);
}

// Calls |function| and returns when all of it is over.
static tfrt_status_t execute(tfrt_function_runner_t* runner, const tfrt_function_t* function,
                             const tfrt_execution_context_t* context,
                             tfrt_async_value_t** results) {
  call_end_t end;
  end.value = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  if (!end.value) return tfrt_status_out_of_memory();
  tfrt_task_initialize(&end.task, on_end);
  tfrt_call_scope_initialize(&end.scope, &end.task);
  tfrt_execution_context_t with_end = *context;
  with_end.scope = &end.scope;
  tfrt_function_execute_here(function, &with_end, NULL, results);
  tfrt_end_watch_set_results(&runner->end_watch, results);
  tfrt_call_scope_leave(&end.scope);
  tfrt_work_queue_await(runner->host->work_queue, results, function->result_count);
  tfrt_end_watch_set_results(&runner->end_watch, NULL);
  tfrt_work_queue_await(runner->host->work_queue, &end.value, 1);
  tfrt_async_value_release(end.value);
  return NULL;
}

static tfrt_status_t call_async(tfrt_function_runner_t* runner, const tfrt_function_t* function,
                                const tfrt_execution_context_t* context) {
  uint32_t count = function->result_count;
  tfrt_async_value_t** results =
      tfrt_allocator_allocate_array(tfrt_allocator_system(), count, sizeof(*results));
  if (!results) return no_memory(count);
  tfrt_status_t status = execute(runner, function, context, results);
  if (status) {
    tfrt_allocator_free(tfrt_allocator_system(), results, count * sizeof(*results));
    return status;
  }
  status = print_results(runner, function, results);
  for (uint32_t i = 0; i < count; ++i) tfrt_async_value_release(results[i]);
  tfrt_allocator_free(tfrt_allocator_system(), results, count * sizeof(*results));
  tfrt_work_queue_quiesce(runner->host->work_queue);
  tfrt_host_devices_drain(runner->host);
  return status;
}

// A synchronous function fails as a whole, which shows even if it has no results.
static tfrt_status_t call_sync(tfrt_function_runner_t* runner, const tfrt_function_t* function,
                               const tfrt_execution_context_t* context) {
  uint32_t count = function->result_count;
  tfrt_allocator_t allocator = tfrt_allocator_system();
  tfrt_sync_value_t* values = tfrt_allocator_allocate_array(allocator, count, sizeof(*values));
  tfrt_async_value_t** results = tfrt_allocator_allocate_array(allocator, count, sizeof(*results));
  if (!values || !results) {
    tfrt_allocator_free(allocator, values, count * sizeof(*values));
    tfrt_allocator_free(allocator, results, count * sizeof(*results));
    return no_memory(count);
  }
  tfrt_status_t status = tfrt_sync_function_call(function, context, NULL, values);
  if (status) {
    printf("'%s' returned <<error: %s>>\n", function->name, tfrt_status_message(status));
    tfrt_status_release(status);
    status = NULL;
  } else {
    for (uint32_t i = 0; i < count; ++i) results[i] = tfrt_sync_value_take_async(&values[i]);
    status = print_results(runner, function, results);
    for (uint32_t i = 0; i < count; ++i) tfrt_async_value_release(results[i]);
  }
  tfrt_allocator_free(allocator, values, count * sizeof(*values));
  tfrt_allocator_free(allocator, results, count * sizeof(*results));
  return status;
}

// Calls |function| in the request of |context|, and tells of the scopes that this is.
static tfrt_status_t trace_call(tfrt_function_runner_t* runner, const tfrt_function_t* function,
                                const tfrt_execution_context_t* context) {
  static const char driver[] = "Bef Executor";
  static const char kernels[] = "BEFExecutor::ProcessReadyKernels";
  char name[256];
  snprintf(name, sizeof(name), "Function: %s", function->name);
  tfrt_scope_printer_t* scopes = runner->scopes;
  int64_t driver_begin = tfrt_scope_printer_enter(scopes, TFRT_SCOPE_DEFAULT, driver);
  int64_t begin = tfrt_scope_printer_enter(scopes, TFRT_SCOPE_DEFAULT, name);
  int64_t kernels_begin = tfrt_scope_printer_enter(scopes, TFRT_SCOPE_VERBOSE, kernels);
  tfrt_status_t status = function->kind == TFRT_FUNCTION_SYNC
                             ? call_sync(runner, function, context)
                             : call_async(runner, function, context);
  tfrt_scope_printer_leave(scopes, TFRT_SCOPE_VERBOSE, kernels, kernels_begin);
  tfrt_scope_printer_leave(scopes, TFRT_SCOPE_DEFAULT, name, begin);
  tfrt_scope_printer_leave(scopes, TFRT_SCOPE_DEFAULT, driver, driver_begin);
  return status;
}

// Calls |function| in |request|, which is given its time.
static tfrt_status_t run_request(tfrt_function_runner_t* runner, const tfrt_function_t* function,
                                 tfrt_request_context_t* request) {
  tfrt_execution_context_t context = tfrt_host_context_execution(runner->host, request);
  tfrt_request_deadline_t* deadline = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_request_deadline_start(request, runner->timers, &deadline));
  if (deadline) {
    tfrt_end_watch_start(&runner->end_watch, runner->timers, function, request->options.deadline_ns,
                         runner->tool, runner->exit_code);
  }
  tfrt_status_t status = trace_call(runner, function, &context);
  tfrt_end_watch_stop(&runner->end_watch);
  tfrt_request_deadline_stop(deadline);
  return status;
}

tfrt_status_t tfrt_function_runner_run(tfrt_function_runner_t* runner,
                                       const tfrt_function_t* function) {
  printf("--- Running '%s':\n", function->name);
  int64_t live_before = tfrt_async_value_live_count();
  tfrt_request_options_t options = tfrt_request_options_default();
  options.trace =
      runner->profile ? runner->profile : tfrt_scope_printer_kernel_trace(runner->scopes);
  options.most_open_calls = (uint32_t)runner->most_open_calls;
  if (runner->deadline_ms > 0) {
    options.deadline_ns =
        tfrt_deadline_after(tfrt_clock_now_ns(tfrt_clock_system()), runner->deadline_ms * 1000000);
  }
  tfrt_request_context_t* request = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_request_context_create(&options, tfrt_allocator_system(), &request));
  int64_t begin_ns = tfrt_clock_now_ns(tfrt_clock_system());
  tfrt_status_t status = run_request(runner, function, request);
  tfrt_request_context_release(request);
  tfrt_histogram_record(runner->seconds,
                        (double)(tfrt_clock_now_ns(tfrt_clock_system()) - begin_ns) * 1e-9);
  int64_t live = tfrt_async_value_live_count() - live_before;
  // A deadline that comes at the very end may still have its reason in hand.
  if (status || live == 0 || runner->deadline_ms > 0) return status;
  return tfrt_status_create(TFRT_STATUS_INTERNAL,
                            "function '%s' changed the number of live AsyncValues by %lld: a "
                            "kernel of it keeps or drops one too many",
                            function->name, (long long)live);
}
