// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/remote_value.h"

#include "distributed/domain/job.h"
#include "distributed/value/incoming_want.h"
#include "distributed/value/list_item.h"
#include "distributed/value/outgoing_hold.h"
#include "distributed/value/outgoing_want.h"
#include "distributed/value/value_item.h"

// --- Names and places -------------------------------------------------------

// Remembers what |value| is called, and where it was. When memory is out, hosts that know it by
// either will hear that it is lost.
static void remote_value_add_past(tfrt_remote_value_t* value, bool held) {
  tfrt_remote_value_past_t* past =
      tfrt_allocator_allocate(value->node->options.allocator, sizeof(*past));
  if (past) {
    *past = (tfrt_remote_value_past_t){
        .next = value->past, .name = value->name, .location = value->location, .held = held};
    value->past = past;
  } else if (held) {
    tfrt_remote_value_release_hold(value, &value->name);
  }
}

// |value|, which has another location next, may have been lent as what it is now: remembers that.
static void remote_value_note_location(tfrt_remote_value_t* value) {
  if (tfrt_wire_reference_same(&value->location, &value->name)) return;
  remote_value_add_past(value, false);
}

// --- Values of this host ----------------------------------------------------

struct tfrt_remote_value_homecoming_s {
  tfrt_task_t waiter;
  tfrt_node_t* node;           // +1
  tfrt_remote_value_t* value;  // +0; NULL: it waits no more
  tfrt_async_value_t* own;     // +1; once that is elsewhere, the remote value that it stands for
  bool is_waiting;
};

// Runs with the lock open.
static void remote_value_homecoming_free(void* argument) {
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
  tfrt_action_queue_call(&value->node->actions, remote_value_homecoming_free, homecoming);
}

static void remote_value_run_homecoming(tfrt_task_t* task);

static void remote_value_homecoming_wait(tfrt_remote_value_homecoming_t* homecoming,
                                         tfrt_action_wait_t how) {
  homecoming->is_waiting = true;
  tfrt_task_initialize(&homecoming->waiter, remote_value_run_homecoming);
  tfrt_action_queue_wait(&homecoming->node->actions, homecoming->own, how, &homecoming->waiter);
}

// The own value stands for |remote|, so |value| is where |remote| is. |value| keeps |remote|
// itself: the own value would release it once its payload is here.
static void remote_value_join(tfrt_remote_value_t* value, tfrt_remote_value_t* remote) {
  tfrt_action_queue_release(&value->node->actions, value->homecoming->own);
  value->homecoming->own = tfrt_async_value_retain(&remote->base.base);
  remote_value_note_location(value);
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
static void remote_value_arrive(tfrt_remote_value_t* value) {
  tfrt_async_value_t* own = value->homecoming->own;
  bool is_available = tfrt_async_value_is_available(own);
  tfrt_remote_value_t* remote = is_available ? NULL : tfrt_remote_value_of(value->node, own);
  bool may_run_again = value->rerun.call != NULL;
  if (!may_run_again && (is_available || remote)) {
    tfrt_remote_value_forward(value, own);
  } else if (is_available) {
    tfrt_remote_value_receive(value, own);
  } else if (remote && remote->peer && !tfrt_remote_value_is_lost(remote)) {
    remote_value_join(value, remote);
  } else {
    // It is on its way, or was lost by now and may come from somewhere else.
    remote_value_homecoming_wait(value->homecoming, TFRT_ACTION_AND_THEN);
  }
  if (remote) tfrt_remote_value_release(remote);
}

// Runs when the own value is settled, or here.
static void remote_value_run_homecoming(tfrt_task_t* task) {
  tfrt_remote_value_homecoming_t* homecoming =
      TFRT_CONTAINER_OF(task, tfrt_remote_value_homecoming_t, waiter);
  tfrt_node_t* node = tfrt_node_retain(homecoming->node);
  tfrt_node_lock_tables(node);
  homecoming->is_waiting = false;
  tfrt_remote_value_t* value = homecoming->value;
  if (!value) {
    tfrt_action_queue_call(&node->actions, remote_value_homecoming_free, homecoming);
  } else if (tfrt_async_value_try_retain(&value->base.base)) {
    remote_value_arrive(value);
    tfrt_remote_value_release(value);
  }  // else its end, which is under way, frees it
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Has |value| wait for |own| (+0). False without memory.
static bool remote_value_start_homecoming(tfrt_remote_value_t* value, tfrt_async_value_t* own) {
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
  remote_value_homecoming_wait(homecoming, TFRT_ACTION_AWAIT);
  return true;
}

// Its owner says that |value| is a value of this host, which is |value|.
static void remote_value_refuse_itself(tfrt_remote_value_t* value) {
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                         "the host of this value says that the value is itself, so it never comes");
  tfrt_remote_value_fail(value, status);
  tfrt_status_release(status);
}

void tfrt_remote_value_stand_for(tfrt_remote_value_t* value, tfrt_async_value_t* own) {
  if (tfrt_remote_value_is_lost(value)) {
    tfrt_outgoing_hold_go_on(value);
    tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_UNKNOWN);
  }
  if (tfrt_async_value_is_available(own)) {
    tfrt_remote_value_receive(value, own);
    return;
  }
  tfrt_remote_value_t* remote = tfrt_remote_value_of(value->node, own);
  if (remote == value) {
    remote_value_refuse_itself(value);
  } else if ((remote && !value->rerun.call) || !remote_value_start_homecoming(value, own)) {
    tfrt_remote_value_forward(value, own);
  }
  if (remote) tfrt_remote_value_release(remote);
}

// |value|, which is unresolved, is |reference|, a name of this host: stands for what that is here.
static void remote_value_come_home(tfrt_remote_value_t* value,
                                   const tfrt_wire_reference_t* reference) {
  tfrt_async_value_t* own = tfrt_incoming_want_own_value(value->job, reference);
  tfrt_remote_value_stand_for(value, own);
  tfrt_action_queue_release(&value->node->actions, own);
}

// --- Answers ----------------------------------------------------------------

// The same, but consumes |target|, which is resolved and may be an error. |target| is released
// first: tasks that the forward runs may count the references to a list.
static void remote_value_forward_resolved_take(tfrt_remote_value_t* value,
                                               tfrt_async_value_t* target) {
  tfrt_action_queue_release(&value->node->actions, target);
  if (!tfrt_async_value_is_error(target)) {
    tfrt_remote_value_forward(value, target);
    return;
  }
  tfrt_status_t status = tfrt_async_value_error(target);
  if (!tfrt_remote_value_lose_instead(value, status)) tfrt_remote_value_fail(value, status);
}

void tfrt_remote_value_receive(tfrt_remote_value_t* value, tfrt_async_value_t* payload) {
  // The batch that has what came of a small payload mostly has that it is here, too.
  bool is_small = value->bytes.here <= TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE;
  if (value->question.want != 0)
    tfrt_outgoing_want_end(
        value, is_small ? TFRT_OUTGOING_WANT_NEEDLESS_TOLD_LATER : TFRT_OUTGOING_WANT_NEEDLESS);
  remote_value_forward_resolved_take(value, tfrt_async_value_retain(payload));
}

// The owner has the value; here is only the news.
static void remote_value_on_available(tfrt_remote_value_t* value,
                                      const tfrt_wire_available_t* available) {
  if (value->name.is_chain) {
    tfrt_remote_value_forward(value, tfrt_async_value_ready_chain());
    return;
  }
  bool is_news = value->state == TFRT_REMOTE_VALUE_UNKNOWN || tfrt_remote_value_is_there(value);
  if (is_news) tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_THERE);
  value->bytes.there = available->size;
  tfrt_remote_value_settle(value, tfrt_async_value_ready_chain());
}

// The owner has sent us on to |reference|, which may be a value of our own.
static void remote_value_follow(tfrt_remote_value_t* value,
                                const tfrt_wire_reference_t* reference) {
  if (++value->forwards > TFRT_WIRE_MAX_FORWARDS) {
    tfrt_status_t status =
        tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                           "a value was forwarded %u times and still isn't found", value->forwards);
    tfrt_remote_value_fail(value, status);
    tfrt_status_release(status);
    return;
  }
  if (reference->owner != value->node->incarnation) {
    if (reference->is_recoverable && value->peer) {
      if (tfrt_wire_reference_same(&value->borrowing.given, &value->name)) {
        value->borrowing.lent_by = value->borrowing.lender;
      }
      value->borrowing.lender = value->peer->incarnation;
      value->borrowing.given = *reference;
    }
    remote_value_note_location(value);
    tfrt_remote_value_locate(value, reference);
    return;
  }
  remote_value_come_home(value, reference);
}

// This host sent others to a place from which they are sent on to |target|. The name by which
// |target| was lent to us must stay, even if a copy is here by now.
static void remote_value_note_sent_on(tfrt_async_value_t* target) {
  for (tfrt_remote_value_t* remote; target; target = remote->alias.same_as) {
    remote = tfrt_remote_value_cast(target);
    if (!remote) return;
    tfrt_remote_value_t* holding = tfrt_remote_value_holding(remote);
    holding->telling.as = holding->name;
    holding->telling.is_told = true;
  }
}

void tfrt_remote_value_alias(tfrt_remote_value_t* value, tfrt_async_value_t* target,
                             tfrt_object_t* exported) {
  value->alias.same_as = tfrt_async_value_retain(target);
  if (value->telling.is_told) remote_value_note_sent_on(target);
  if (exported) {
    value->alias.exported_as = exported->id;
    ++exported->loans;
  }
  tfrt_remote_value_forward(value, target);
}

void tfrt_remote_value_on_item(tfrt_remote_value_t* value, const tfrt_wire_item_t* item) {
  if (tfrt_remote_value_is_resolved(value)) return;
  switch (item->kind) {
    case TFRT_WIRE_ITEM_INLINE:
      value->bytes.is_large = item->value.body.size > TFRT_WIRE_DEFAULT_INLINE_SIZE;
      remote_value_forward_resolved_take(
          value, tfrt_value_item_decode(&item->value, value->node->options.host->allocator));
      break;
    case TFRT_WIRE_ITEM_LIST:
      remote_value_forward_resolved_take(value, tfrt_list_item_decode(value, &item->list));
      break;
    case TFRT_WIRE_ITEM_ERROR:
      remote_value_forward_resolved_take(value, tfrt_value_item_decode_error(item->error));
      break;
    case TFRT_WIRE_ITEM_AVAILABLE:
      remote_value_on_available(value, &item->available);
      break;
    case TFRT_WIRE_ITEM_REFERENCE:
      remote_value_follow(value, &item->reference);
      break;
    default:
      break;
  }
  if (!tfrt_remote_value_is_resolved(value) && value->question.want == 0) {
    tfrt_remote_value_ask_again(value);
  }
}

// --- Another owner ----------------------------------------------------------

void tfrt_remote_value_move(tfrt_remote_value_t* value, const tfrt_wire_reference_t* reference,
                            bool held) {
  remote_value_add_past(value, value->held);
  tfrt_remote_value_unlink_peers(value);
  tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_UNKNOWN);
  value->name = *reference;
  value->borrowing.given = *reference;
  value->borrowing.lent_by = 0;
  value->held = held;
  if (value->telling.is_told) value->telling.as = *reference;
  if (reference->owner == value->node->incarnation) {
    // It came home: nobody else need hold it for us.
    tfrt_outgoing_hold_go_on(value);
    remote_value_come_home(value, reference);
    return;
  }
  tfrt_remote_value_locate(value, reference);
  if (tfrt_remote_value_is_lost(value) || tfrt_remote_value_is_resolved(value)) return;
  tfrt_outgoing_hold_go_on(value);
  // If a call of ours is to make it, waiting hosts get their answer once that call is made.
  if (!value->result_is_due) value->node->value_hooks->answer_waiting(value);
  tfrt_remote_value_ask_again(value);
}
