// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/hosts/in_process_call.h"

#include "host_runtime/executor/hosts/withdrawal.h"
#include "host_runtime/executor/kernel/function.h"
#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/executor/request/request_context.h"

typedef struct tfrt_in_process_call_s {
  tfrt_ref_count_t ref_count;  // of the scope, and of the subscription
  tfrt_allocator_t allocator;
  tfrt_request_context_t* outer;    // +1
  tfrt_request_context_t* request;  // +1
  tfrt_cancellation_subscription_t subscription;
  tfrt_list_link_t link;           // among those that a thread is to cancel
  tfrt_call_scope_t* outer_scope;  // entered
  tfrt_call_scope_t scope;
  tfrt_task_t over;
} tfrt_in_process_call_t;

static void in_process_call_release(tfrt_in_process_call_t* call) {
  if (!tfrt_ref_count_decrement(&call->ref_count)) return;
  tfrt_request_context_release(call->request);
  tfrt_request_context_release(call->outer);
  tfrt_allocator_free(call->allocator, call, sizeof(*call));
}

// --- Cancel ------------------------------------------------------------------

// The calls that this thread has still to cancel, while it cancels.
static _Thread_local tfrt_list_link_t* tfrt_in_process_call_cancels;

static void in_process_call_cancel_take(tfrt_in_process_call_t* call) {
  tfrt_async_value_t* reason = tfrt_request_context_cancelled(call->outer);
  // The origin of this cancel counts for all calls below it.
  tfrt_withdrawal_end(call->request);
  tfrt_request_context_cancel(call->request, tfrt_async_value_error(reason));
  in_process_call_release(call);
}

// The calls below are added to the list by the cancel of their caller's request.
static void in_process_call_run_cancel(tfrt_cancellation_subscription_t* subscription,
                                       tfrt_status_t reason) {
  (void)reason;
  tfrt_in_process_call_t* call =
      TFRT_CONTAINER_OF(subscription, tfrt_in_process_call_t, subscription);
  if (tfrt_in_process_call_cancels) {
    tfrt_list_push_back(tfrt_in_process_call_cancels, &call->link);
    return;
  }
  tfrt_list_link_t cancels;
  tfrt_list_initialize(&cancels);
  tfrt_in_process_call_cancels = &cancels;
  in_process_call_cancel_take(call);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&cancels));) {
    in_process_call_cancel_take(TFRT_CONTAINER_OF(link, tfrt_in_process_call_t, link));
  }
  tfrt_in_process_call_cancels = NULL;
}

// --- Life --------------------------------------------------------------------

// Runs when everything that the call has started is over. That may be the last of the caller's,
// too, and so on.
static void in_process_call_run_over(tfrt_task_t* task) {
  tfrt_call_scope_t* outer = NULL;
  do {
    tfrt_in_process_call_t* call = TFRT_CONTAINER_OF(task, tfrt_in_process_call_t, over);
    outer = call->outer_scope;
    tfrt_withdrawal_end(call->request);
    if (tfrt_cancellation_unsubscribe(&call->outer->cancellation, &call->subscription)) {
      in_process_call_release(call);
    }
    in_process_call_release(call);
    if (!outer || !tfrt_call_scope_leave_last(outer)) return;
    task = outer->done;
  } while (task->run == in_process_call_run_over);
  task->run(task);
}

static tfrt_in_process_call_t* in_process_call_allocate(const tfrt_routed_call_t* routed,
                                                        const tfrt_request_options_t* options,
                                                        tfrt_allocator_t allocator) {
  tfrt_in_process_call_t* call = tfrt_allocator_allocate_zeroed(allocator, sizeof(*call));
  if (!call) return NULL;
  tfrt_ref_count_initialize(&call->ref_count);
  call->allocator = allocator;
  call->outer = tfrt_request_context_retain(routed->context->request);
  call->outer_scope = routed->context->scope;
  tfrt_task_initialize(&call->over, in_process_call_run_over);
  tfrt_call_scope_initialize(&call->scope, &call->over);
  tfrt_status_t status = tfrt_request_context_create(options, allocator, &call->request);
  if (!status) {
    tfrt_execution_context_t context = *routed->context;
    context.request = call->request;
    context.scope = &call->scope;
    status = tfrt_withdrawal_begin(&context, routed->function, routed->arguments);
  }
  if (!status) return call;
  tfrt_status_release(status);
  in_process_call_release(call);
  return NULL;
}

void tfrt_in_process_call_execute(const tfrt_routed_call_t* routed, tfrt_call_router_t* router,
                                  tfrt_output_t* output, tfrt_allocator_t allocator) {
  tfrt_request_options_t options = routed->context->request->options;
  options.trace = tfrt_request_context_trace(routed->context->request);
  options.router = router;
  options.output = output;
  options.device = NULL;
  ++options.call_depth;
  tfrt_in_process_call_t* call = in_process_call_allocate(routed, &options, allocator);
  if (!call) {
    for (uint32_t i = 0; i < routed->function->result_count; ++i) {
      routed->results[i] = tfrt_async_value_out_of_memory();
    }
    return;
  }
  tfrt_call_scope_enter(call->outer_scope);
  tfrt_ref_count_increment(&call->ref_count);
  tfrt_cancellation_subscribe(&call->outer->cancellation, &call->subscription,
                              in_process_call_run_cancel);
  tfrt_execution_context_t context = *routed->context;
  context.request = call->request;
  context.scope = &call->scope;
  tfrt_call_options_place(routed->options, &context);
  tfrt_function_execute(routed->function, &context, routed->arguments, routed->results);
  tfrt_call_scope_leave(&call->scope);
}
