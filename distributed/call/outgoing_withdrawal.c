// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/outgoing_call_impl.h"
#include "host_runtime/executor/kernel/withdrawal.h"

typedef struct tfrt_outgoing_withdrawal_s {
  tfrt_outgoing_call_t* call;  // +1
  tfrt_status_t reason;        // +1
} tfrt_outgoing_withdrawal_t;

// Runs with the lock open.
static void tfrt_outgoing_withdrawal_run(void* argument) {
  tfrt_outgoing_withdrawal_t* withdrawal = argument;
  tfrt_outgoing_call_t* call = withdrawal->call;
  tfrt_node_t* node = tfrt_node_retain(call->node);
  tfrt_execution_context_t context = tfrt_host_context_execution(node->options.host, call->request);
  tfrt_kernel_site_withdraw(call->site.kernel, &context, withdrawal->reason);
  tfrt_status_release(withdrawal->reason);
  tfrt_allocator_free(node->options.allocator, withdrawal, sizeof(*withdrawal));
  tfrt_node_lock_tables(node);
  tfrt_outgoing_call_release(call);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_outgoing_call_withdraw(tfrt_outgoing_call_t* call, tfrt_status_t reason) {
  // What is over anyway tells everybody by that.
  bool all_know =
      !call->request || call->job->closed || tfrt_request_context_cancelled(call->request) != NULL;
  if (all_know || !call->site.kernel || !tfrt_kernel_site_withdraws(call->site.kernel)) return;
  tfrt_outgoing_withdrawal_t* withdrawal =
      tfrt_allocator_allocate_zeroed(call->node->options.allocator, sizeof(*withdrawal));
  if (!withdrawal) return;
  tfrt_ref_count_increment(&call->ref_count);
  withdrawal->call = call;
  withdrawal->reason = tfrt_status_retain(reason);
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
