// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/job.h"
#include "distributed/value/outgoing_retain.h"
#include "distributed/value/outgoing_want.h"
#include "distributed/value/remote_value_impl.h"
#include "distributed/value/value_hooks.h"

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
  if (value->question.want != 0) tfrt_outgoing_want_end(value);
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
  tfrt_outgoing_retain_postpone(value);
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

bool tfrt_remote_value_lose_instead(tfrt_remote_value_t* value, tfrt_status_t status) {
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

void tfrt_remote_value_note_location(tfrt_remote_value_t* value) {
  if (tfrt_remote_value_same(&value->location, &value->name)) return;
  tfrt_remote_value_add_past(value, false);
}

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
    tfrt_outgoing_retain_give_up(value);
    tfrt_remote_value_come_home(value, reference);
    return;
  }
  tfrt_remote_value_locate(value, reference);
  if (tfrt_remote_value_is_lost(value) || tfrt_remote_value_is_resolved(value)) return;
  tfrt_outgoing_retain_again(value);
  // If a call of ours is to make it, waiting hosts get their answer once that call is made.
  if (!value->result_is_due) value->node->value_hooks->answer_waiting(value);
  tfrt_remote_value_ask_again(value);
}

bool tfrt_remote_value_same(const tfrt_wire_reference_t* a, const tfrt_wire_reference_t* b) {
  return a->owner == b->owner && tfrt_wire_object_id_equal(a->id, b->id);
}

bool tfrt_remote_value_is_known_as(const tfrt_remote_value_t* value,
                                   const tfrt_wire_reference_t* reference) {
  if (tfrt_remote_value_same(&value->name, reference)) return true;
  if (tfrt_remote_value_same(&value->location, reference)) return true;
  for (const tfrt_remote_value_past_t* past = value->past; past; past = past->next) {
    if (tfrt_remote_value_same(&past->name, reference)) return true;
    if (tfrt_remote_value_same(&past->location, reference)) return true;
  }
  return value->telling.is_told && tfrt_remote_value_same(&value->telling.as, reference);
}

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

// Moves the values of |job| (NULL: of all jobs) from the list |head| into |out_list|, because the
// end of one may take others out of a list.
static void tfrt_remote_value_take_list(const tfrt_job_t* job, tfrt_list_link_t* head,
                                        size_t offset, tfrt_list_link_t* out_list) {
  tfrt_list_initialize(out_list);
  for (tfrt_list_link_t* link = head->next; link != head;) {
    tfrt_list_link_t* found = link;
    link = link->next;
    if (job && ((tfrt_remote_value_t*)((char*)found - offset))->job != job) continue;
    tfrt_list_remove(found);
    tfrt_list_push_back(out_list, found);
  }
}

// Loses the values of |job| (NULL: of all jobs) in the list |head|. A value whose last reference is
// gone already has only its storage left, and takes itself out.
static void tfrt_remote_value_lose_list(tfrt_peer_t* peer, const tfrt_job_t* job,
                                        tfrt_list_link_t* head, size_t offset,
                                        void (*lose)(tfrt_remote_value_t*, tfrt_status_t)) {
  tfrt_list_link_t lost;
  tfrt_remote_value_take_list(job, head, offset, &lost);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&lost));) {
    tfrt_remote_value_t* value = (tfrt_remote_value_t*)((char*)link - offset);
    if (!tfrt_async_value_try_retain(&value->base.base)) continue;
    tfrt_status_t status = tfrt_remote_value_lost_error(value, peer);
    lose(value, status);
    tfrt_status_release(status);
    tfrt_remote_value_release(value);
  }
}

static void tfrt_remote_value_lose_name(tfrt_remote_value_t* value, tfrt_status_t status) {
  if (value->borrowing.lent_by != 0) tfrt_remote_value_ask_name(value);
  tfrt_remote_value_lose(value, status);
}

static void tfrt_remote_value_bury_all(tfrt_peer_t* peer, const tfrt_job_t* job) {
  tfrt_remote_value_lose_list(peer, job, &peer->located, offsetof(tfrt_remote_value_t, located),
                              tfrt_remote_value_lose);
  tfrt_remote_value_lose_list(peer, job, &peer->named, offsetof(tfrt_remote_value_t, named),
                              tfrt_remote_value_lose_name);
}

static void tfrt_remote_value_cancel_all(tfrt_peer_t* peer, const tfrt_job_t* job,
                                         tfrt_status_t reason) {
  tfrt_list_link_t ended;
  tfrt_remote_value_take_list(job, &peer->located, offsetof(tfrt_remote_value_t, located), &ended);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&ended));) {
    tfrt_remote_value_t* value = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, located);
    if (!tfrt_async_value_try_retain(&value->base.base)) continue;
    tfrt_remote_value_fail(value, reason);
    tfrt_remote_value_release(value);
  }
}

static void tfrt_remote_value_on_peer_lost(const tfrt_owner_end_t* end) {
  tfrt_remote_value_bury_all(end->peer, end->job);
}

static void tfrt_remote_value_on_client_left(const tfrt_owner_end_t* end) {
  tfrt_remote_value_cancel_all(end->peer, end->job, end->reason);
}

static void tfrt_remote_value_on_job_finished(const tfrt_owner_end_t* end) {
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&end->node->peers); found;
       found = tfrt_hash_table_next(&end->node->peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    tfrt_remote_value_cancel_all(peer, end->job, end->reason);
  }
}

static const tfrt_owner_rule_t tfrt_remote_value_rules[] = {
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_VALUES, tfrt_remote_value_on_peer_lost},
    {TFRT_OWNER_CLIENT_LEFT, TFRT_OWNER_VALUES, tfrt_remote_value_on_client_left},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_VALUES, tfrt_remote_value_on_job_finished},
};

void tfrt_remote_value_register(tfrt_owner_rules_t* rules) {
  tfrt_owner_rules_add(rules, tfrt_remote_value_rules, TFRT_ARRAY_SIZE(tfrt_remote_value_rules));
}
