// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/incoming_call_impl.h"
#include "distributed/value/outgoing_retain.h"

// Runs when the owner of an argument that is kept holds it for this host.
static void tfrt_incoming_call_run_gate(tfrt_task_t* task) {
  tfrt_incoming_gate_wait_t* gate = TFRT_CONTAINER_OF(task, tfrt_incoming_gate_wait_t, task);
  tfrt_incoming_call_t* call = gate->call;
  tfrt_node_t* node = tfrt_node_retain(call->execution.node);
  tfrt_node_lock_tables(node);
  --call->gate.open_count;
  tfrt_incoming_call_flush_later(call);
  tfrt_execution_release(&call->execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// True if |remote| (NULL: no) was lent to this host, and its owner does not hold it for us. A value
// that was lent for a call has no |place.function|.
static bool tfrt_incoming_call_is_lent(const tfrt_remote_value_t* remote) {
  return remote && !remote->held && !remote->place.function;
}

// Argument |index|, or its cover if it is a list, if that is lent and may be needed again; else
// NULL.
static tfrt_remote_value_t* tfrt_incoming_call_borrowed(tfrt_incoming_call_t* call,
                                                        uint32_t index) {
  tfrt_remote_value_t* remote = tfrt_remote_value_cast(call->execution.arguments[index]);
  if (remote) remote = tfrt_remote_value_holding(remote);
  bool may_be_needed =
      tfrt_incoming_call_is_lent(remote) &&
      (remote->telling.is_told || remote->parts.is_cover || !tfrt_remote_value_is_resolved(remote));
  return may_be_needed ? remote : NULL;
}

// The value that this host said result |index| is, if that value is lent, perhaps to another call,
// which has released it; else NULL.
static tfrt_remote_value_t* tfrt_incoming_call_told(tfrt_incoming_call_t* call, uint32_t index) {
  const tfrt_object_t* slot = tfrt_incoming_call_slot(call, index);
  tfrt_remote_value_t* remote =
      slot && slot->kept.value ? tfrt_remote_value_cast(slot->kept.value) : NULL;
  if (remote) remote = tfrt_remote_value_holding(remote);
  return tfrt_incoming_call_is_lent(remote) ? remote : NULL;
}

// The number of references to |value| of results that the caller knows to be argument |index|. Each
// result has one, and so has its slot in the table, if the caller still has the slot.
static uint32_t tfrt_incoming_call_count_same(tfrt_incoming_call_t* call, uint32_t index,
                                              const tfrt_async_value_t* value) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    if (call->same_as[i] != index + 1 || call->execution.results[i].value != value) continue;
    ++count;
    const tfrt_object_t* slot = tfrt_incoming_call_slot(call, i);
    if (slot && slot->value == value) ++count;
  }
  return count;
}

// True if |result|, a placeholder that the caller knows to be |argument|, leads to it for its
// |count| holders alone: neither |result| nor a placeholder on the way has another user. Then one
// reference to |argument| is that of the holders. Another one is ours, and is given back when the
// lock is opened.
static bool tfrt_incoming_call_leads_alone(tfrt_incoming_call_t* call, tfrt_async_value_t* result,
                                           const tfrt_async_value_t* argument, uint32_t count) {
  tfrt_action_queue_t* actions = &call->execution.node->actions;
  tfrt_async_value_t* value = tfrt_async_value_retain(result);
  bool is_alone = true;
  while (value && value != argument && is_alone) {
    // Two more references are expected: ours, and the one that the placeholder has to itself while
    // it waits for its target. Acquire: pairs with the releases of others' references.
    is_alone = value->kind == TFRT_ASYNC_VALUE_INDIRECT &&
               atomic_load_explicit(&value->count, memory_order_acquire) <= count + 2;
    tfrt_async_value_t* target =
        is_alone ? tfrt_indirect_value_target((tfrt_indirect_value_t*)value) : NULL;
    tfrt_action_queue_release(actions, value);
    value = target;
    count = 1;
  }
  tfrt_action_queue_release(actions, value);
  return is_alone && value;
}

// True if result |i| is a placeholder, not resolved yet, that the caller knows to be argument
// |index|, and no result before it is the same one. A resolved placeholder has the argument's final
// value, and not the argument.
static bool tfrt_incoming_call_leads_to(const tfrt_incoming_call_t* call, uint32_t i,
                                        uint32_t index) {
  tfrt_async_value_t* result = call->execution.results[i].value;
  bool leads_there = call->same_as[i] == index + 1 && result != call->execution.arguments[index] &&
                     !tfrt_async_value_is_available(result);
  for (uint32_t j = 0; j < i && leads_there; ++j) {
    leads_there = call->execution.results[j].value != result;
  }
  return leads_there;
}

// True if argument |index|, which is lent, is used beyond the call: by more than the call's own
// record and the results that the caller knows to be this argument.
static bool tfrt_incoming_call_is_kept(tfrt_incoming_call_t* call, uint32_t index) {
  tfrt_async_value_t* value = call->execution.arguments[index];
  uint32_t expected = 1 + tfrt_incoming_call_count_same(call, index, value);
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    if (!tfrt_incoming_call_leads_to(call, i, index)) continue;
    tfrt_async_value_t* result = call->execution.results[i].value;
    uint32_t count = tfrt_incoming_call_count_same(call, index, result);
    if (!tfrt_incoming_call_leads_alone(call, result, value, count)) return true;
    expected += 2;
  }
  // Acquire: pairs with the releases of others' references.
  if (atomic_load_explicit(&value->count, memory_order_acquire) > expected) return true;
  tfrt_remote_value_t* remote = tfrt_remote_value_cast(value);
  return remote && tfrt_remote_value_has_used_elements(remote);
}

// Has |remote| held for this host; the call waits for that with |gate|.
static void tfrt_incoming_call_retain(tfrt_incoming_call_t* call, tfrt_remote_value_t* remote,
                                      tfrt_incoming_gate_wait_t* gate) {
  tfrt_async_value_t* registered = tfrt_outgoing_retain_send(remote);
  // Without memory the value can't be held; a later user may find that it is gone.
  if (!registered) return;
  ++call->gate.open_count;
  tfrt_execution_retain(&call->execution);
  gate->call = call;
  tfrt_task_initialize(&gate->task, tfrt_incoming_call_run_gate);
  tfrt_action_queue_wait(&call->execution.node->actions, registered, TFRT_ACTION_WATCH,
                         &gate->task);
}

// Runs once, when nothing of the call runs any more.
static void tfrt_incoming_call_close_gate(tfrt_incoming_call_t* call) {
  uint32_t argument_count = call->execution.argument_count;
  for (uint32_t j = 0; j < argument_count; ++j) {
    tfrt_remote_value_t* remote = tfrt_incoming_call_borrowed(call, j);
    if (!remote || !tfrt_incoming_call_is_kept(call, j)) continue;
    tfrt_incoming_call_retain(call, remote, &call->gate.waits[j]);
  }
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    tfrt_remote_value_t* remote = tfrt_incoming_call_told(call, i);
    if (remote) tfrt_incoming_call_retain(call, remote, &call->gate.waits[argument_count + i]);
  }
}

// True if an argument, or what a result is, was lent and may have to be held.
static bool tfrt_incoming_call_has_borrowed(tfrt_incoming_call_t* call) {
  for (uint32_t j = 0; j < call->execution.argument_count; ++j) {
    if (tfrt_incoming_call_borrowed(call, j)) return true;
  }
  bool has_borrowed = false;
  for (uint32_t i = 0; i < call->execution.result_count && !has_borrowed; ++i) {
    tfrt_async_value_t* value = call->execution.results[i].value;
    tfrt_remote_value_t* remote = value ? tfrt_remote_value_of(call->execution.node, value) : NULL;
    has_borrowed = tfrt_incoming_call_is_lent(remote);
    if (remote) tfrt_remote_value_release(remote);
  }
  return has_borrowed;
}

// True if an argument is a list that came.
static bool tfrt_incoming_call_has_list(tfrt_incoming_call_t* call) {
  for (uint32_t j = 0; j < call->execution.argument_count; ++j) {
    const tfrt_remote_value_t* remote = tfrt_incoming_call_borrowed(call, j);
    if (remote && remote->parts.is_cover) return true;
  }
  return false;
}

static void tfrt_incoming_call_close_soon(tfrt_incoming_call_t* call) {
  tfrt_node_t* node = tfrt_node_retain(call->execution.node);
  tfrt_node_lock_tables(node);
  // The caller may have died meanwhile: then the gate is closed already.
  if (call->gate.state == TFRT_INCOMING_GATE_WAITING) call->gate.state = TFRT_INCOMING_GATE_DUE;
  tfrt_incoming_call_flush_later(call);
  tfrt_execution_release(&call->execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static void tfrt_incoming_call_run_due_task(tfrt_task_t* task) {
  tfrt_incoming_call_close_soon(TFRT_CONTAINER_OF(task, tfrt_incoming_call_t, gate.due));
}

// Runs after the releases of the references that this host had in passing. If the arrival of a list
// ended the call, it runs within these releases, and more are still to come.
static void tfrt_incoming_call_run_due(void* argument) {
  tfrt_incoming_call_t* call = argument;
  if (!call->gate.has_list) {
    tfrt_incoming_call_close_soon(call);
    return;
  }
  tfrt_work_queue_t* work_queue = call->execution.node->options.host->work_queue;
  tfrt_task_initialize(&call->gate.due, tfrt_incoming_call_run_due_task);
  tfrt_work_queue_add_task(work_queue, &call->gate.due);
}

void tfrt_incoming_call_advance_gate(tfrt_incoming_call_t* call) {
  bool is_closed = call->gate.state == TFRT_INCOMING_GATE_CLOSED;
  if (is_closed || !tfrt_execution_is_retired(&call->execution)) return;
  if (call->peer && call->gate.state != TFRT_INCOMING_GATE_DUE &&
      tfrt_incoming_call_has_borrowed(call)) {
    if (call->gate.state == TFRT_INCOMING_GATE_WAITING) return;
    call->gate.state = TFRT_INCOMING_GATE_WAITING;
    call->gate.has_list = tfrt_incoming_call_has_list(call);
    tfrt_execution_retain(&call->execution);
    tfrt_action_queue_call(&call->execution.node->actions, tfrt_incoming_call_run_due, call);
    return;
  }
  call->gate.state = TFRT_INCOMING_GATE_CLOSED;
  if (call->peer) tfrt_incoming_call_close_gate(call);
}
