// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/incoming_want.h"
#include "distributed/value/outgoing_retain.h"
#include "distributed/value/remote_value_impl.h"
#include "distributed/value/value_hooks.h"

struct tfrt_remote_value_homecoming_s {
  tfrt_task_t waiter;
  tfrt_node_t* node;           // +1
  tfrt_remote_value_t* value;  // +0; NULL: it waits no more
  tfrt_async_value_t* own;     // +1; once that is elsewhere, the remote value that it stands for
  bool is_waiting;
};

// Runs with the lock open.
static void tfrt_remote_value_homecoming_free(void* argument) {
  tfrt_remote_value_homecoming_t* homecoming = argument;
  tfrt_node_t* node = homecoming->node;
  tfrt_async_value_release(homecoming->own);
  tfrt_allocator_free(node->options.allocator, homecoming, sizeof(*homecoming));
  tfrt_node_release(node);
}

void tfrt_remote_value_end_homecoming(tfrt_remote_value_t* value) {
  tfrt_remote_value_homecoming_t* homecoming = value->homecoming;
  if (!homecoming) return;
  value->homecoming = NULL;
  homecoming->value = NULL;
  if (homecoming->is_waiting) return;  // the task frees it
  tfrt_action_queue_call(&value->node->actions, tfrt_remote_value_homecoming_free, homecoming);
}

static void tfrt_remote_value_run_homecoming(tfrt_task_t* task);

static void tfrt_remote_value_homecoming_wait(tfrt_remote_value_homecoming_t* homecoming,
                                              tfrt_action_wait_t how) {
  homecoming->is_waiting = true;
  tfrt_task_initialize(&homecoming->waiter, tfrt_remote_value_run_homecoming);
  tfrt_action_queue_wait(&homecoming->node->actions, homecoming->own, how, &homecoming->waiter);
}

// The own value stands for |remote|, so |value| is where |remote| is. |value| keeps |remote|
// itself: the own value would release it once its payload is here.
static void tfrt_remote_value_join(tfrt_remote_value_t* value, tfrt_remote_value_t* remote) {
  tfrt_action_queue_release(&value->node->actions, value->homecoming->own);
  value->homecoming->own = tfrt_async_value_retain(&remote->base.base);
  tfrt_remote_value_note_location(value);
  tfrt_remote_value_locate(value, &remote->location);
  if (tfrt_remote_value_is_resolved(value) || tfrt_remote_value_is_lost(value)) return;
  // The host that gave us the name has no part in this.
  tfrt_list_remove(&value->named);
  if (tfrt_remote_value_is_there(remote)) {
    tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_THERE);
  }
  value->bytes.there = remote->bytes.there;
  if (tfrt_remote_value_is_there(value)) {
    tfrt_remote_value_settle(value, tfrt_async_value_ready_chain());
  }
  value->node->value_hooks->answer_waiting(value);
  tfrt_remote_value_ask_again(value);
}

// The own value that |value| waits for has come, or its payload is elsewhere.
static void tfrt_remote_value_arrive(tfrt_remote_value_t* value) {
  tfrt_async_value_t* own = value->homecoming->own;
  if (tfrt_async_value_is_available(own)) {
    tfrt_remote_value_receive(value, own);
    return;
  }
  tfrt_remote_value_t* remote = tfrt_remote_value_of(value->node, own);
  if (remote && remote->peer && !tfrt_remote_value_is_lost(remote)) {
    tfrt_remote_value_join(value, remote);
  } else {
    // It is on its way, or was lost by now and may come from somewhere else.
    tfrt_remote_value_homecoming_wait(value->homecoming, TFRT_ACTION_AND_THEN);
  }
  if (remote) tfrt_remote_value_release(remote);
}

// Runs when the own value is settled, or here.
static void tfrt_remote_value_run_homecoming(tfrt_task_t* task) {
  tfrt_remote_value_homecoming_t* homecoming =
      TFRT_CONTAINER_OF(task, tfrt_remote_value_homecoming_t, waiter);
  tfrt_node_t* node = tfrt_node_retain(homecoming->node);
  tfrt_node_lock_tables(node);
  homecoming->is_waiting = false;
  tfrt_remote_value_t* value = homecoming->value;
  if (!value) {
    tfrt_action_queue_call(&node->actions, tfrt_remote_value_homecoming_free, homecoming);
  } else if (tfrt_async_value_try_retain(&value->base.base)) {
    tfrt_remote_value_arrive(value);
    tfrt_remote_value_release(value);
  }  // else its end, which is under way, frees it
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Has |value| wait for |own| (+0). False without memory.
static bool tfrt_remote_value_start_homecoming(tfrt_remote_value_t* value,
                                               tfrt_async_value_t* own) {
  tfrt_node_t* node = value->node;
  tfrt_remote_value_homecoming_t* homecoming =
      tfrt_allocator_allocate_zeroed(node->options.allocator, sizeof(*homecoming));
  if (!homecoming) return false;
  homecoming->node = tfrt_node_retain(node);
  homecoming->value = value;
  homecoming->own = tfrt_async_value_retain(own);
  value->homecoming = homecoming;
  tfrt_remote_value_unlink_peers(value);
  tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_COMING_HOME);
  tfrt_remote_value_homecoming_wait(homecoming, TFRT_ACTION_AWAIT);
  return true;
}

void tfrt_remote_value_stand_for(tfrt_remote_value_t* value, tfrt_async_value_t* own) {
  if (tfrt_remote_value_is_lost(value)) {
    tfrt_outgoing_retain_give_up(value);
    tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_UNKNOWN);
  }
  if (tfrt_async_value_is_available(own)) {
    tfrt_remote_value_receive(value, own);
  } else if (!value->rerun.call || !tfrt_remote_value_start_homecoming(value, own)) {
    tfrt_remote_value_forward(value, own);
  }
}

void tfrt_remote_value_come_home(tfrt_remote_value_t* value,
                                 const tfrt_wire_reference_t* reference) {
  tfrt_async_value_t* own = tfrt_incoming_want_own_value(value->job, reference);
  tfrt_remote_value_stand_for(value, own);
  tfrt_action_queue_release(&value->node->actions, own);
}
