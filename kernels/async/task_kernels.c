// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/value_storage.h"
#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/kernel/kernel_site.h"
#include "host_runtime/executor/request/request_context.h"
#include "kernels/async/kernel_parts.h"

void tfrt_async_execute(tfrt_kernel_frame_t* frame) {
  const tfrt_function_t* function = frame->functions[0];
  if (function->argument_count != frame->argument_count ||
      function->result_count != frame->result_count) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "the region takes %u values and gives %u", function->argument_count,
                           function->result_count);
    return;
  }
  tfrt_call_router_t* router = frame->context->request->options.router;
  if (frame->call_options && router) {
    tfrt_routed_call_t call = {.options = frame->call_options,
                               .function = function,
                               .context = frame->context,
                               .caller = frame->site,
                               .gives_results = true,
                               .arguments = frame->arguments,
                               .results = frame->results};
    router->vtable->call(router, &call);
    return;
  }
  tfrt_execution_context_t context = *frame->context;
  if (frame->call_options) tfrt_call_options_place(frame->call_options, &context);
  if (tfrt_kernel_site_waits_for(frame->site, 0)) {
    tfrt_function_execute_in_queue_after(function, &context, frame->arguments, frame->results);
  } else {
    tfrt_function_execute_in_queue(function, &context, frame->arguments, frame->results);
  }
}

void tfrt_async_assert(tfrt_kernel_frame_t* frame) {
  if (tfrt_kernel_frame_i1(frame, 1)) {
    tfrt_kernel_frame_set_ready_chain(frame, 0);
    return;
  }
  tfrt_string_view_t message = tfrt_bef_attribute_string(frame->attributes[0]);
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_FAILED_PRECONDITION, "%.*s",
                         TFRT_STRING_VIEW_ARGUMENTS(message));
}

// --- What has settled ---------------------------------------------------------------------------

// Waits for a value, whatever becomes of it.
typedef struct tfrt_async_watch_s {
  tfrt_task_t task;
  tfrt_async_value_t* value;      // +1
  tfrt_indirect_value_t* result;  // +1
  bool wants_answer;              // the result is an i1: whether |value| is an error
} tfrt_async_watch_t;

static tfrt_async_value_t* async_watch_answer(tfrt_async_value_t* value, bool wants_answer) {
  if (wants_answer) return tfrt_async_value_create_i1(tfrt_async_value_is_error(value));
  return tfrt_async_value_ready_chain();
}

static void async_watch_finish(tfrt_task_t* task) {
  tfrt_async_watch_t* watch = TFRT_CONTAINER_OF(task, tfrt_async_watch_t, task);
  tfrt_indirect_value_forward_take(watch->result,
                                   async_watch_answer(watch->value, watch->wants_answer));
  tfrt_async_value_release(&watch->result->base);
  tfrt_async_value_release(watch->value);
  tfrt_value_storage_free(watch, sizeof(*watch));
}

static tfrt_async_value_t* async_watch(tfrt_async_value_t* value, bool wants_answer) {
  if (tfrt_async_value_is_available(value)) return async_watch_answer(value, wants_answer);
  tfrt_async_watch_t* watch = tfrt_value_storage_allocate(sizeof(*watch));
  tfrt_indirect_value_t* result = watch ? tfrt_indirect_value_create() : NULL;
  if (!result) {
    if (watch) tfrt_value_storage_free(watch, sizeof(*watch));
    return tfrt_async_value_out_of_memory();
  }
  *watch = (tfrt_async_watch_t){
      .value = tfrt_async_value_retain(value), .result = result, .wants_answer = wants_answer};
  tfrt_async_value_retain(&result->base);
  tfrt_task_initialize(&watch->task, async_watch_finish);
  tfrt_async_value_await(value, &watch->task);
  return &result->base;
}

void tfrt_async_settled(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set(frame, 0, async_watch(frame->arguments[1], false));
}

void tfrt_async_is_error(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set(frame, 0, async_watch(frame->arguments[1], true));
}

// The executor gives the value back behind its last kernel, which this is.
void tfrt_async_drop_ref(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}
