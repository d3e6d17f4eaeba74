// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/job.h"
#include "distributed/value/list_item.h"
#include "distributed/value/outgoing_retain.h"
#include "distributed/value/outgoing_want.h"
#include "distributed/value/remote_value_impl.h"
#include "distributed/value/value_hooks.h"
#include "distributed/value/value_item.h"

// The common part of every end: nobody is asked any more. The value is kept across its own
// resolution and that of |settled|, which comes after it.
static void tfrt_remote_value_finish(tfrt_remote_value_t* value) {
  bool was_lost = tfrt_remote_value_is_lost(value);
  tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_RESOLVED);
  // A value that came home has no other host that uses it by way of us.
  if (!value->peer) tfrt_remote_value_end_homecoming(value);
  if (was_lost) tfrt_outgoing_retain_give_up(value);
  if (value->question.want != 0) tfrt_outgoing_want_end(value);
  tfrt_remote_value_unlink_peers(value);
  if (value->rerun.call) value->node->value_hooks->forget_call(value);
  value->node->value_hooks->answer_waiting(value);
}

// |status| (+1) with a place in the program: that of the call whose result |value| is, if it has
// none. An error that a host finds without running a kernel has only the host's number.
static tfrt_status_t tfrt_remote_value_place_error(const tfrt_remote_value_t* value,
                                                   tfrt_status_t status) {
  return tfrt_remote_value_has_site(value) ? tfrt_call_site_locate(&value->place.site, status)
                                           : tfrt_status_retain(status);
}

void tfrt_remote_value_fail_alone(tfrt_remote_value_t* value, tfrt_status_t status) {
  tfrt_async_value_t* self = &value->base.base;
  tfrt_status_t located = tfrt_remote_value_place_error(value, status);
  tfrt_async_value_retain_n(self, 2);
  tfrt_remote_value_finish(value);
  tfrt_action_queue_fail_take(&value->node->actions, self, located);
  if (value->settlement.value) {
    tfrt_remote_value_settle(value, tfrt_async_value_create_error(located));
  }
  tfrt_action_queue_release(&value->node->actions, self);
  tfrt_status_release(located);
}

void tfrt_remote_value_fail(tfrt_remote_value_t* value, tfrt_status_t status) {
  if (tfrt_remote_value_is_resolved(value)) return;
  tfrt_remote_value_end_elements(value, status, tfrt_remote_value_fail);
  tfrt_remote_value_fail_alone(value, status);
}

void tfrt_remote_value_forward(tfrt_remote_value_t* value, tfrt_async_value_t* target) {
  if (tfrt_remote_value_is_resolved(value)) return;
  tfrt_async_value_t* self = &value->base.base;
  tfrt_async_value_retain_n(self, 2);
  tfrt_remote_value_finish(value);
  tfrt_action_queue_forward_take(&value->node->actions, self, tfrt_async_value_retain(target));
  if (tfrt_async_value_is_available(target)) {
    if (value->settlement.value) tfrt_remote_value_settle(value, tfrt_async_value_retain(target));
  } else {
    value->settlement.meaning = tfrt_async_value_retain(target);
    tfrt_remote_value_settle_later(value);
  }
  tfrt_action_queue_release(&value->node->actions, self);
}

// The same, but consumes |target|, which is resolved and may be an error. |target| is released
// first: tasks that the forward runs may count the references to a list.
static void tfrt_remote_value_forward_resolved_take(tfrt_remote_value_t* value,
                                                    tfrt_async_value_t* target) {
  tfrt_action_queue_release(&value->node->actions, target);
  if (!tfrt_async_value_is_error(target)) {
    tfrt_remote_value_forward(value, target);
    return;
  }
  tfrt_status_t status = tfrt_async_value_error(target);
  if (!tfrt_remote_value_lose_instead(value, status)) tfrt_remote_value_fail(value, status);
}

// The owner has the value; here is only the news.
static void tfrt_remote_value_on_available(tfrt_remote_value_t* value,
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
static void tfrt_remote_value_follow(tfrt_remote_value_t* value,
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
      if (tfrt_remote_value_same(&value->borrowing.given, &value->name)) {
        value->borrowing.lent_by = value->borrowing.lender;
      }
      value->borrowing.lender = value->peer->incarnation;
      value->borrowing.given = *reference;
    }
    tfrt_remote_value_note_location(value);
    tfrt_remote_value_locate(value, reference);
    return;
  }
  tfrt_remote_value_come_home(value, reference);
}

// This host sent others to a place from which they are sent on to |target|. The name by which
// |target| was lent to us must stay, even if a copy is here by now.
static void tfrt_remote_value_note_sent_on(tfrt_async_value_t* target) {
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
  if (value->telling.is_told) tfrt_remote_value_note_sent_on(target);
  if (exported) {
    value->alias.exported_as = exported->id;
    ++exported->loans;
  }
  tfrt_remote_value_forward(value, target);
}

void tfrt_remote_value_receive(tfrt_remote_value_t* value, tfrt_async_value_t* payload) {
  if (value->question.want != 0) tfrt_outgoing_want_complete(value);
  tfrt_remote_value_forward_resolved_take(value, tfrt_async_value_retain(payload));
}

void tfrt_remote_value_on_item(tfrt_remote_value_t* value, const tfrt_wire_item_t* item) {
  if (tfrt_remote_value_is_resolved(value)) return;
  switch (item->kind) {
    case TFRT_WIRE_ITEM_INLINE:
      value->bytes.is_large = item->value.body.size > TFRT_WIRE_DEFAULT_INLINE_SIZE;
      tfrt_remote_value_forward_resolved_take(
          value, tfrt_value_item_decode(&item->value, value->node->options.host->allocator));
      break;
    case TFRT_WIRE_ITEM_LIST:
      tfrt_remote_value_forward_resolved_take(value, tfrt_list_item_decode(value, &item->list));
      break;
    case TFRT_WIRE_ITEM_ERROR:
      tfrt_remote_value_forward_resolved_take(value, tfrt_value_item_decode_error(item->error));
      break;
    case TFRT_WIRE_ITEM_AVAILABLE:
      tfrt_remote_value_on_available(value, &item->available);
      break;
    case TFRT_WIRE_ITEM_REFERENCE:
      tfrt_remote_value_follow(value, &item->reference);
      break;
    default:
      break;
  }
  if (!tfrt_remote_value_is_resolved(value) && value->question.want == 0) {
    tfrt_remote_value_ask_again(value);
  }
}

// |value|, which was lent to us, is a result of another host's call. Remembers the place of that
// call, which says more than the place where the value was received.
static void tfrt_remote_value_note_place(tfrt_remote_value_t* value,
                                         const tfrt_wire_origin_t* origin) {
  if (!origin || (tfrt_remote_value_has_site(value) && !value->place.is_received)) return;
  value->place.is_received = false;
  value->place.texts = tfrt_wire_error_to_status(&(tfrt_wire_error_t){.origin = origin});
  value->place.site.origin = tfrt_status_fields(value->place.texts)->origin;
}

bool tfrt_remote_value_on_resolve(tfrt_peer_t* peer, const tfrt_wire_resolve_t* resolve) {
  tfrt_remote_value_t* value = tfrt_outgoing_want_find(peer, resolve->want);
  if (!value) return resolve->want < tfrt_session_next_want(peer->session);  // late, and legal
  if (resolve->item.kind == TFRT_WIRE_ITEM_ON_BULK) {
    if (value->question.level != TFRT_WIRE_WANT_VALUE) return false;
    tfrt_lane_manager_expect(value->node->lanes, peer->incarnation, value->question.want);
    return true;
  }
  tfrt_outgoing_want_close(value);
  tfrt_remote_value_note_place(value, resolve->origin);
  tfrt_remote_value_on_item(value, &resolve->item);
  return true;
}
