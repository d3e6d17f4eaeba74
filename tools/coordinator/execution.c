// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/execution.h"

#include <uv.h>

#include "host_runtime/async/join.h"

typedef struct tfrt_execution_s {
  uv_loop_t loop;
  uv_async_t done;
  uv_signal_t interrupt;
  uv_signal_t terminate;
  uv_timer_t timeout;
  int64_t timeout_ms;
  tfrt_task_t start;       // runs the function, on a thread of the queue
  tfrt_task_t on_results;  // runs when all results are resolved, on any thread
  tfrt_host_context_t* host;
  tfrt_request_context_t* request;
  const tfrt_function_t* function;
  tfrt_async_value_t* const* arguments;
  tfrt_async_value_t** results;
  tfrt_status_t status;  // +1; why the results can't be waited for, or NULL
} tfrt_execution_t;

static void tfrt_execution_cancel(tfrt_execution_t* execution, tfrt_status_code_t code,
                                  const char* message) {
  tfrt_status_t reason = tfrt_status_create(code, "%s", message);
  tfrt_request_context_cancel(execution->request, reason);
  tfrt_status_release(reason);
}

static void tfrt_execution_on_signal(uv_signal_t* handle, int number) {
  (void)number;
  tfrt_execution_cancel(handle->data, TFRT_STATUS_CANCELLED, "Cancelled");
}

static void tfrt_execution_on_timeout(uv_timer_t* handle) {
  tfrt_execution_cancel(handle->data, TFRT_STATUS_DEADLINE_EXCEEDED,
                        "the time that --timeout gives is over");
}

// Closes everything, so that the loop ends.
static void tfrt_execution_on_done(uv_async_t* handle) {
  tfrt_execution_t* execution = handle->data;
  uv_close((uv_handle_t*)&execution->done, NULL);
  uv_close((uv_handle_t*)&execution->interrupt, NULL);
  uv_close((uv_handle_t*)&execution->terminate, NULL);
  uv_close((uv_handle_t*)&execution->timeout, NULL);
}

static void tfrt_execution_on_results(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, on_results);
  uv_async_send(&execution->done);
}

// Sets up the loop; libuv's initialisers fail only when the system is out of something.
static int tfrt_execution_open(tfrt_execution_t* execution) {
  int result = uv_loop_init(&execution->loop);
  if (result == 0)
    result = uv_async_init(&execution->loop, &execution->done, tfrt_execution_on_done);
  if (result == 0) result = uv_signal_init(&execution->loop, &execution->interrupt);
  if (result == 0) result = uv_signal_init(&execution->loop, &execution->terminate);
  if (result == 0) result = uv_timer_init(&execution->loop, &execution->timeout);
  if (result != 0) return result;
  execution->done.data = execution;
  execution->interrupt.data = execution;
  execution->terminate.data = execution;
  execution->timeout.data = execution;
  result = uv_signal_start(&execution->interrupt, tfrt_execution_on_signal, SIGINT);
  if (result == 0) {
    result = uv_signal_start(&execution->terminate, tfrt_execution_on_signal, SIGTERM);
  }
  if (result == 0 && execution->timeout_ms > 0) {
    result = uv_timer_start(&execution->timeout, tfrt_execution_on_timeout,
                            (uint64_t)execution->timeout_ms, 0);
  }
  return result;
}

// Not on the main thread: a function whose values are all there at once runs to its end here,
// and the main thread has to listen meanwhile.
static void tfrt_execution_start(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, start);
  tfrt_execution_context_t context =
      tfrt_host_context_execution(execution->host, execution->request);
  tfrt_function_execute(execution->function, &context, execution->arguments, execution->results);
  execution->status = tfrt_join_and_then(execution->results, execution->function->result_count,
                                         &execution->on_results, tfrt_allocator_system());
  if (execution->status) uv_async_send(&execution->done);
}

tfrt_status_t tfrt_execution_run(tfrt_host_context_t* host, tfrt_request_context_t* request,
                                 const tfrt_function_t* function,
                                 tfrt_async_value_t* const* arguments, int64_t timeout_ms,
                                 tfrt_async_value_t** results) {
  tfrt_execution_t execution = {.timeout_ms = timeout_ms,
                                .host = host,
                                .request = request,
                                .function = function,
                                .arguments = arguments,
                                .results = results};
  int result = tfrt_execution_open(&execution);
  if (result != 0) {
    // The process ends right after this, and what was opened with it.
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no event loop: %s",
                              uv_strerror(result));
  }
  tfrt_task_initialize(&execution.start, tfrt_execution_start);
  tfrt_task_initialize(&execution.on_results, tfrt_execution_on_results);
  tfrt_work_queue_add_task(host->work_queue, &execution.start);
  uv_run(&execution.loop, UV_RUN_DEFAULT);
  // The task that woke the loop may still be on its way out of this frame's storage.
  tfrt_work_queue_quiesce(host->work_queue);
  uv_loop_close(&execution.loop);
  return execution.status;
}
