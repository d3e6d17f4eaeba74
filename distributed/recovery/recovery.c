// SPDX-License-Identifier: Apache-2.0
#include "distributed/recovery/recovery.h"

#include "distributed/call/outgoing_call.h"
#include "distributed/recovery/retried_call.h"
#include "distributed/value/outgoing_hold.h"
#include "distributed/value/remote_value.h"

// A question of another host that has no answer yet.
typedef struct tfrt_recovery_request_s {
  tfrt_list_link_t link;  // in the job's list
  uint64_t asker;         // incarnation
  tfrt_wire_reference_t reference;
  tfrt_remote_value_t* value;  // +1
  int64_t since_ns;
} tfrt_recovery_request_t;

// --- The borrower --------------------------------------------------------------

// Asks the lender of |value|, which is lost, for another owner: the lender is then the value's
// peer. False if there is nobody to ask.
static bool recovery_ask(tfrt_remote_value_t* value) {
  if (value->borrowing.lender == 0 || !value->borrowing.given.is_recoverable) return false;
  tfrt_peer_t* lender = tfrt_peer_find(value->node, value->borrowing.lender);
  tfrt_job_member_t* member = tfrt_job_find_incarnation(value->job, value->borrowing.lender);
  bool is_there =
      lender && lender->session && member && !member->death && !tfrt_job_is_closed(value->job);
  if (!is_there || !(tfrt_session_features(lender->session) & TFRT_WIRE_FEATURE_RECOVER)) {
    return false;
  }
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_LOST,
                           .lost = {.reference = value->borrowing.given}};
  tfrt_peer_send(lender, &(tfrt_peer_frame_t){.job = value->job}, &body);
  // Its death ends the wait.
  value->peer = lender;
  tfrt_list_push_back(&lender->located, &value->located);
  return true;
}

// The value (+0) for which |peer| was asked about |reference|, or NULL.
static tfrt_remote_value_t* recovery_find_lost(tfrt_peer_t* peer,
                                               const tfrt_wire_reference_t* reference) {
  for (tfrt_list_link_t* link = peer->located.next; link != &peer->located; link = link->next) {
    tfrt_remote_value_t* value = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, located);
    bool is_it = tfrt_remote_value_is_lost(value) &&
                 value->borrowing.given.owner == reference->owner &&
                 tfrt_wire_object_id_equal(value->borrowing.given.id, reference->id);
    if (is_it) return value;
  }
  return NULL;
}

// Gives back the hold that |replace| of |peer| brings, for which nobody here waits any more.
static void recovery_give_back(tfrt_peer_t* peer, tfrt_job_t* job,
                               const tfrt_wire_replace_t* replace) {
  const tfrt_wire_reference_t* reference = &replace->item.reference;
  bool is_given = replace->item.kind == TFRT_WIRE_ITEM_REFERENCE && job &&
                  reference->owner == peer->incarnation;
  if (is_given) tfrt_outgoing_hold_give_back(peer, job, &reference->id, false);
}

static tfrt_status_t recovery_on_replace(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  const tfrt_wire_replace_t* replace = &in->body->replace;
  tfrt_remote_value_t* value = recovery_find_lost(peer, &replace->old);
  if (!value || !tfrt_async_value_try_retain(&value->base.base)) {
    recovery_give_back(peer, in->job, replace);
    return NULL;
  }
  if (replace->item.kind == TFRT_WIRE_ITEM_REFERENCE) {
    const tfrt_wire_reference_t* reference = &replace->item.reference;
    value->result_is_due = false;
    tfrt_remote_value_move(value, reference, reference->owner == peer->incarnation);
  } else {
    // The lender need not know which host this one has lost: the lender may have been sent on, or
    // have the value by way of a list.
    tfrt_remote_value_lose(value, value->borrowing.loss);
  }
  tfrt_remote_value_release(value);
  return NULL;
}

// --- The lender ----------------------------------------------------------------

static void recovery_send(tfrt_peer_t* peer, tfrt_job_t* job,
                          const tfrt_wire_reference_t* reference, const tfrt_wire_item_t* item) {
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_REPLACE,
                           .replace = {.old = *reference, .item = *item}};
  tfrt_peer_send(peer, &(tfrt_peer_frame_t){.job = job}, &body);
}

// Answers |peer| that nobody has what |reference| was.
static void recovery_refuse(tfrt_peer_t* peer, tfrt_job_t* job,
                            const tfrt_wire_reference_t* reference) {
  const tfrt_peer_t* owner = tfrt_peer_find(job->node, reference->owner);
  tfrt_status_t status =
      owner ? tfrt_peer_lost_error(owner, job, NULL, "which had a value that is lent")
            : tfrt_status_create(TFRT_STATUS_NOT_FOUND, "host %u knows nothing of a value",
                                 job->rank);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, job->node->options.allocator);
  tfrt_wire_error_t error = {0};
  tfrt_status_release(
      tfrt_wire_error_from_status(status, job->rank, job->node->incarnation, &arena, &error));
  if (error.code == TFRT_STATUS_OK) error.code = TFRT_STATUS_UNAVAILABLE;
  recovery_send(peer, job, reference,
                &(tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_ERROR, .error = &error});
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}

// Gives |peer| the copy of |value| that is here, under a name of ours that |peer| holds.
static void recovery_give(tfrt_peer_t* peer, tfrt_remote_value_t* value,
                          const tfrt_wire_reference_t* reference) {
  tfrt_job_t* job = value->job;
  tfrt_object_table_t* objects = job->node->objects;
  tfrt_object_t* object = tfrt_object_table_export(objects, job, &value->base.base);
  if (!object || !tfrt_object_table_hold(objects, object, peer->incarnation)) {
    if (object) tfrt_object_table_end_loan(objects, object);
    recovery_refuse(peer, job, reference);
    return;
  }
  object->name = value->place.function;
  tfrt_wire_item_t item = {.kind = TFRT_WIRE_ITEM_REFERENCE,
                           .reference = {.id = object->id,
                                         .owner = job->node->incarnation,
                                         .owner_rank = job->rank,
                                         .namer_rank = job->rank,
                                         .is_chain = reference->is_chain,
                                         .is_mutable = reference->is_mutable}};
  tfrt_object_table_end_loan(objects, object);
  recovery_send(peer, job, reference, &item);
}

// Answers |peer|, which has lost |reference|, if |value| is here or at another place by now.
static bool recovery_answer(tfrt_peer_t* peer, tfrt_remote_value_t* value,
                            const tfrt_wire_reference_t* reference) {
  if (tfrt_remote_value_is_resolved(value)) {
    recovery_give(peer, value, reference);
    return true;
  }
  if (tfrt_remote_value_is_lost(value) || tfrt_wire_reference_same(&value->location, reference)) {
    return false;
  }
  tfrt_wire_item_t item = {.kind = TFRT_WIRE_ITEM_REFERENCE,
                           .reference = tfrt_remote_value_whereabouts(value)};
  recovery_send(peer, value->job, reference, &item);
  return true;
}

// True if |value|, a remote value, is lent to |peer| for a call that is not over.
static bool recovery_calls_lend(const tfrt_peer_t* peer, const tfrt_async_value_t* value) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->outgoing_calls); node;
       node = tfrt_hash_table_next(&peer->outgoing_calls, node)) {
    const tfrt_outgoing_call_t* call = TFRT_CONTAINER_OF(node, tfrt_outgoing_call_t, by_number);
    for (uint32_t i = 0; i < call->argument_count; ++i) {
      if (call->arguments[i] == value) return true;
    }
  }
  return false;
}

// True if |peer| has |value| from this host: a call that is not over lends it, or this host has
// sent |peer|, or the lender of |peer|, on to it.
static bool recovery_is_lent(const tfrt_peer_t* peer, const tfrt_remote_value_t* value) {
  return recovery_calls_lend(peer, &value->base.base) ||
         tfrt_object_table_keeps(value->node->objects, &value->base.base);
}

// True if |value| is, or was, |reference| for others.
static bool recovery_is_known_as(const tfrt_remote_value_t* value,
                                 const tfrt_wire_reference_t* reference) {
  if (tfrt_wire_reference_same(&value->name, reference)) return true;
  if (tfrt_wire_reference_same(&value->location, reference)) return true;
  for (const tfrt_remote_value_past_t* past = value->past; past; past = past->next) {
    if (tfrt_wire_reference_same(&past->name, reference)) return true;
    if (tfrt_wire_reference_same(&past->location, reference)) return true;
  }
  return value->telling.is_told && tfrt_wire_reference_same(&value->telling.as, reference);
}

// The value (+1) of this host that |reference| is, or was, for |peer|, or NULL. Chooses the oldest
// of several, which was here before |peer| had its own. So hosts that lend each other the same
// value never wait for each other in a cycle.
static tfrt_remote_value_t* recovery_find(const tfrt_peer_t* peer, tfrt_job_t* job,
                                          const tfrt_wire_reference_t* reference) {
  for (tfrt_list_link_t* link = job->remote_values.next; link != &job->remote_values;
       link = link->next) {
    tfrt_remote_value_t* value = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, in_job);
    bool is_it = recovery_is_known_as(value, reference) && recovery_is_lent(peer, value) &&
                 tfrt_async_value_try_retain(&value->base.base);
    if (is_it) return value;
  }
  return NULL;
}

// A Lost came, or the answer to one of ours.
static tfrt_status_t recovery_on_lost(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  tfrt_job_t* job = in->job;
  const tfrt_wire_lost_t* lost = &in->body->lost;
  if (!job) return NULL;
  tfrt_remote_value_t* value =
      tfrt_job_is_closed(job) ? NULL : recovery_find(peer, job, &lost->reference);
  if (!value) {
    recovery_refuse(peer, job, &lost->reference);
    return NULL;
  }
  if (recovery_answer(peer, value, &lost->reference)) {
    tfrt_remote_value_release(value);
    return NULL;
  }
  tfrt_recovery_request_t* request =
      tfrt_allocator_allocate(job->node->options.allocator, sizeof(*request));
  if (!request) {
    recovery_refuse(peer, job, &lost->reference);
    tfrt_remote_value_release(value);
    return NULL;
  }
  *request = (tfrt_recovery_request_t){.asker = peer->incarnation,
                                       .reference = lost->reference,
                                       .value = value,
                                       .since_ns = tfrt_node_now_ns(job->node)};
  tfrt_list_push_back(&job->recovery.asked, &request->link);
  // The owner may live, and have sent |peer| on to the lost host. This host hears from the owner
  // what becomes of |value| then, and only if it asks.
  tfrt_remote_value_await(value);
  return NULL;
}

static void recovery_free(tfrt_recovery_request_t* request) {
  tfrt_node_t* node = request->value->node;
  tfrt_list_remove(&request->link);
  tfrt_remote_value_release(request->value);
  tfrt_allocator_free(node->options.allocator, request, sizeof(*request));
}

// Answers the hosts that have asked for |value|, which has another owner now, or is resolved.
static void recovery_answer_waiting(tfrt_remote_value_t* value) {
  tfrt_list_link_t* head = &value->job->recovery.asked;
  for (tfrt_list_link_t* link = head->next; link != head;) {
    tfrt_recovery_request_t* request = TFRT_CONTAINER_OF(link, tfrt_recovery_request_t, link);
    link = link->next;
    if (request->value != value) continue;
    tfrt_peer_t* peer = tfrt_peer_find(value->node, request->asker);
    if (peer && !recovery_answer(peer, value, &request->reference)) continue;
    recovery_free(request);
  }
}

// Nobody waits for an answer in |job|: |asker| is lost; 0: all askers are.
static void recovery_drop(tfrt_job_t* job, uint64_t asker) {
  for (tfrt_list_link_t* link = job->recovery.asked.next; link != &job->recovery.asked;) {
    tfrt_recovery_request_t* request = TFRT_CONTAINER_OF(link, tfrt_recovery_request_t, link);
    link = link->next;
    if (asker == 0 || request->asker == asker) recovery_free(request);
  }
}

static void recovery_expire_job(tfrt_job_t* job, int64_t latest_ns) {
  for (tfrt_list_link_t* link = job->recovery.asked.next; link != &job->recovery.asked;) {
    tfrt_recovery_request_t* request = TFRT_CONTAINER_OF(link, tfrt_recovery_request_t, link);
    link = link->next;
    tfrt_peer_t* peer = tfrt_peer_find(job->node, request->asker);
    // A lost value waits for another owner itself, as its owner is dead; a value that comes home
    // needs no owner.
    const tfrt_remote_value_t* value = request->value;
    bool is_home = value->state == TFRT_REMOTE_VALUE_COMING_HOME;
    bool is_known = tfrt_remote_value_is_lost(value) || is_home || request->since_ns > latest_ns;
    if (peer && is_known && recovery_is_lent(peer, value)) continue;
    if (peer) recovery_refuse(peer, job, &request->reference);
    recovery_free(request);
  }
}

// Answers questions that nothing will answer: the loan is over, or the owner, which the asker has
// lost, lives on for this host.
static void recovery_on_node_tick(const tfrt_owner_end_t* end) {
  const tfrt_node_t* node = end->node;
  // By this time this host would have noticed the loss that the asker has noticed.
  int64_t silence_ns =
      (int64_t)node->options.session.limits.silence_ms * TFRT_NANOSECONDS_PER_MILLISECOND;
  int64_t latest_ns = tfrt_node_now_ns(node) - 2 * silence_ns;
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    recovery_expire_job(TFRT_CONTAINER_OF(link, tfrt_job_t, link), latest_ns);
  }
}

static void recovery_on_peer_lost(const tfrt_owner_end_t* end) {
  const tfrt_list_link_t* jobs = &end->node->jobs;
  for (tfrt_list_link_t* link = jobs->next; link != jobs; link = link->next) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    if (!end->job || end->job == job) recovery_drop(job, end->peer->incarnation);
  }
}

static void recovery_on_job_finished(const tfrt_owner_end_t* end) { recovery_drop(end->job, 0); }

static void recovery_on_node_made(const tfrt_owner_end_t* end) {
  end->node->value_hooks->ask_lender = recovery_ask;
  end->node->value_hooks->answer_waiting = recovery_answer_waiting;
}

static const tfrt_owner_rule_t tfrt_recovery_rules[] = {
    {TFRT_OWNER_NODE_MADE, TFRT_OWNER_RECOVERY, recovery_on_node_made},
    {TFRT_OWNER_NODE_TICK, TFRT_OWNER_RECOVERY, recovery_on_node_tick},
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_RECOVERY, recovery_on_peer_lost},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_RECOVERY, recovery_on_job_finished},
};

static const tfrt_frame_handler_t tfrt_recovery_handlers[] = {
    {TFRT_WIRE_FRAME_LOST, recovery_on_lost},
    {TFRT_WIRE_FRAME_REPLACE, recovery_on_replace},
};

const tfrt_node_part_t tfrt_recovery_part = {
    .rules = tfrt_recovery_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_recovery_rules),
    .handlers = tfrt_recovery_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_recovery_handlers),
};
