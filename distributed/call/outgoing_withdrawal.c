// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/outgoing_call_impl.h"
#include "host_runtime/executor/kernel/withdrawal.h"
#include "host_runtime/executor/request/call_scope.h"

typedef struct tfrt_outgoing_withdrawal_s {
  tfrt_outgoing_call_t* call;  // +1
  tfrt_call_scope_t* scope;    // entered: the caller is over when all have been told
  tfrt_status_t reason;        // +1
  uint32_t value_count;
  tfrt_async_value_t* values[];  // +1 each; arguments with something to tell
} tfrt_outgoing_withdrawal_t;

static size_t tfrt_outgoing_withdrawal_size(uint32_t value_count) {
  return sizeof(tfrt_outgoing_withdrawal_t) + value_count * sizeof(tfrt_async_value_t*);
}

// Runs with the lock open.
static void tfrt_outgoing_withdrawal_run(void* argument) {
  tfrt_outgoing_withdrawal_t* withdrawal = argument;
  tfrt_outgoing_call_t* call = withdrawal->call;
  const tfrt_kernel_site_t* caller = call->site.kernel;
  tfrt_node_t* node = tfrt_node_retain(call->node);
  tfrt_call_scope_t* scope = withdrawal->scope;
  tfrt_execution_context_t context = tfrt_host_context_execution(node->options.host, call->request);
  context.scope = scope;
  if (caller && tfrt_kernel_site_withdraws(caller)) {
    tfrt_kernel_site_withdraw(caller, &context, withdrawal->reason);
  }
  for (uint32_t i = 0; i < withdrawal->value_count; ++i) {
    tfrt_value_withdraw(withdrawal->values[i], &context, withdrawal->reason);
    tfrt_async_value_release(withdrawal->values[i]);
  }
  tfrt_status_release(withdrawal->reason);
  tfrt_allocator_free(node->options.allocator, withdrawal,
                      tfrt_outgoing_withdrawal_size(withdrawal->value_count));
  tfrt_node_lock_tables(node);
  tfrt_outgoing_call_release(call);
  tfrt_node_unlock(node);
  tfrt_call_scope_leave(scope);
  tfrt_node_release(node);
}

// True if other hosts must hear that |call| doesn't come; sets |*out_count| to the number of
// arguments that withdraw.
static bool tfrt_outgoing_call_withdraws(const tfrt_outgoing_call_t* call, uint32_t* out_count) {
  *out_count = 0;
  // The end of a job or of a request already reaches everybody.
  if (!call->request || tfrt_job_is_closed(call->job) ||
      tfrt_request_context_cancelled(call->request)) {
    return false;
  }
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    *out_count += tfrt_value_withdraws(call->arguments[i]);
  }
  return *out_count > 0 || (call->site.kernel && tfrt_kernel_site_withdraws(call->site.kernel));
}

void tfrt_outgoing_call_withdraw(tfrt_outgoing_call_t* call, tfrt_status_t reason) {
  uint32_t count;
  if (!tfrt_outgoing_call_withdraws(call, &count)) return;
  tfrt_outgoing_withdrawal_t* withdrawal = tfrt_allocator_allocate_zeroed(
      call->node->options.allocator, tfrt_outgoing_withdrawal_size(count));
  if (!withdrawal) return;
  tfrt_ref_count_increment(&call->ref_count);
  withdrawal->call = call;
  withdrawal->scope = call->scope;
  tfrt_call_scope_enter(call->scope);
  withdrawal->reason = tfrt_status_retain(reason);
  withdrawal->value_count = count;
  // As many as were counted, though more may have come since.
  for (uint32_t i = 0, found = 0; found < count; ++i) {
    if (!tfrt_value_withdraws(call->arguments[i])) continue;
    withdrawal->values[found++] = tfrt_async_value_retain(call->arguments[i]);
  }
  tfrt_action_queue_call(&call->node->actions, tfrt_outgoing_withdrawal_run, withdrawal);
}

void tfrt_outgoing_call_withdraw_unrun(tfrt_outgoing_call_t* call,
                                       const tfrt_wire_result_t* result) {
  const tfrt_wire_item_t* item = result->result_count > 0 ? &result->results[0].item : NULL;
  // Mostly an error with that says why.
  tfrt_status_t plain =
      item && item->kind == TFRT_WIRE_ITEM_ERROR
          ? tfrt_wire_error_to_status(item->error)
          : tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "@%s was not run", call->name);
  tfrt_status_t status = tfrt_call_site_locate(&call->site, plain);
  tfrt_outgoing_call_withdraw(call, status);
  tfrt_status_release(status);
  tfrt_status_release(plain);
}
