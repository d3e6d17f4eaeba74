// SPDX-License-Identifier: Apache-2.0

#include <assert.h>

#include "distributed/call/incoming_call.h"
#include "distributed/value/outgoing_hold.h"

void tfrt_incoming_gate_set_state(tfrt_incoming_gate_t* gate, tfrt_incoming_gate_state_t state) {
#ifndef NDEBUG
#define TFRT_INCOMING_GATE_BIT(name) (1u << TFRT_INCOMING_GATE_##name)
  // The states that may follow each state.
  static const uint32_t next_states[] = {
      [TFRT_INCOMING_GATE_OPEN] = TFRT_INCOMING_GATE_BIT(LEAVING_LIST) |
                                  TFRT_INCOMING_GATE_BIT(LEAVING) |
                                  TFRT_INCOMING_GATE_BIT(HOLDING) | TFRT_INCOMING_GATE_BIT(PASSED),
      [TFRT_INCOMING_GATE_LEAVING_LIST] =
          TFRT_INCOMING_GATE_BIT(LEAVING) | TFRT_INCOMING_GATE_BIT(PASSED),
      [TFRT_INCOMING_GATE_LEAVING] = TFRT_INCOMING_GATE_BIT(DUE) | TFRT_INCOMING_GATE_BIT(PASSED),
      [TFRT_INCOMING_GATE_DUE] = TFRT_INCOMING_GATE_BIT(HOLDING) | TFRT_INCOMING_GATE_BIT(PASSED),
      [TFRT_INCOMING_GATE_HOLDING] = TFRT_INCOMING_GATE_BIT(PASSED),
      [TFRT_INCOMING_GATE_PASSED] = 0,
  };
  assert(next_states[gate->state] & (1u << state));
#endif
  gate->state = state;
}

// Runs when the owner of an argument that is kept holds it for this host.
static void incoming_call_run_gate(tfrt_task_t* task) {
  tfrt_incoming_gate_wait_t* gate = TFRT_CONTAINER_OF(task, tfrt_incoming_gate_wait_t, task);
  tfrt_incoming_call_t* call = gate->call;
  tfrt_node_t* node = tfrt_node_retain(call->execution.node);
  tfrt_node_lock_tables(node);
  if (--call->gate.open_count == 0) {
    tfrt_incoming_gate_set_state(&call->gate, TFRT_INCOMING_GATE_PASSED);
  }
  tfrt_incoming_call_flush_later(call);
  tfrt_execution_release(&call->execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// True if |remote| (NULL: no) was lent to this host, and its owner does not hold it for us. A value
// that was lent for a call has no |place.function|.
static bool incoming_call_is_lent(const tfrt_remote_value_t* remote) {
  return remote && !remote->held && !remote->place.function;
}

// True if |remote|, an argument or its cover, is lent, and a user of it would need its owner.
static bool incoming_call_may_be_needed(const tfrt_remote_value_t* remote) {
  return incoming_call_is_lent(remote) && (remote->telling.is_told || remote->parts.is_cover ||
                                           !tfrt_remote_value_is_resolved(remote));
}

// Argument |index|, or its cover if it is a list, if that may be needed again; else NULL.
static tfrt_remote_value_t* incoming_call_borrowed(const tfrt_incoming_call_t* call,
                                                   uint32_t index) {
  tfrt_async_value_t* value = call->execution.arguments[index];
  tfrt_remote_value_t* remote = value ? tfrt_remote_value_cast(value) : NULL;
  if (remote) remote = tfrt_remote_value_holding(remote);
  return incoming_call_may_be_needed(remote) ? remote : NULL;
}

// The value that this host said result |index| is, if that value is lent, perhaps to another call,
// which has released it; else NULL.
static tfrt_remote_value_t* incoming_call_told(tfrt_incoming_call_t* call, uint32_t index) {
  const tfrt_object_t* slot = tfrt_incoming_call_slot(call, index);
  tfrt_remote_value_t* remote =
      slot && slot->kept.value ? tfrt_remote_value_cast(slot->kept.value) : NULL;
  if (remote) remote = tfrt_remote_value_holding(remote);
  return incoming_call_is_lent(remote) ? remote : NULL;
}

// True if an argument, or what a result is, was lent and may have to be held.
static bool incoming_call_has_borrowed(const tfrt_incoming_call_t* call) {
  for (uint32_t j = 0; j < call->execution.argument_count; ++j) {
    if (incoming_call_borrowed(call, j)) return true;
  }
  bool has_borrowed = false;
  for (uint32_t i = 0; i < call->execution.result_count && !has_borrowed; ++i) {
    tfrt_async_value_t* value = call->execution.results[i].value;
    tfrt_remote_value_t* remote = value ? tfrt_remote_value_of(call->execution.node, value) : NULL;
    has_borrowed = incoming_call_is_lent(remote);
    if (remote) tfrt_remote_value_release(remote);
  }
  return has_borrowed;
}

// --- The call's own references -----------------------------------------------

// Creates another placeholder (+1) for what |value|, which was lent to us, is, under the same loan.
// NULL if the owner of |value| is not known just now, or must not be asked yet, or memory is out.
static tfrt_remote_value_t* incoming_gate_create_twin(const tfrt_remote_value_t* value) {
  bool is_known = value->peer || tfrt_remote_value_is_resolved(value);
  bool is_lost = tfrt_remote_value_is_lost(value);
  if (!is_known || is_lost || value->order || value->parts.within) return NULL;
  const tfrt_remote_value_loan_t loan = {.lender = value->borrowing.lender,
                                         .user = value->borrowing.user,
                                         .user_function = value->borrowing.user_function};
  tfrt_remote_value_t* twin =
      tfrt_remote_value_create_blank(value->job, &value->name, false, &loan);
  if (!twin) return NULL;
  twin->borrowing.given = value->borrowing.given;
  twin->borrowing.lent_by = value->borrowing.lent_by;
  twin->telling = value->telling;
  twin->place = value->place;
  twin->place.texts = tfrt_status_retain(value->place.texts);
  tfrt_remote_value_set_device(twin, value->device);
  tfrt_remote_value_locate(twin, &value->location);
  if (tfrt_remote_value_is_there(value) && twin->state == TFRT_REMOTE_VALUE_UNKNOWN) {
    tfrt_remote_value_set_state(twin, TFRT_REMOTE_VALUE_THERE);
    twin->bytes.there = value->bytes.there;
  }
  return twin;
}

// The caller knows that result |index| is an argument: its slot keeps only the name of that, by a
// placeholder of its own. Without memory, or while the owner is not known, the slot keeps the
// argument, which is held then.
static void incoming_call_leave_slot(tfrt_incoming_call_t* call, uint32_t index) {
  tfrt_object_t* slot = tfrt_incoming_call_slot(call, index);
  if (!slot || !slot->is_alias) return;
  tfrt_async_value_t* argument = call->execution.arguments[call->same_as[index] - 1];
  tfrt_remote_value_t* twin = incoming_gate_create_twin(tfrt_remote_value_cast(argument));
  if (!twin) return;
  tfrt_object_table_tell(call->execution.node->objects, slot, &twin->base.base);
  tfrt_remote_value_release(twin);
}

// The caller knows all results: the call releases its own references to them, and to its arguments.
// From here on it watches each argument that may be needed again: that stays as long as somebody
// else uses it. Returns true if one of them is a list.
static bool incoming_call_leave(tfrt_incoming_call_t* call) {
  tfrt_execution_t* execution = &call->execution;
  tfrt_action_queue_t* actions = &execution->node->actions;
  for (uint32_t i = 0; i < execution->result_count; ++i) {
    uint32_t same_as = call->same_as[i];
    if (same_as && incoming_call_borrowed(call, same_as - 1)) {
      incoming_call_leave_slot(call, i);
    }
    tfrt_action_queue_release(actions, execution->results[i].value);
    execution->results[i].value = NULL;
  }
  bool has_list = false;
  for (uint32_t j = 0; j < execution->argument_count; ++j) {
    tfrt_remote_value_t* remote = incoming_call_borrowed(call, j);
    if (!remote) continue;
    tfrt_remote_value_watch(remote, &call->gate.watches[j]);
    has_list |= remote->parts.is_cover;
  }
  for (uint32_t j = 0; j < execution->argument_count; ++j) {
    tfrt_action_queue_release(actions, execution->arguments[j]);
    execution->arguments[j] = NULL;
  }
  return has_list;
}

// Ends |watch|, if it was begun.
static void incoming_gate_end_watch(tfrt_remote_value_watch_t* watch) {
  if (watch->value) tfrt_list_remove(&watch->link);
  watch->value = NULL;
}

static void incoming_call_end_watches(tfrt_incoming_call_t* call) {
  for (uint32_t j = 0; j < call->execution.argument_count; ++j) {
    incoming_gate_end_watch(&call->gate.watches[j]);
  }
}

// The call is cancelled: ends the waits for arguments that it has left.
static void incoming_gate_fail_watched(tfrt_incoming_call_t* call) {
  for (uint32_t j = 0; j < call->execution.argument_count; ++j) {
    tfrt_remote_value_t* remote = tfrt_remote_value_watched(&call->gate.watches[j]);
    if (!remote) continue;
    tfrt_remote_value_fail(remote, call->execution.cancelled);
    tfrt_remote_value_release(remote);
  }
}

// --- The gate ----------------------------------------------------------------

// Has |remote| held for this host; the call waits for that with |gate|.
static void incoming_call_retain(tfrt_incoming_call_t* call, tfrt_remote_value_t* remote,
                                 tfrt_incoming_gate_wait_t* gate) {
  tfrt_async_value_t* registered = tfrt_outgoing_hold_ask(remote);
  // Without memory the value can't be held; a later user may find that it is gone.
  if (!registered) return;
  ++call->gate.open_count;
  tfrt_execution_retain(&call->execution);
  gate->call = call;
  tfrt_task_initialize(&gate->task, incoming_call_run_gate);
  tfrt_action_queue_wait(&call->execution.node->actions, registered, TFRT_ACTION_WATCH,
                         &gate->task);
}

// Runs once, when nothing of the call runs any more, and the call has left its arguments: others
// use those that are still there.
static void incoming_call_hold_all(tfrt_incoming_call_t* call) {
  uint32_t argument_count = call->execution.argument_count;
  for (uint32_t j = 0; j < argument_count; ++j) {
    tfrt_remote_value_t* remote = tfrt_remote_value_watched(&call->gate.watches[j]);
    incoming_gate_end_watch(&call->gate.watches[j]);
    if (!remote) continue;
    if (incoming_call_may_be_needed(remote)) {
      incoming_call_retain(call, remote, &call->gate.waits[j]);
    }
    tfrt_remote_value_release(remote);
  }
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    tfrt_remote_value_t* remote = incoming_call_told(call, i);
    if (remote) incoming_call_retain(call, remote, &call->gate.waits[argument_count + i]);
  }
}

// Runs after the releases of the references that this host had in passing.
static void incoming_call_run_due(void* argument);

// Runs after the task in which the arrival of a list may have ended the call: the releases of the
// list's elements come within that.
static void incoming_call_run_due_task(tfrt_task_t* task) {
  incoming_call_run_due(TFRT_CONTAINER_OF(task, tfrt_incoming_call_t, gate.due));
}

static void incoming_call_run_due(void* argument) {
  tfrt_incoming_call_t* call = argument;
  tfrt_incoming_gate_t* gate = &call->gate;
  tfrt_node_t* node = tfrt_node_retain(call->execution.node);
  tfrt_node_lock_tables(node);
  // The caller may have died meanwhile: then the gate is passed already.
  bool has_list = gate->state == TFRT_INCOMING_GATE_LEAVING_LIST;
  if (has_list) {
    tfrt_incoming_gate_set_state(gate, TFRT_INCOMING_GATE_LEAVING);
  } else {
    if (gate->state == TFRT_INCOMING_GATE_LEAVING) {
      tfrt_incoming_gate_set_state(gate, TFRT_INCOMING_GATE_DUE);
    }
    tfrt_incoming_call_flush_later(call);
    tfrt_execution_release(&call->execution);
  }
  tfrt_node_unlock(node);
  if (has_list) {
    tfrt_task_initialize(&gate->due, incoming_call_run_due_task);
    tfrt_work_queue_add_task(node->options.host->work_queue, &gate->due);
  }
  tfrt_node_release(node);
}

// If the call has retired, and nothing is borrowed or the gate is due: has each lent argument held
// that somebody else uses.
static void incoming_gate_advance(tfrt_incoming_call_t* call) {
  tfrt_incoming_gate_t* gate = &call->gate;
  bool is_past =
      gate->state == TFRT_INCOMING_GATE_HOLDING || gate->state == TFRT_INCOMING_GATE_PASSED;
  if (is_past || !tfrt_execution_is_retired(&call->execution)) return;
  if (!call->peer) {
    incoming_call_end_watches(call);
    tfrt_incoming_gate_set_state(gate, TFRT_INCOMING_GATE_PASSED);
    return;
  }
  bool is_due = gate->state == TFRT_INCOMING_GATE_DUE ||
                (gate->state == TFRT_INCOMING_GATE_OPEN && !incoming_call_has_borrowed(call));
  if (!is_due) return;
  incoming_call_hold_all(call);
  tfrt_incoming_gate_set_state(
      gate, gate->open_count > 0 ? TFRT_INCOMING_GATE_HOLDING : TFRT_INCOMING_GATE_PASSED);
}

// If the call has retired, the caller knows all its results, and something is borrowed: gives back
// the call's own references to its arguments and results. The gate is due when the deferred
// releases of that have run. An argument that is there even then has another user.
static void incoming_gate_try_leave(tfrt_incoming_call_t* call) {
  tfrt_incoming_gate_t* gate = &call->gate;
  bool is_open = gate->state == TFRT_INCOMING_GATE_OPEN && call->peer;
  if (!is_open || !tfrt_execution_is_retired(&call->execution)) return;
  for (uint32_t i = 0; i < call->execution.result_count; ++i) {
    if (call->states[i] != TFRT_INCOMING_RESULT_TOLD) return;
  }
  bool has_list = incoming_call_leave(call);
  tfrt_incoming_gate_set_state(
      gate, has_list ? TFRT_INCOMING_GATE_LEAVING_LIST : TFRT_INCOMING_GATE_LEAVING);
  tfrt_execution_retain(&call->execution);
  tfrt_action_queue_call(&call->execution.node->actions, incoming_call_run_due, call);
}

void tfrt_incoming_gate_note(tfrt_incoming_call_t* call, tfrt_incoming_gate_event_t event) {
  switch (event) {
    case TFRT_INCOMING_GATE_ON_FLUSH:
      incoming_gate_advance(call);
      break;
    case TFRT_INCOMING_GATE_ON_TOLD:
      incoming_gate_try_leave(call);
      break;
    case TFRT_INCOMING_GATE_ON_CANCEL:
      incoming_gate_fail_watched(call);
      break;
  }
}
