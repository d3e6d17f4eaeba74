// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/incoming_gate.h"

#include "distributed/call/incoming_call.h"
#include "distributed/value/outgoing_hold.h"

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

// True if |remote|, an argument or its cover, is lent, and a user of it would need its owner.
static bool tfrt_incoming_call_may_be_needed(const tfrt_remote_value_t* remote) {
  return tfrt_incoming_call_is_lent(remote) && (remote->telling.is_told || remote->parts.is_cover ||
                                                !tfrt_remote_value_is_resolved(remote));
}

// Argument |index|, or its cover if it is a list, if that may be needed again; else NULL.
static tfrt_remote_value_t* tfrt_incoming_call_borrowed(const tfrt_incoming_call_t* call,
                                                        uint32_t index) {
  tfrt_async_value_t* value = call->execution.arguments[index];
  tfrt_remote_value_t* remote = value ? tfrt_remote_value_cast(value) : NULL;
  if (remote) remote = tfrt_remote_value_holding(remote);
  return tfrt_incoming_call_may_be_needed(remote) ? remote : NULL;
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

// True if an argument, or what a result is, was lent and may have to be held.
static bool tfrt_incoming_call_has_borrowed(const tfrt_incoming_call_t* call) {
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

// --- The call's own references -----------------------------------------------

// The caller knows that result |index| is an argument: its slot keeps only the name of that, by a
// placeholder of its own. Without memory, or while the owner is not known, the slot keeps the
// argument, which is held then.
static void tfrt_incoming_call_leave_slot(tfrt_incoming_call_t* call, uint32_t index) {
  tfrt_object_t* slot = tfrt_incoming_call_slot(call, index);
  if (!slot || !slot->is_alias) return;
  tfrt_async_value_t* argument = call->execution.arguments[call->same_as[index] - 1];
  tfrt_remote_value_t* twin = tfrt_remote_value_create_twin(tfrt_remote_value_cast(argument));
  if (!twin) return;
  tfrt_object_table_tell(call->execution.node->objects, slot, &twin->base.base);
  tfrt_remote_value_release(twin);
}

// The caller knows all results: the call releases its own references to them, and to its arguments.
// From here on it watches each argument that may be needed again: that stays as long as somebody
// else uses it.
static void tfrt_incoming_call_leave(tfrt_incoming_call_t* call) {
  tfrt_execution_t* execution = &call->execution;
  tfrt_action_queue_t* actions = &execution->node->actions;
  for (uint32_t i = 0; i < execution->result_count; ++i) {
    uint32_t same_as = call->same_as[i];
    if (same_as && tfrt_incoming_call_borrowed(call, same_as - 1)) {
      tfrt_incoming_call_leave_slot(call, i);
    }
    tfrt_action_queue_release(actions, execution->results[i].value);
    execution->results[i].value = NULL;
  }
  for (uint32_t j = 0; j < execution->argument_count; ++j) {
    tfrt_remote_value_t* remote = tfrt_incoming_call_borrowed(call, j);
    if (!remote) continue;
    tfrt_remote_value_watch(remote, &call->gate.watches[j]);
    call->gate.has_list |= remote->parts.is_cover;
  }
  for (uint32_t j = 0; j < execution->argument_count; ++j) {
    tfrt_action_queue_release(actions, execution->arguments[j]);
    execution->arguments[j] = NULL;
  }
}

static void tfrt_incoming_call_end_watches(tfrt_incoming_call_t* call) {
  for (uint32_t j = 0; j < call->execution.argument_count; ++j) {
    tfrt_remote_value_end_watch(&call->gate.watches[j]);
  }
}

void tfrt_incoming_call_fail_watched(tfrt_incoming_call_t* call, tfrt_status_t reason) {
  for (uint32_t j = 0; j < call->execution.argument_count; ++j) {
    tfrt_remote_value_t* remote = tfrt_remote_value_watched(&call->gate.watches[j]);
    if (!remote) continue;
    tfrt_remote_value_fail(remote, reason);
    tfrt_remote_value_release(remote);
  }
}

// --- The gate ----------------------------------------------------------------

// Has |remote| held for this host; the call waits for that with |gate|.
static void tfrt_incoming_call_retain(tfrt_incoming_call_t* call, tfrt_remote_value_t* remote,
                                      tfrt_incoming_gate_wait_t* gate) {
  tfrt_async_value_t* registered = tfrt_outgoing_hold_ask(remote);
  // Without memory the value can't be held; a later user may find that it is gone.
  if (!registered) return;
  ++call->gate.open_count;
  tfrt_execution_retain(&call->execution);
  gate->call = call;
  tfrt_task_initialize(&gate->task, tfrt_incoming_call_run_gate);
  tfrt_action_queue_wait(&call->execution.node->actions, registered, TFRT_ACTION_WATCH,
                         &gate->task);
}

// Runs once, when nothing of the call runs any more, and the call has left its arguments: others
// use those that are still there.
static void tfrt_incoming_call_close_gate(tfrt_incoming_call_t* call) {
  uint32_t argument_count = call->execution.argument_count;
  for (uint32_t j = 0; j < argument_count; ++j) {
    tfrt_remote_value_t* remote = tfrt_remote_value_watched(&call->gate.watches[j]);
    tfrt_remote_value_end_watch(&call->gate.watches[j]);
    if (!remote) continue;
    if (tfrt_incoming_call_may_be_needed(remote)) {
      tfrt_incoming_call_retain(call, remote, &call->gate.waits[j]);
    }
    tfrt_remote_value_release(remote);
  }
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    tfrt_remote_value_t* remote = tfrt_incoming_call_told(call, i);
    if (remote) tfrt_incoming_call_retain(call, remote, &call->gate.waits[argument_count + i]);
  }
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
  tfrt_incoming_gate_t* gate = &call->gate;
  if (gate->state == TFRT_INCOMING_GATE_CLOSED || !tfrt_execution_is_retired(&call->execution)) {
    return;
  }
  if (!call->peer) {
    tfrt_incoming_call_end_watches(call);
    gate->state = TFRT_INCOMING_GATE_CLOSED;
    return;
  }
  bool is_due = gate->state == TFRT_INCOMING_GATE_DUE ||
                (gate->state == TFRT_INCOMING_GATE_OPEN && !tfrt_incoming_call_has_borrowed(call));
  if (!is_due) return;
  gate->state = TFRT_INCOMING_GATE_CLOSED;
  tfrt_incoming_call_close_gate(call);
}

void tfrt_incoming_call_try_leave(tfrt_incoming_call_t* call) {
  tfrt_incoming_gate_t* gate = &call->gate;
  bool is_open = gate->state == TFRT_INCOMING_GATE_OPEN && call->peer;
  if (!is_open || !tfrt_execution_is_retired(&call->execution)) return;
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    if (call->states[i] != TFRT_INCOMING_RESULT_TOLD) return;
  }
  gate->state = TFRT_INCOMING_GATE_WAITING;
  tfrt_incoming_call_leave(call);
  tfrt_execution_retain(&call->execution);
  tfrt_action_queue_call(&call->execution.node->actions, tfrt_incoming_call_run_due, call);
}
