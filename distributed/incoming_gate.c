// SPDX-License-Identifier: Apache-2.0
#include "distributed/incoming_call_impl.h"

// Runs when the payload of an argument that is kept is here.
static void tfrt_incoming_call_run_gate(tfrt_task_t* task) {
  tfrt_incoming_gate_t* gate = TFRT_CONTAINER_OF(task, tfrt_incoming_gate_t, task);
  tfrt_incoming_call_t* call = gate->call;
  tfrt_node_t* node = tfrt_node_retain(call->execution.node);
  tfrt_node_lock_tables(node);
  --call->gated;
  tfrt_incoming_call_flush_later(call);
  tfrt_execution_release(&call->execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// True if argument |index|, which is lent and not here, is used beyond the call: by more than
// the call's own record and the slots that the caller knows to be this argument.
static bool tfrt_incoming_call_is_kept(tfrt_incoming_call_t* call, uint32_t index) {
  uint32_t expected = 2;  // the record's, and that of whoever looks
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    if (call->same_as[i] != index + 1) continue;
    // The result's own, and the slot's target.
    expected += 2;
  }
  tfrt_async_value_t* value = call->execution.arguments[index];
  // Acquire: pairs with the releases of others' references.
  return atomic_load_explicit(&value->count, memory_order_acquire) > expected;
}

// Runs once, when nothing of the call runs any more.
static void tfrt_incoming_call_close_gate(tfrt_incoming_call_t* call) {
  tfrt_node_t* node = call->execution.node;
  for (uint32_t j = 0; j < call->execution.argument_count; ++j) {
    tfrt_async_value_t* argument = call->execution.arguments[j];
    tfrt_remote_value_t* remote = tfrt_remote_value_of(node, argument);
    if (!remote) continue;
    bool kept = &remote->base.base == argument && tfrt_incoming_call_is_kept(call, j);
    tfrt_remote_value_release(remote);
    if (!kept) continue;
    ++call->gated;
    tfrt_execution_retain(&call->execution);
    call->gates[j].call = call;
    tfrt_task_initialize(&call->gates[j].task, tfrt_incoming_call_run_gate);
    tfrt_action_queue_wait(&node->actions, argument, TFRT_ACTION_AND_THEN, &call->gates[j].task);
  }
}

// True if an argument was lent and isn't here.
static bool tfrt_incoming_call_has_borrowed(tfrt_incoming_call_t* call) {
  bool has_borrowed = false;
  for (uint32_t j = 0; j < call->execution.argument_count && !has_borrowed; ++j) {
    tfrt_remote_value_t* remote =
        tfrt_remote_value_of(call->execution.node, call->execution.arguments[j]);
    if (!remote) continue;
    has_borrowed = true;
    tfrt_remote_value_release(remote);
  }
  return has_borrowed;
}

void tfrt_incoming_call_advance_gate(tfrt_incoming_call_t* call) {
  if (!call->execution.retired || call->gate_is_closed) return;
  bool must_wait = call->peer && !call->gate_is_due && tfrt_incoming_call_has_borrowed(call);
  if (must_wait) {
    call->gate_is_due = true;
    tfrt_incoming_call_flush_later(call);
    return;
  }
  call->gate_is_closed = true;
  if (call->peer) tfrt_incoming_call_close_gate(call);
}
