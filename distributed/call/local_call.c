// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/local_call.h"

#include "distributed/call/call_hooks.h"
#include "distributed/value/remote_value.h"
#include "host_runtime/executor/hosts/withdrawal.h"
#include "host_runtime/executor/request/call_scope.h"

typedef struct tfrt_local_call_s tfrt_local_call_t;

// A result that the function has not made yet when it returns.
typedef struct tfrt_local_result_s {
  tfrt_local_call_t* call;
  tfrt_indirect_value_t* placeholder;  // +1; what the caller got
  tfrt_async_value_t* value;           // +1
  tfrt_task_t waiter;
} tfrt_local_result_t;

// Events of a call. The second of the two makes the results fail that are not known yet: before
// that, one thread may still write what the other would read.
enum {
  TFRT_LOCAL_CALL_EXPIRED = 1,  // the deadline has passed
  TFRT_LOCAL_CALL_WRAPPED = 2,  // the function has returned, and the placeholders are made
};

struct tfrt_local_call_s {
  tfrt_ref_count_t ref_count;       // of the scope, the timer, the subscription, and each waiter
  tfrt_node_t* node;                // +1
  tfrt_job_t* job;                  // +1
  tfrt_request_context_t* outer;    // +1
  tfrt_request_context_t* request;  // +1
  tfrt_cancellation_subscription_t subscription;
  tfrt_call_scope_t* outer_scope;  // entered
  tfrt_call_scope_t scope;
  tfrt_task_t retired;
  tfrt_timer_t timer;
  tfrt_task_t expiry;
  tfrt_work_queue_t* work_queue;
  tfrt_status_t reason;        // +1; what it says when the deadline has passed
  TFRT_ATOMIC(uint32_t) seen;  // EXPIRED and WRAPPED
  uint32_t result_count;
  tfrt_local_result_t results[];
};

static void local_call_release(tfrt_local_call_t* call) {
  if (!tfrt_ref_count_decrement(&call->ref_count)) return;
  tfrt_node_t* node = call->node;
  for (uint32_t i = 0; i < call->result_count; ++i) {
    tfrt_async_value_release(call->results[i].value);
    if (!call->results[i].placeholder) continue;
    tfrt_async_value_release(&call->results[i].placeholder->base);
  }
  tfrt_request_context_release(call->request);
  tfrt_request_context_release(call->outer);
  tfrt_status_release(call->reason);
  tfrt_node_lock_tables(node);
  tfrt_job_release(call->job);
  tfrt_node_unlock(node);
  tfrt_allocator_free(node->options.allocator, call,
                      sizeof(*call) + call->result_count * sizeof(call->results[0]));
  tfrt_node_release(node);
}

// Runs when everything that the call has started is over.
static void local_call_run_retired(tfrt_task_t* task) {
  tfrt_local_call_t* call = TFRT_CONTAINER_OF(task, tfrt_local_call_t, retired);
  // Comes first: it releases arguments, perhaps their last references.
  tfrt_withdrawal_end(call->request);
  tfrt_node_lock_tables(call->node);
  call->job->node->call_hooks->close_scope(call->job, &call->scope);
  tfrt_node_unlock(call->node);
  if (tfrt_timer_cancel(call->node->options.timers, &call->timer)) local_call_release(call);
  if (tfrt_cancellation_unsubscribe(&call->outer->cancellation, &call->subscription)) {
    local_call_release(call);
  }
  tfrt_call_scope_leave(call->outer_scope);
  local_call_release(call);
}

static void local_call_run_cancel(tfrt_cancellation_subscription_t* subscription,
                                  tfrt_status_t reason) {
  tfrt_local_call_t* call = TFRT_CONTAINER_OF(subscription, tfrt_local_call_t, subscription);
  // The outer request, whose cancel this is, tells it for all calls below: no withdrawals are
  // needed.
  tfrt_withdrawal_end(call->request);
  tfrt_request_context_cancel(call->request, reason);
  local_call_release(call);
}

// |what| has happened to |call|: if the other has, too, the results that are not known yet fail.
static void local_call_note(tfrt_local_call_t* call, uint32_t what) {
  // Acquire and release: the placeholders are handed from the thread that has made them.
  if (atomic_fetch_or_explicit(&call->seen, what, memory_order_acq_rel) == 0) return;
  for (uint32_t i = 0; i < call->result_count; ++i) {
    // The first resolution counts: results that are known by now stay.
    if (call->results[i].placeholder) {
      tfrt_async_value_set_error(&call->results[i].placeholder->base, call->reason);
    }
  }
}

// Runs on the work queue: what waits for results is run here, too.
static void local_call_run_expiry(tfrt_task_t* task) {
  tfrt_local_call_t* call = TFRT_CONTAINER_OF(task, tfrt_local_call_t, expiry);
  local_call_note(call, TFRT_LOCAL_CALL_EXPIRED);
  local_call_release(call);
}

static void local_call_run_timer(tfrt_timer_t* timer) {
  tfrt_local_call_t* call = TFRT_CONTAINER_OF(timer, tfrt_local_call_t, timer);
  // Cancels on this thread: the workers may be busy, perhaps with the call's own kernels.
  tfrt_request_context_cancel(call->request, call->reason);
  tfrt_work_queue_add_task(call->work_queue, &call->expiry);
}

static void local_call_run_result(tfrt_task_t* task) {
  tfrt_local_result_t* result = TFRT_CONTAINER_OF(task, tfrt_local_result_t, waiter);
  tfrt_indirect_value_forward(result->placeholder, result->value);
  local_call_release(result->call);
}

// Returns the caller's value for |value| (consumed). A known value is returned itself, and so is a
// remote value, which the cancel of the call reaches. Any other gets a placeholder that the
// deadline can resolve.
static tfrt_async_value_t* local_call_wrap(tfrt_local_call_t* call, tfrt_local_result_t* result,
                                           tfrt_async_value_t* value) {
  if (tfrt_async_value_is_available(value) || tfrt_remote_value_cast(value)) return value;
  tfrt_indirect_value_t* placeholder = tfrt_indirect_value_create();
  if (!placeholder) return value;
  result->call = call;
  result->placeholder = placeholder;
  result->value = value;
  return tfrt_async_value_retain(&placeholder->base);
}

static void local_call_watch_results(tfrt_local_call_t* call) {
  for (uint32_t i = 0; i < call->result_count; ++i) {
    tfrt_local_result_t* result = &call->results[i];
    if (!result->placeholder) continue;
    tfrt_ref_count_increment(&call->ref_count);
    tfrt_task_initialize(&result->waiter, local_call_run_result);
    tfrt_async_value_and_then(result->value, &result->waiter);
  }
}

static tfrt_status_t local_call_create_request(tfrt_local_call_t* call,
                                               const tfrt_routed_call_t* routed,
                                               int64_t deadline_ns) {
  tfrt_request_options_t options = call->outer->options;
  options.deadline_ns = deadline_ns;
  options.trace = tfrt_request_context_trace(call->outer);
  options.resources = tfrt_request_context_shared_resources(call->outer);
  TFRT_RETURN_IF_ERROR(
      tfrt_request_context_create(&options, call->node->options.allocator, &call->request));
  tfrt_execution_context_t context = *routed->context;
  context.request = call->request;
  context.scope = &call->scope;
  return tfrt_withdrawal_begin(&context, routed->function, routed->arguments);
}

static tfrt_local_call_t* local_call_allocate(tfrt_job_t* job, const tfrt_routed_call_t* call,
                                              int64_t deadline_ns) {
  uint32_t count = call->function->result_count;
  tfrt_local_call_t* local = tfrt_allocator_allocate_zeroed(
      job->node->options.allocator, sizeof(*local) + count * sizeof(local->results[0]));
  if (!local) return NULL;
  tfrt_ref_count_initialize(&local->ref_count);
  local->node = tfrt_node_retain(job->node);
  local->job = tfrt_job_retain(job);
  local->outer = tfrt_request_context_retain(call->context->request);
  local->result_count = count;
  local->work_queue = call->context->work_queue;
  tfrt_status_t plain =
      tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED,
                         "the deadline of the call of @%s has passed", call->function->name);
  tfrt_status_origin_t site;
  tfrt_routed_call_origin(call, &site);
  local->reason = tfrt_status_with_origin(plain, &site);
  tfrt_status_release(plain);
  tfrt_task_initialize(&local->expiry, local_call_run_expiry);
  tfrt_task_initialize(&local->retired, local_call_run_retired);
  tfrt_call_scope_initialize(&local->scope, &local->retired);
  tfrt_status_t status = local_call_create_request(local, call, deadline_ns);
  if (!status) return local;
  tfrt_status_release(status);
  local_call_release(local);
  return NULL;
}

void tfrt_local_call_execute(tfrt_job_t* job, const tfrt_routed_call_t* call, int64_t deadline_ns) {
  tfrt_local_call_t* local = local_call_allocate(job, call, deadline_ns);
  if (!local) {
    for (uint32_t i = 0; i < call->function->result_count; ++i) {
      call->results[i] = tfrt_async_value_out_of_memory();
    }
    return;
  }
  local->outer_scope = call->context->scope;
  tfrt_call_scope_enter(local->outer_scope);
  tfrt_ref_count_increment(&local->ref_count);
  tfrt_cancellation_subscribe(&local->outer->cancellation, &local->subscription,
                              local_call_run_cancel);
  tfrt_ref_count_increment(&local->ref_count);
  tfrt_timer_start(job->node->options.timers, &local->timer, deadline_ns, local_call_run_timer);
  tfrt_execution_context_t context = *call->context;
  context.request = local->request;
  context.scope = &local->scope;
  tfrt_call_options_place(call->options, &context);
  tfrt_function_execute(call->function, &context, call->arguments, call->results);
  for (uint32_t i = 0; i < local->result_count; ++i) {
    call->results[i] = local_call_wrap(local, &local->results[i], call->results[i]);
  }
  local_call_note(local, TFRT_LOCAL_CALL_WRAPPED);
  local_call_watch_results(local);
  tfrt_call_scope_leave(&local->scope);
}
