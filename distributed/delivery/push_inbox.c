// SPDX-License-Identifier: Apache-2.0
#include "distributed/delivery/push_inbox.h"

#include "distributed/domain/job.h"
#include "distributed/value/remote_value.h"
#include "distributed/value/value_item.h"

typedef struct tfrt_push_inbox_early_s {
  tfrt_list_link_t link;
  tfrt_job_t* job;  // +0: goes when the job does
  tfrt_wire_object_id_t id;
  int64_t until_ns;
  tfrt_async_value_t* value;        // +1, resolved; NULL: it is elsewhere
  tfrt_wire_reference_t reference;  // there
} tfrt_push_inbox_early_t;

// The inbox of |peer|, made when it is first needed; NULL when memory is out.
static tfrt_push_inbox_t* push_inbox_of(tfrt_peer_t* peer) {
  if (peer->pushes) return peer->pushes;
  tfrt_push_inbox_t* inbox =
      tfrt_allocator_allocate_zeroed(peer->node->options.allocator, sizeof(*inbox));
  if (!inbox) return NULL;
  tfrt_list_initialize(&inbox->put_off);
  tfrt_list_initialize(&inbox->asked);
  tfrt_list_initialize(&inbox->early);
  peer->pushes = inbox;
  return inbox;
}

// The time, |ms| from now, at which a wait that begins now is over.
static int64_t push_inbox_after(const tfrt_node_t* node, int64_t ms) {
  return tfrt_deadline_after(tfrt_node_now_ns(node), ms * TFRT_NANOSECONDS_PER_MILLISECOND);
}

// --- Early ones ----------------------------------------------------------------

static void push_inbox_free_early(tfrt_peer_t* peer, tfrt_push_inbox_early_t* early) {
  tfrt_list_remove(&early->link);
  --peer->pushes->early_count;
  tfrt_action_queue_release(&peer->node->actions, early->value);
  tfrt_allocator_free(peer->node->options.allocator, early, sizeof(*early));
}

static tfrt_push_inbox_early_t* push_inbox_first_early(tfrt_peer_t* peer) {
  tfrt_list_link_t* head = &peer->pushes->early;
  return tfrt_list_is_empty(head) ? NULL
                                  : TFRT_CONTAINER_OF(head->next, tfrt_push_inbox_early_t, link);
}

// Keeps |push|, which nobody expects yet.
static void push_inbox_keep(tfrt_peer_t* peer, tfrt_job_t* job, const tfrt_wire_push_t* push) {
  const tfrt_wire_item_t* item = &push->item;
  tfrt_node_t* node = peer->node;
  bool is_large =
      item->kind == TFRT_WIRE_ITEM_INLINE && item->value.body.size > TFRT_WIRE_DEFAULT_INLINE_SIZE;
  tfrt_push_inbox_t* inbox = is_large || !peer->session ? NULL : push_inbox_of(peer);
  if (!inbox) return;
  tfrt_push_inbox_early_t* early =
      tfrt_allocator_allocate_zeroed(node->options.allocator, sizeof(*early));
  if (!early) return;
  early->job = job;
  early->id = push->id;
  early->until_ns = push_inbox_after(node, TFRT_PUSH_INBOX_KEPT_MS);
  if (item->kind == TFRT_WIRE_ITEM_INLINE) {
    early->value = tfrt_value_item_decode(&item->value, node->options.host->allocator);
  } else if (item->kind == TFRT_WIRE_ITEM_ERROR) {
    early->value = tfrt_value_item_decode_error(item->error);
  } else {
    early->reference = item->reference;
  }
  if (inbox->early_count == TFRT_PUSH_INBOX_MAX_EARLY) {
    push_inbox_free_early(peer, push_inbox_first_early(peer));
  }
  tfrt_list_push_back(&inbox->early, &early->link);
  ++inbox->early_count;
  tfrt_session_wake_at(peer->session, early->until_ns);
}

// Gives |value| what came for it before it was lent; false if nothing has.
static bool push_inbox_take_early(tfrt_remote_value_t* value) {
  tfrt_peer_t* peer = value->peer;
  const tfrt_list_link_t* head = &peer->pushes->early;
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_push_inbox_early_t* early = TFRT_CONTAINER_OF(link, tfrt_push_inbox_early_t, link);
    bool is_it =
        early->job == value->job && tfrt_wire_object_id_equal(early->id, value->location.id);
    if (!is_it) continue;
    if (early->value) {
      tfrt_remote_value_receive(value, early->value);
    } else {
      tfrt_remote_value_on_item(value, &(tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_REFERENCE,
                                                           .reference = early->reference});
    }
    push_inbox_free_early(peer, early);
    return true;
  }
  return false;
}

// Drops the early Pushes of |peer| for |job|; NULL: for all jobs.
static void push_inbox_drop(tfrt_peer_t* peer, const tfrt_job_t* job) {
  if (!peer->pushes) return;
  tfrt_list_link_t* head = &peer->pushes->early;
  for (tfrt_list_link_t* link = head->next; link != head;) {
    tfrt_push_inbox_early_t* early = TFRT_CONTAINER_OF(link, tfrt_push_inbox_early_t, link);
    link = link->next;
    if (!job || early->job == job) push_inbox_free_early(peer, early);
  }
}

// --- Expected ones -------------------------------------------------------------

void tfrt_push_inbox_expect(tfrt_remote_value_t* value) {
  if (value->state != TFRT_REMOTE_VALUE_UNKNOWN || !value->peer) return;
  tfrt_peer_t* peer = value->peer;
  bool may_come = peer->session && (tfrt_session_features(peer->session) & TFRT_WIRE_FEATURE_PUSH);
  tfrt_push_inbox_t* inbox = may_come ? push_inbox_of(peer) : NULL;
  if (!inbox || push_inbox_take_early(value)) return;
  if (inbox->expected_count == TFRT_PUSH_INBOX_MAX_EXPECTED) return;
  tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_AWAITING_PUSH);
  value->push.until_ns = push_inbox_after(value->node, TFRT_PUSH_INBOX_GRACE_MS);
  tfrt_list_push_back(&inbox->put_off, &value->push.expected);
  ++inbox->expected_count;
  tfrt_session_wake_at(peer->session, value->push.until_ns);
}

// |value| waits for no Push any more; nothing happens if it doesn't.
static void push_inbox_forget(tfrt_remote_value_t* value) {
  if (!tfrt_list_is_linked(&value->push.expected)) return;
  if (value->state == TFRT_REMOTE_VALUE_AWAITING_PUSH) {
    tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_UNKNOWN);
  }
  tfrt_list_remove(&value->push.expected);
  --value->peer->pushes->expected_count;
}

// The value (+0) of |job| in |head|, a list of expected ones, that is to be pushed as |id|, or
// NULL.
static tfrt_remote_value_t* push_inbox_find(const tfrt_list_link_t* head, const tfrt_job_t* job,
                                            tfrt_wire_object_id_t id) {
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_remote_value_t* value = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, push.expected);
    bool is_it = value->job == job && tfrt_wire_object_id_equal(value->location.id, id);
    if (is_it) return value;
  }
  return NULL;
}

// A Push came.
static tfrt_status_t push_inbox_on_push(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  tfrt_job_t* job = in->job;
  const tfrt_wire_push_t* push = &in->body->push;
  if (!job || tfrt_job_is_closed(job) || !push_inbox_of(peer)) return NULL;
  tfrt_remote_value_t* value = push_inbox_find(&peer->pushes->put_off, job, push->id);
  if (!value) value = push_inbox_find(&peer->pushes->asked, job, push->id);
  if (!value) {
    push_inbox_keep(peer, job, push);
    return NULL;
  }
  push_inbox_forget(value);
  // The owner that was asked also says where the value is. A value whose last reference is gone has
  // only its storage left.
  bool is_answered = push->item.kind == TFRT_WIRE_ITEM_REFERENCE && value->question.want != 0;
  if (is_answered || !tfrt_async_value_try_retain(&value->base.base)) return NULL;
  tfrt_remote_value_on_item(value, &push->item);
  tfrt_remote_value_release(value);
  return NULL;
}

// Asks for values that have waited too long for |peer|.
static void push_inbox_ask_late(tfrt_peer_t* peer, int64_t now_ns) {
  const tfrt_list_link_t* head = &peer->pushes->put_off;
  while (!tfrt_list_is_empty(head)) {
    tfrt_remote_value_t* value = TFRT_CONTAINER_OF(head->next, tfrt_remote_value_t, push.expected);
    if (value->push.until_ns > now_ns) {
      tfrt_session_wake_at(peer->session, value->push.until_ns);
      break;
    }
    tfrt_remote_value_set_state(value, TFRT_REMOTE_VALUE_UNKNOWN);
    tfrt_list_remove(&value->push.expected);
    tfrt_list_push_back(&peer->pushes->asked, &value->push.expected);
    if (!tfrt_async_value_try_retain(&value->base.base)) continue;
    tfrt_remote_value_ask_again(value);
    tfrt_remote_value_release(value);
  }
}

// Asks for values that have waited too long for |peer|, and drops early Pushes that nobody came
// for.
static void push_inbox_expire(tfrt_peer_t* peer) {
  if (!peer->pushes) return;
  int64_t now_ns = tfrt_node_now_ns(peer->node);
  push_inbox_ask_late(peer, now_ns);
  for (tfrt_push_inbox_early_t* early; (early = push_inbox_first_early(peer));) {
    if (early->until_ns > now_ns) {
      tfrt_session_wake_at(peer->session, early->until_ns);
      break;
    }
    push_inbox_free_early(peer, early);
  }
}

// --- Owners --------------------------------------------------------------------

static void push_inbox_on_peer_lost(const tfrt_owner_end_t* end) {
  push_inbox_drop(end->peer, end->job);
}

static void push_inbox_on_job_finished(const tfrt_owner_end_t* end) {
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&end->node->peers); found;
       found = tfrt_hash_table_next(&end->node->peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    push_inbox_drop(peer, end->job);
  }
}

static void push_inbox_on_peer_past(const tfrt_owner_end_t* end) {
  tfrt_peer_t* peer = end->peer;
  push_inbox_drop(peer, NULL);
  tfrt_allocator_free(end->node->options.allocator, peer->pushes, sizeof(*peer->pushes));
}

static void push_inbox_on_node_made(const tfrt_owner_end_t* end) {
  end->node->value_hooks->forget_push = push_inbox_forget;
}

static void push_inbox_on_peer_woken(const tfrt_owner_end_t* end) { push_inbox_expire(end->peer); }

static const tfrt_owner_rule_t tfrt_push_inbox_rules[] = {
    {TFRT_OWNER_NODE_MADE, TFRT_OWNER_VALUES, push_inbox_on_node_made},
    {TFRT_OWNER_PEER_WOKEN, TFRT_OWNER_VALUES, push_inbox_on_peer_woken},
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_VALUES, push_inbox_on_peer_lost},
    {TFRT_OWNER_CLIENT_LEFT, TFRT_OWNER_VALUES, push_inbox_on_peer_lost},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_VALUES, push_inbox_on_job_finished},
    {TFRT_OWNER_PEER_PAST, TFRT_OWNER_VALUES, push_inbox_on_peer_past},
};

static const tfrt_frame_handler_t tfrt_push_inbox_handlers[] = {
    {TFRT_WIRE_FRAME_PUSH, push_inbox_on_push},
};

const tfrt_node_part_t tfrt_push_inbox_part = {
    .rules = tfrt_push_inbox_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_push_inbox_rules),
    .handlers = tfrt_push_inbox_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_push_inbox_handlers),
};
