// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/incoming_want_impl.h"

// --- Held requests -----------------------------------------------------------

void tfrt_incoming_want_serve_held(tfrt_peer_t* peer) {
  tfrt_list_link_t ready;
  tfrt_list_initialize(&ready);
  for (tfrt_list_link_t* link = peer->held_requests.next; link != &peer->held_requests;) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held);
    link = link->next;
    if (want->id.number > peer->watermark) continue;
    tfrt_list_remove(&want->held);
    tfrt_list_push_back(&ready, &want->held);
  }
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&ready));) {
    tfrt_incoming_want_find(TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held));
  }
}

void tfrt_incoming_want_refuse_unpromised(tfrt_peer_t* peer, uint64_t named, uint64_t echo) {
  for (tfrt_list_link_t* link = peer->held_requests.next; link != &peer->held_requests;) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held);
    link = link->next;
    if (want->heartbeat >= echo || want->id.number <= named) continue;
    tfrt_incoming_want_fail_take(
        want,
        tfrt_status_create(TFRT_STATUS_NOT_FOUND, "a value is wanted that nobody has promised"));
  }
}

// Closes the wants of |job| (NULL: of all jobs) in the list |asked|.
static void tfrt_incoming_want_drop_list(const tfrt_list_link_t* asked, const tfrt_job_t* job) {
  for (tfrt_list_link_t* link = asked->next; link != asked;) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, asked);
    link = link->next;
    if (!job || want->job == job) tfrt_incoming_want_close(want);
  }
}

static void tfrt_incoming_want_bury_all(tfrt_peer_t* peer, const tfrt_job_t* job) {
  for (tfrt_hash_node_t* next = tfrt_hash_table_first(&peer->incoming_wants); next;) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(next, tfrt_incoming_want_t, by_want);
    next = tfrt_hash_table_next(&peer->incoming_wants, next);
    if (!job || want->job == job) tfrt_incoming_want_close(want);
  }
  tfrt_incoming_want_drop_list(&peer->incoming_retains, job);
  tfrt_incoming_want_drop_list(&peer->outgoing_pushes, job);
  for (tfrt_list_link_t* link = peer->held_requests.next; link != &peer->held_requests;) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held);
    link = link->next;
    if (job && want->job != job) continue;
    tfrt_incoming_want_fail_take(
        want, tfrt_peer_lost_error(peer, want->job, NULL, "before it made a call it had named"));
  }
}

static void tfrt_incoming_want_close_job(tfrt_node_t* node, const tfrt_job_t* job,
                                         tfrt_status_t reason) {
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&node->peers); found;
       found = tfrt_hash_table_next(&node->peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    for (tfrt_hash_node_t* next = tfrt_hash_table_first(&peer->incoming_wants); next;) {
      tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(next, tfrt_incoming_want_t, by_want);
      next = tfrt_hash_table_next(&peer->incoming_wants, next);
      if (want->job == job) tfrt_incoming_want_fail(want, reason);
    }
    for (tfrt_list_link_t* link = peer->incoming_retains.next; link != &peer->incoming_retains;) {
      tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, asked);
      link = link->next;
      if (want->job == job) tfrt_incoming_want_fail(want, reason);
    }
    tfrt_incoming_want_drop_list(&peer->outgoing_pushes, job);
    for (tfrt_list_link_t* link = peer->held_requests.next; link != &peer->held_requests;) {
      tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held);
      link = link->next;
      if (want->job == job) tfrt_incoming_want_fail(want, reason);
    }
  }
}

static void tfrt_incoming_want_on_peer_made(const tfrt_owner_end_t* end) {
  tfrt_incoming_want_initialize_table(&end->peer->incoming_wants, end->node->options.allocator);
}

static void tfrt_incoming_want_on_peer_lost(const tfrt_owner_end_t* end) {
  tfrt_incoming_want_bury_all(end->peer, end->job);
}

static void tfrt_incoming_want_on_job_finished(const tfrt_owner_end_t* end) {
  tfrt_incoming_want_close_job(end->node, end->job, end->reason);
}

static const tfrt_owner_rule_t tfrt_incoming_want_rules[] = {
    {TFRT_OWNER_PEER_MADE, TFRT_OWNER_WANTS, tfrt_incoming_want_on_peer_made},
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_WANTS, tfrt_incoming_want_on_peer_lost},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_WANTS, tfrt_incoming_want_on_job_finished},
};

void tfrt_incoming_want_register(tfrt_owner_rules_t* rules) {
  tfrt_owner_rules_add(rules, tfrt_incoming_want_rules, TFRT_ARRAY_SIZE(tfrt_incoming_want_rules));
}
