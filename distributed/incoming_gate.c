// SPDX-License-Identifier: Apache-2.0
#include "distributed/incoming_call_impl.h"
#include "distributed/outgoing_retain.h"

// Runs when the owner of an argument that is kept holds it for this host.
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

// Argument |index|, if it was lent to us by another host than its owner holds it for; else NULL.
static tfrt_remote_value_t* tfrt_incoming_call_borrowed(tfrt_incoming_call_t* call,
                                                        uint32_t index) {
  tfrt_remote_value_t* remote = tfrt_remote_value_cast(call->execution.arguments[index]);
  // What was lent for a call has no function that it is the result of.
  bool is_lent = remote && !remote->held && !remote->function;
  return is_lent && (remote->is_told || !remote->resolved) ? remote : NULL;
}

// True if argument |index|, which is lent, is used beyond the call: by more than the call's own
// record and the slots that the caller knows to be this argument.
static bool tfrt_incoming_call_is_kept(tfrt_incoming_call_t* call, uint32_t index) {
  uint32_t expected = 1;
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    if (call->same_as[i] != index + 1) continue;
    // The result's own, the slot's target, and the slot's in the table.
    expected += 3;
  }
  tfrt_async_value_t* value = call->execution.arguments[index];
  // Acquire: pairs with the releases of others' references.
  return atomic_load_explicit(&value->count, memory_order_acquire) > expected;
}

// Runs once, when nothing of the call runs any more.
static void tfrt_incoming_call_close_gate(tfrt_incoming_call_t* call) {
  tfrt_node_t* node = call->execution.node;
  for (uint32_t j = 0; j < call->execution.argument_count; ++j) {
    tfrt_remote_value_t* remote = tfrt_incoming_call_borrowed(call, j);
    if (!remote || !tfrt_incoming_call_is_kept(call, j)) continue;
    tfrt_async_value_t* registered = tfrt_outgoing_retain_send(remote);
    // Without memory it can't be held; who uses it later may learn that it is gone.
    if (!registered) continue;
    ++call->gated;
    tfrt_execution_retain(&call->execution);
    call->gates[j].call = call;
    tfrt_task_initialize(&call->gates[j].task, tfrt_incoming_call_run_gate);
    tfrt_action_queue_wait(&node->actions, registered, TFRT_ACTION_WATCH, &call->gates[j].task);
  }
}

// True if an argument was lent and may have to be held.
static bool tfrt_incoming_call_has_borrowed(tfrt_incoming_call_t* call) {
  for (uint32_t j = 0; j < call->execution.argument_count; ++j) {
    if (tfrt_incoming_call_borrowed(call, j)) return true;
  }
  return false;
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
