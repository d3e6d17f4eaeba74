// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/request/request_context.h"

#include <stdio.h>

tfrt_status_t tfrt_request_context_create(const tfrt_request_options_t* options,
                                          tfrt_allocator_t allocator,
                                          tfrt_request_context_t** out_request) {
  *out_request = NULL;
  tfrt_request_context_t* request = tfrt_allocator_allocate_zeroed(allocator, sizeof(*request));
  if (!request) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a request");
  }
  tfrt_ref_count_initialize(&request->ref_count);
  request->allocator = allocator;
  request->options = *options;
  if (options->device) {
    snprintf(request->device, sizeof(request->device), "%s", options->device);
    request->options.device = request->device;
  }
  if (options->trace) atomic_init(&request->trace, tfrt_trace_retain(options->trace));
  if (!request->options.output) request->options.output = tfrt_output_standard();
  if (!request->options.whole) request->options.whole = request;
  tfrt_cancellation_initialize(&request->cancellation);
  tfrt_resource_context_initialize(&request->resources);
  *out_request = request;
  return NULL;
}

tfrt_request_context_t* tfrt_request_context_retain(tfrt_request_context_t* request) {
  tfrt_ref_count_increment(&request->ref_count);
  return request;
}

void tfrt_request_context_release(tfrt_request_context_t* request) {
  if (!request || !tfrt_ref_count_decrement(&request->ref_count)) return;
  tfrt_request_context_drop_last_act(request);
  tfrt_resource_context_deinitialize(&request->resources);
  tfrt_trace_release(tfrt_request_context_trace(request));
  tfrt_cancellation_deinitialize(&request->cancellation);
  tfrt_allocator_free(request->allocator, request, sizeof(*request));
}

void tfrt_request_context_set_trace(tfrt_request_context_t* request, tfrt_trace_t* trace) {
  tfrt_trace_t* none = NULL;
  tfrt_trace_retain(trace);
  // Pairs with the load in tfrt_request_context_trace(): who finds the trace finds it made.
  bool is_set = atomic_compare_exchange_strong_explicit(&request->trace, &none, trace,
                                                        memory_order_acq_rel, memory_order_relaxed);
  if (!is_set) tfrt_trace_release(trace);
}

// Returns the last act of |request|, which is the caller's from now on, or NULL.
static tfrt_request_last_act_t* request_context_take_last_act(tfrt_request_context_t* request) {
  // Relaxed: it was set before another thread had the request, and its taker has the request alone.
  return atomic_exchange_explicit(&request->last_act, NULL, memory_order_relaxed);
}

void tfrt_request_context_cancel(tfrt_request_context_t* request, tfrt_status_t reason) {
  // Taken first, as what has subscribed may end what the request runs, which drops the act.
  tfrt_request_last_act_t* act = request_context_take_last_act(request);
  if (act) act->begin(act);
  tfrt_cancellation_cancel(&request->cancellation, reason);
  if (act) act->run(act, tfrt_async_value_error(tfrt_request_context_cancelled(request)));
}

tfrt_status_t tfrt_request_context_too_many_calls(const tfrt_request_context_t* request,
                                                  const char* function) {
  tfrt_call_router_t* router = request->options.router;
  const uint32_t rank = router ? router->vtable->place(router).rank : 0;
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "a call of @%s on host %u would be one of more than %u calls that are "
                            "open there at once, which is the limit of one request: does the "
                            "recursion end? %s raises the limit",
                            function, rank, request->options.most_open_calls,
                            router ? "tfrt_worker --job-calls" : "bef_executor --max_open_calls");
}

void tfrt_request_context_set_last_act_take(tfrt_request_context_t* request,
                                            tfrt_request_last_act_t* act) {
  atomic_store_explicit(&request->last_act, act, memory_order_relaxed);
}

void tfrt_request_context_drop_last_act(tfrt_request_context_t* request) {
  tfrt_request_last_act_t* act = request_context_take_last_act(request);
  if (act) act->run(act, NULL);
}

tfrt_async_value_t* tfrt_request_context_print(tfrt_request_context_t* request,
                                               tfrt_string_view_t text) {
  return request->options.output->vtable->print(request->options.output, text, NULL);
}

tfrt_async_value_t* tfrt_execution_context_print(const tfrt_execution_context_t* context,
                                                 tfrt_string_view_t text) {
  tfrt_output_t* output = context->request->options.output;
  return output->vtable->print(output, text, context->scope);
}
