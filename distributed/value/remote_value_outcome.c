// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/remote_value.h"

#include "distributed/domain/job.h"
#include "distributed/value/incoming_want.h"
#include "distributed/value/list_item.h"
#include "distributed/value/outgoing_hold.h"
#include "distributed/value/outgoing_want.h"
#include "distributed/value/value_item.h"

// --- Ends -------------------------------------------------------------------

// The common part of every end: nobody is asked any more. The value is kept across its own
// resolution and that of |settled|, which comes after it.
static void tfrt_remote_value_finish(tfrt_remote_value_t* value) {
  bool was_lost = tfrt_remote_value_is_lost(value);
  tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_RESOLVED);
  // A value that came home has no other host that uses it by way of us.
  if (!value->peer) tfrt_remote_value_end_homecoming(value);
  if (was_lost) tfrt_outgoing_hold_give_up(value);
  if (value->question.want != 0) tfrt_outgoing_want_end(value, false);
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

// Makes |value|, which is unresolved, the error |status| (+0); not what lives by it.
static void tfrt_remote_value_fail_alone(tfrt_remote_value_t* value, tfrt_status_t status) {
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

// Has |end| end, because of |status| (+0), what lives by |cover| alone. A value whose last
// reference is gone stays in the list until it takes itself out.
static void tfrt_remote_value_end_elements(tfrt_remote_value_t* cover, tfrt_status_t status,
                                           void (*end)(tfrt_remote_value_t*, tfrt_status_t)) {
  const tfrt_list_link_t* head = &cover->parts.elements;
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_remote_value_t* element = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, parts.in_cover);
    bool is_over = tfrt_remote_value_is_resolved(element) || element->held;
    if (is_over || !tfrt_async_value_try_retain(&element->base.base)) continue;
    end(element, status);
    tfrt_remote_value_release(element);
  }
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

// --- Loss -------------------------------------------------------------------

// The error |status| (+1) with the place of |value|, or else of the function to which it was lent.
static tfrt_status_t tfrt_remote_value_place_loss(const tfrt_remote_value_t* value,
                                                  tfrt_status_t status) {
  if (tfrt_remote_value_has_site(value)) return tfrt_call_site_locate(&value->place.site, status);
  tfrt_status_origin_t place;
  tfrt_cached_program_function_place(value->borrowing.user, value->borrowing.user_function, &place);
  return place.function ? tfrt_status_with_origin(status, &place) : tfrt_status_retain(status);
}

// No known host has |value|: forgets earlier answers about it.
static void tfrt_remote_value_set_lost(tfrt_remote_value_t* value) {
  if (value->question.want != 0) tfrt_outgoing_want_end(value, false);
  tfrt_remote_value_end_homecoming(value);
  tfrt_remote_value_unlink_peers(value);
  tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_LOST);
  value->bytes.there = 0;
  value->forwards = 0;
}

// The host that sent us on can't help: the next to ask is the lender of the name of |value|, if
// that is another host.
static void tfrt_remote_value_ask_name(tfrt_remote_value_t* value) {
  value->borrowing.lender = value->borrowing.lent_by;
  value->borrowing.given = value->name;
  value->borrowing.lent_by = 0;
}

// The name under which |value| was to be held is lost, and |value->peer| was asked for another: the
// wait goes on until the answer comes.
static void tfrt_remote_value_postpone_hold(tfrt_remote_value_t* value) {
  if (!tfrt_list_is_linked(&value->retention.link)) return;
  tfrt_list_remove(&value->retention.link);
  tfrt_list_push_back(&value->peer->retaining, &value->retention.link);
}

// Asks the lender for another owner of |value|, which is lost because of |status| (+0). False if
// there is no lender to ask.
static bool tfrt_remote_value_ask_lender(tfrt_remote_value_t* value, tfrt_status_t status) {
  bool is_asked = value->node->value_hooks->ask_lender(value);
  if (!is_asked && value->borrowing.lent_by != 0) {
    tfrt_remote_value_ask_name(value);
    is_asked = value->node->value_hooks->ask_lender(value);
  }
  if (!is_asked) return false;
  // |status| may be |value->borrowing.loss| itself: retained before that is released.
  tfrt_status_t loss = tfrt_status_retain(status);
  tfrt_status_release(value->borrowing.loss);
  value->borrowing.loss = loss;
  tfrt_remote_value_postpone_hold(value);
  return true;
}

void tfrt_remote_value_lose(tfrt_remote_value_t* value, tfrt_status_t status) {
  if (tfrt_remote_value_is_resolved(value)) return;
  // The host that was asked for another owner is lost, too.
  if (tfrt_remote_value_is_lost(value)) tfrt_remote_value_ask_name(value);
  tfrt_remote_value_set_lost(value);
  if (tfrt_remote_value_ask_lender(value, status)) return;
  if (value->rerun.call && value->node->value_hooks->run_again(value, status)) return;
  tfrt_status_t located = tfrt_remote_value_place_loss(value, status);
  // The elements may have another owner that is known.
  tfrt_remote_value_end_elements(value, located, tfrt_remote_value_lose);
  tfrt_remote_value_fail_alone(value, located);
  tfrt_status_release(located);
}

// Another host says that |value| is the error |status| (+0). True if the error is the loss of a
// host, and there is another way: the call that makes |value| runs again, or its lender may know
// another owner. Then |value| is lost.
static bool tfrt_remote_value_lose_instead(tfrt_remote_value_t* value, tfrt_status_t status) {
  if (value->rerun.call) {
    if (!value->node->value_hooks->may_mend(value, status)) return false;
    // The host that forwarded us knows no other location.
    value->borrowing.lender = 0;
    tfrt_remote_value_set_lost(value);
    return value->node->value_hooks->run_again(value, status);
  }
  // The owner has lost a host. The lender may run the call again for that.
  const tfrt_status_fields_t* fields = tfrt_status_fields(status);
  bool is_loss = fields->code == TFRT_STATUS_UNAVAILABLE &&
                 tfrt_job_find_incarnation(value->job, fields->root_key);
  bool may_ask = value->borrowing.lent_by != 0 ||
                 (value->borrowing.lender != 0 && value->borrowing.given.is_recoverable);
  if (!is_loss || !may_ask) return false;
  tfrt_remote_value_set_lost(value);
  return tfrt_remote_value_ask_lender(value, status);
}

// --- Names and places -------------------------------------------------------

// Remembers what |value| is called, and where it was. When memory is out, hosts that know it by
// either will hear that it is lost.
static void tfrt_remote_value_add_past(tfrt_remote_value_t* value, bool held) {
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
static void tfrt_remote_value_note_location(tfrt_remote_value_t* value) {
  if (tfrt_remote_value_same(&value->location, &value->name)) return;
  tfrt_remote_value_add_past(value, false);
}

bool tfrt_remote_value_same(const tfrt_wire_reference_t* a, const tfrt_wire_reference_t* b) {
  return a->owner == b->owner && tfrt_wire_object_id_equal(a->id, b->id);
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
  bool is_available = tfrt_async_value_is_available(own);
  tfrt_remote_value_t* remote = is_available ? NULL : tfrt_remote_value_of(value->node, own);
  bool may_run_again = value->rerun.call != NULL;
  if (!may_run_again && (is_available || remote)) {
    tfrt_remote_value_forward(value, own);
  } else if (is_available) {
    tfrt_remote_value_receive(value, own);
  } else if (remote && remote->peer && !tfrt_remote_value_is_lost(remote)) {
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

// Its owner says that |value| is a value of this host, which is |value|.
static void tfrt_remote_value_refuse_itself(tfrt_remote_value_t* value) {
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                         "the host of this value says that the value is itself, so it never comes");
  tfrt_remote_value_fail(value, status);
  tfrt_status_release(status);
}

void tfrt_remote_value_stand_for(tfrt_remote_value_t* value, tfrt_async_value_t* own) {
  if (tfrt_remote_value_is_lost(value)) {
    tfrt_outgoing_hold_give_up(value);
    tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_UNKNOWN);
  }
  if (tfrt_async_value_is_available(own)) {
    tfrt_remote_value_receive(value, own);
    return;
  }
  tfrt_remote_value_t* remote = tfrt_remote_value_of(value->node, own);
  if (remote == value) {
    tfrt_remote_value_refuse_itself(value);
  } else if ((remote && !value->rerun.call) || !tfrt_remote_value_start_homecoming(value, own)) {
    tfrt_remote_value_forward(value, own);
  }
  if (remote) tfrt_remote_value_release(remote);
}

// |value|, which is unresolved, is |reference|, a name of this host: stands for what that is here.
static void tfrt_remote_value_come_home(tfrt_remote_value_t* value,
                                        const tfrt_wire_reference_t* reference) {
  tfrt_async_value_t* own = tfrt_incoming_want_own_value(value->job, reference);
  tfrt_remote_value_stand_for(value, own);
  tfrt_action_queue_release(&value->node->actions, own);
}

// --- Answers ----------------------------------------------------------------

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

void tfrt_remote_value_receive(tfrt_remote_value_t* value, tfrt_async_value_t* payload) {
  // The batch that has what came of a small payload mostly has that it is here, too.
  bool is_small = value->bytes.here <= TFRT_WIRE_MAX_CHUNK_PAYLOAD_SIZE;
  if (value->question.want != 0) tfrt_outgoing_want_end(value, is_small);
  tfrt_remote_value_forward_resolved_take(value, tfrt_async_value_retain(payload));
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

// Takes what |peer| says. False if that is impossible.
static bool tfrt_remote_value_take_resolve(tfrt_peer_t* peer, const tfrt_wire_resolve_t* resolve) {
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

// A Resolve came. Returns an error (+1) for what is impossible: one that was never asked for.
static tfrt_status_t tfrt_remote_value_on_resolve(const tfrt_incoming_frame_t* in) {
  if (tfrt_remote_value_take_resolve(in->peer, &in->body->resolve)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a Resolve came without its Want");
}

// --- Another owner ----------------------------------------------------------

void tfrt_remote_value_move(tfrt_remote_value_t* value, const tfrt_wire_reference_t* reference,
                            bool held) {
  tfrt_remote_value_add_past(value, value->held);
  tfrt_remote_value_unlink_peers(value);
  tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_UNKNOWN);
  value->name = *reference;
  value->borrowing.given = *reference;
  value->borrowing.lent_by = 0;
  value->held = held;
  if (value->telling.is_told) value->telling.as = *reference;
  if (reference->owner == value->node->incarnation) {
    // It came home: nobody else need hold it for us.
    tfrt_outgoing_hold_give_up(value);
    tfrt_remote_value_come_home(value, reference);
    return;
  }
  tfrt_remote_value_locate(value, reference);
  if (tfrt_remote_value_is_lost(value) || tfrt_remote_value_is_resolved(value)) return;
  tfrt_outgoing_hold_again(value);
  // If a call of ours is to make it, waiting hosts get their answer once that call is made.
  if (!value->result_is_due) value->node->value_hooks->answer_waiting(value);
  tfrt_remote_value_ask_again(value);
}

// --- Owners -----------------------------------------------------------------

// The error of |value| now that |peer| is dead.
static tfrt_status_t tfrt_remote_value_lost_error(const tfrt_remote_value_t* value,
                                                  const tfrt_peer_t* peer) {
  tfrt_status_origin_t site = tfrt_call_site_origin(&value->place.site);
  if (!value->place.function) {
    return tfrt_peer_lost_error(peer, value->job, tfrt_remote_value_has_site(value) ? &site : NULL,
                                "while a value of it was needed");
  }
  return tfrt_peer_lost_error(peer, value->job, &site, "which had a result of %s%s",
                              value->place.function[0] ? "@" : "a function", value->place.function);
}

// Moves the values of jobs that |end| concerns from the list |head| into |out_list|, because the
// end of one may take others out of a list.
static void tfrt_remote_value_take_list(const tfrt_owner_end_t* end, tfrt_list_link_t* head,
                                        size_t offset, tfrt_list_link_t* out_list) {
  tfrt_list_initialize(out_list);
  for (tfrt_list_link_t* link = head->next; link != head;) {
    tfrt_list_link_t* found = link;
    link = link->next;
    const tfrt_remote_value_t* value = (tfrt_remote_value_t*)((char*)found - offset);
    if (!tfrt_peer_loss_concerns(end, value->job)) continue;
    tfrt_list_remove(found);
    tfrt_list_push_back(out_list, found);
  }
}

// Loses the values of jobs that |end| concerns in the list |head|. A value whose last reference is
// gone already has only its storage left, and takes itself out.
static void tfrt_remote_value_lose_list(const tfrt_owner_end_t* end, tfrt_list_link_t* head,
                                        size_t offset,
                                        void (*lose)(tfrt_remote_value_t*, tfrt_status_t)) {
  tfrt_list_link_t lost;
  tfrt_remote_value_take_list(end, head, offset, &lost);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&lost));) {
    tfrt_remote_value_t* value = (tfrt_remote_value_t*)((char*)link - offset);
    if (!tfrt_async_value_try_retain(&value->base.base)) continue;
    tfrt_status_t status = tfrt_remote_value_lost_error(value, end->peer);
    lose(value, status);
    tfrt_status_release(status);
    tfrt_remote_value_release(value);
  }
}

static void tfrt_remote_value_lose_name(tfrt_remote_value_t* value, tfrt_status_t status) {
  if (value->borrowing.lent_by != 0) tfrt_remote_value_ask_name(value);
  tfrt_remote_value_lose(value, status);
}

// Cancels the values of |end|'s job that |peer| has.
static void tfrt_remote_value_cancel_all(tfrt_peer_t* peer, const tfrt_owner_end_t* end) {
  tfrt_list_link_t ended;
  tfrt_remote_value_take_list(end, &peer->located, offsetof(tfrt_remote_value_t, located), &ended);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&ended));) {
    tfrt_remote_value_t* value = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, located);
    if (!tfrt_async_value_try_retain(&value->base.base)) continue;
    tfrt_remote_value_fail(value, end->reason);
    tfrt_remote_value_release(value);
  }
}

static void tfrt_remote_value_on_peer_lost(const tfrt_owner_end_t* end) {
  tfrt_peer_t* peer = end->peer;
  tfrt_remote_value_lose_list(end, &peer->located, offsetof(tfrt_remote_value_t, located),
                              tfrt_remote_value_lose);
  tfrt_remote_value_lose_list(end, &peer->named, offsetof(tfrt_remote_value_t, named),
                              tfrt_remote_value_lose_name);
}

static void tfrt_remote_value_on_client_left(const tfrt_owner_end_t* end) {
  tfrt_remote_value_cancel_all(end->peer, end);
}

static void tfrt_remote_value_on_job_finished(const tfrt_owner_end_t* end) {
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&end->node->peers); found;
       found = tfrt_hash_table_next(&end->node->peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    tfrt_remote_value_cancel_all(peer, end);
  }
}

static const tfrt_owner_rule_t tfrt_remote_value_rules[] = {
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_VALUES, tfrt_remote_value_on_peer_lost},
    {TFRT_OWNER_CLIENT_LEFT, TFRT_OWNER_VALUES, tfrt_remote_value_on_client_left},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_VALUES, tfrt_remote_value_on_job_finished},
};

static const tfrt_frame_handler_t tfrt_remote_value_handlers[] = {
    {TFRT_WIRE_FRAME_RESOLVE, tfrt_remote_value_on_resolve},
};

const tfrt_node_part_t tfrt_remote_value_part = {
    .rules = tfrt_remote_value_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_remote_value_rules),
    .handlers = tfrt_remote_value_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_remote_value_handlers),
};
