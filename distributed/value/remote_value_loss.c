// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/remote_value.h"

#include "distributed/domain/job.h"
#include "distributed/value/outgoing_hold.h"
#include "distributed/value/outgoing_want.h"

// --- Ends -------------------------------------------------------------------

// The common part of every end: nobody is asked any more. The value is kept across its own
// resolution and that of |settled|, which comes after it.
static void remote_value_finish(tfrt_remote_value_t* value) {
  bool was_lost = tfrt_remote_value_is_lost(value);
  tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_RESOLVED);
  // A value that came home has no other host that uses it by way of us.
  if (!value->peer) tfrt_remote_value_end_homecoming(value);
  if (was_lost) tfrt_outgoing_hold_go_on(value);
  if (value->question.want != 0) tfrt_outgoing_want_end(value, TFRT_OUTGOING_WANT_NEEDLESS);
  tfrt_remote_value_unlink_peers(value);
  if (value->rerun.call) value->node->value_hooks->forget_call(value);
  value->node->value_hooks->answer_waiting(value);
}

// |status| (+1) with a place in the program: that of the call whose result |value| is, if it has
// none. An error that a host finds without running a kernel has only the host's number.
static tfrt_status_t remote_value_place_error(const tfrt_remote_value_t* value,
                                              tfrt_status_t status) {
  return tfrt_remote_value_has_site(value) ? tfrt_call_site_locate(&value->place.site, status)
                                           : tfrt_status_retain(status);
}

// Makes |value|, which is unresolved, the error |status| (+0); not what lives by it.
static void remote_value_fail_alone(tfrt_remote_value_t* value, tfrt_status_t status) {
  tfrt_async_value_t* self = &value->base.base;
  tfrt_status_t located = remote_value_place_error(value, status);
  tfrt_async_value_retain_n(self, 2);
  remote_value_finish(value);
  tfrt_action_queue_fail_take(&value->node->actions, self, located);
  if (value->settlement.value) {
    tfrt_remote_value_settle(value, tfrt_async_value_create_error(located));
  }
  tfrt_action_queue_release(&value->node->actions, self);
  tfrt_status_release(located);
}

// Has |end| end, because of |status| (+0), what lives by |cover| alone. A value whose last
// reference is gone stays in the list until it takes itself out.
static void remote_value_end_elements(tfrt_remote_value_t* cover, tfrt_status_t status,
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
  remote_value_end_elements(value, status, tfrt_remote_value_fail);
  remote_value_fail_alone(value, status);
}

void tfrt_remote_value_forward(tfrt_remote_value_t* value, tfrt_async_value_t* target) {
  if (tfrt_remote_value_is_resolved(value)) return;
  tfrt_async_value_t* self = &value->base.base;
  tfrt_async_value_retain_n(self, 2);
  remote_value_finish(value);
  tfrt_action_queue_forward_take(&value->node->actions, self, tfrt_async_value_retain(target));
  if (value->settlement.value || !tfrt_async_value_is_available(target)) {
    tfrt_remote_value_settle(value, tfrt_async_value_retain(target));
  }
  tfrt_action_queue_release(&value->node->actions, self);
}

// --- Loss -------------------------------------------------------------------

// The error |status| (+1) with the place of |value|, or else of the function to which it was lent.
static tfrt_status_t remote_value_place_loss(const tfrt_remote_value_t* value,
                                             tfrt_status_t status) {
  if (tfrt_remote_value_has_site(value)) return tfrt_call_site_locate(&value->place.site, status);
  tfrt_status_origin_t place;
  tfrt_cached_program_function_place(value->borrowing.user, value->borrowing.user_function, &place);
  return place.function ? tfrt_status_with_origin(status, &place) : tfrt_status_retain(status);
}

// No known host has |value|: forgets earlier answers about it.
static void remote_value_set_lost(tfrt_remote_value_t* value) {
  if (value->question.want != 0) tfrt_outgoing_want_end(value, TFRT_OUTGOING_WANT_NEEDLESS);
  tfrt_remote_value_end_homecoming(value);
  tfrt_remote_value_unlink_peers(value);
  tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_LOST);
  value->bytes.there = 0;
  value->forwards = 0;
}

// The host that sent us on can't help: the next to ask is the lender of the name of |value|, if
// that is another host.
static void remote_value_ask_name(tfrt_remote_value_t* value) {
  value->borrowing.lender = value->borrowing.lent_by;
  value->borrowing.given = value->name;
  value->borrowing.lent_by = 0;
}

// The name under which |value| was to be held is lost, and |value->peer| was asked for another: the
// wait goes on until the answer comes.
static void remote_value_postpone_hold(tfrt_remote_value_t* value) {
  if (!tfrt_list_is_linked(&value->retention.link)) return;
  tfrt_list_remove(&value->retention.link);
  tfrt_list_push_back(&value->peer->retaining, &value->retention.link);
}

// Asks the lender for another owner of |value|, which is lost because of |status| (+0). False if
// there is no lender to ask.
static bool remote_value_ask_lender(tfrt_remote_value_t* value, tfrt_status_t status) {
  bool is_asked = value->node->value_hooks->ask_lender(value);
  if (!is_asked && value->borrowing.lent_by != 0) {
    remote_value_ask_name(value);
    is_asked = value->node->value_hooks->ask_lender(value);
  }
  if (!is_asked) return false;
  // |status| may be |value->borrowing.loss| itself: retained before that is released.
  tfrt_status_t loss = tfrt_status_retain(status);
  tfrt_status_release(value->borrowing.loss);
  value->borrowing.loss = loss;
  remote_value_postpone_hold(value);
  return true;
}

void tfrt_remote_value_lose(tfrt_remote_value_t* value, tfrt_status_t status) {
  if (tfrt_remote_value_is_resolved(value)) return;
  // The host that was asked for another owner is lost, too.
  if (tfrt_remote_value_is_lost(value)) remote_value_ask_name(value);
  remote_value_set_lost(value);
  if (remote_value_ask_lender(value, status)) return;
  if (value->rerun.call && value->node->value_hooks->run_again(value, status)) return;
  tfrt_status_t located = remote_value_place_loss(value, status);
  // The elements may have another owner that is known.
  remote_value_end_elements(value, located, tfrt_remote_value_lose);
  remote_value_fail_alone(value, located);
  tfrt_status_release(located);
}

bool tfrt_remote_value_lose_instead(tfrt_remote_value_t* value, tfrt_status_t status) {
  if (value->rerun.call) {
    if (!value->node->value_hooks->may_mend(value, status)) return false;
    // The host that forwarded us knows no other location.
    value->borrowing.lender = 0;
    remote_value_set_lost(value);
    return value->node->value_hooks->run_again(value, status);
  }
  // The owner has lost a host. The lender may run the call again for that.
  const tfrt_status_fields_t* fields = tfrt_status_fields(status);
  bool is_loss = fields->code == TFRT_STATUS_UNAVAILABLE &&
                 tfrt_job_find_incarnation(value->job, fields->root_key);
  bool may_ask = value->borrowing.lent_by != 0 ||
                 (value->borrowing.lender != 0 && value->borrowing.given.is_recoverable);
  if (!is_loss || !may_ask) return false;
  remote_value_set_lost(value);
  return remote_value_ask_lender(value, status);
}

// --- Owners -----------------------------------------------------------------

// The error of |value| now that |peer| is dead.
static tfrt_status_t remote_value_lost_error(const tfrt_remote_value_t* value,
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
static void remote_value_take_list(const tfrt_owner_end_t* end, tfrt_list_link_t* head,
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
static void remote_value_lose_list(const tfrt_owner_end_t* end, tfrt_list_link_t* head,
                                   size_t offset,
                                   void (*lose)(tfrt_remote_value_t*, tfrt_status_t)) {
  tfrt_list_link_t lost;
  remote_value_take_list(end, head, offset, &lost);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&lost));) {
    tfrt_remote_value_t* value = (tfrt_remote_value_t*)((char*)link - offset);
    if (!tfrt_async_value_try_retain(&value->base.base)) continue;
    tfrt_status_t status = remote_value_lost_error(value, end->peer);
    lose(value, status);
    tfrt_status_release(status);
    tfrt_remote_value_release(value);
  }
}

static void remote_value_lose_name(tfrt_remote_value_t* value, tfrt_status_t status) {
  if (value->borrowing.lent_by != 0) remote_value_ask_name(value);
  tfrt_remote_value_lose(value, status);
}

// Cancels the values of |end|'s job that |peer| has.
static void remote_value_cancel_all(tfrt_peer_t* peer, const tfrt_owner_end_t* end) {
  tfrt_list_link_t ended;
  remote_value_take_list(end, &peer->located, offsetof(tfrt_remote_value_t, located), &ended);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&ended));) {
    tfrt_remote_value_t* value = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, located);
    if (!tfrt_async_value_try_retain(&value->base.base)) continue;
    tfrt_remote_value_fail(value, end->reason);
    tfrt_remote_value_release(value);
  }
}

static void remote_value_on_peer_lost(const tfrt_owner_end_t* end) {
  tfrt_peer_t* peer = end->peer;
  remote_value_lose_list(end, &peer->located, offsetof(tfrt_remote_value_t, located),
                         tfrt_remote_value_lose);
  remote_value_lose_list(end, &peer->named, offsetof(tfrt_remote_value_t, named),
                         remote_value_lose_name);
}

static void remote_value_on_client_left(const tfrt_owner_end_t* end) {
  remote_value_cancel_all(end->peer, end);
}

static void remote_value_on_job_finished(const tfrt_owner_end_t* end) {
  // Other jobs may have very many values.
  if (tfrt_list_is_empty(&end->job->remote_values)) return;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&end->node->peers); found;
       found = tfrt_hash_table_next(&end->node->peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    remote_value_cancel_all(peer, end);
  }
}

static const tfrt_owner_rule_t tfrt_remote_value_rules[] = {
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_VALUES, remote_value_on_peer_lost},
    {TFRT_OWNER_CLIENT_LEFT, TFRT_OWNER_VALUES, remote_value_on_client_left},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_VALUES, remote_value_on_job_finished},
};

const tfrt_node_part_t tfrt_remote_value_part = {
    .rules = tfrt_remote_value_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_remote_value_rules),
};
