// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/push_inbox.h"

#include "distributed/job/job.h"
#include "distributed/value/remote_value_impl.h"

typedef struct tfrt_push_inbox_early_s {
  tfrt_list_link_t link;
  tfrt_job_t* job;  // +0: goes when the job does
  tfrt_wire_object_id_t id;
  int64_t until_ns;
  tfrt_async_value_t* value;        // +1, resolved; NULL: it is elsewhere
  tfrt_wire_reference_t reference;  // there
} tfrt_push_inbox_early_t;

void tfrt_push_inbox_initialize(tfrt_push_inbox_t* inbox) {
  *inbox = (tfrt_push_inbox_t){.grace_ms = TFRT_PUSH_INBOX_GRACE_MS};
  tfrt_list_initialize(&inbox->put_off);
  tfrt_list_initialize(&inbox->asked);
  tfrt_list_initialize(&inbox->early);
}

// When what begins to wait at this moment has waited for |ms|.
static int64_t tfrt_push_inbox_after(const tfrt_node_t* node, int64_t ms) {
  return tfrt_deadline_after(tfrt_node_now_ns(node), ms * TFRT_NANOSECONDS_PER_MILLISECOND);
}

// --- Early ones ----------------------------------------------------------------

static void tfrt_push_inbox_free_early(tfrt_peer_t* peer, tfrt_push_inbox_early_t* early) {
  tfrt_list_remove(&early->link);
  --peer->pushes.early_count;
  tfrt_action_queue_release(&peer->node->actions, early->value);
  tfrt_allocator_free(peer->node->options.allocator, early, sizeof(*early));
}

static tfrt_push_inbox_early_t* tfrt_push_inbox_first_early(tfrt_peer_t* peer) {
  tfrt_list_link_t* head = &peer->pushes.early;
  return tfrt_list_is_empty(head) ? NULL
                                  : TFRT_CONTAINER_OF(head->next, tfrt_push_inbox_early_t, link);
}

// Keeps |push|, which nobody expects yet.
static void tfrt_push_inbox_keep(tfrt_peer_t* peer, tfrt_job_t* job, const tfrt_wire_push_t* push) {
  const tfrt_wire_item_t* item = &push->item;
  tfrt_node_t* node = peer->node;
  bool is_large =
      item->kind == TFRT_WIRE_ITEM_INLINE && item->value.body.size > TFRT_WIRE_DEFAULT_INLINE_SIZE;
  if (is_large || !peer->session) return;
  tfrt_push_inbox_early_t* early =
      tfrt_allocator_allocate_zeroed(node->options.allocator, sizeof(*early));
  if (!early) return;
  early->job = job;
  early->id = push->id;
  early->until_ns = tfrt_push_inbox_after(node, TFRT_PUSH_INBOX_KEPT_MS);
  if (item->kind == TFRT_WIRE_ITEM_INLINE) {
    early->value = tfrt_value_item_decode(&item->value, node->options.host->allocator);
  } else if (item->kind == TFRT_WIRE_ITEM_ERROR) {
    early->value = tfrt_value_item_decode_error(item->error);
  } else {
    early->reference = item->reference;
  }
  tfrt_push_inbox_t* inbox = &peer->pushes;
  if (inbox->early_count == TFRT_PUSH_INBOX_MAX_EARLY) {
    tfrt_push_inbox_free_early(peer, tfrt_push_inbox_first_early(peer));
  }
  tfrt_list_push_back(&inbox->early, &early->link);
  ++inbox->early_count;
  tfrt_session_wake_at(peer->session, early->until_ns);
}

// Gives |value| what came for it before it was lent; false if nothing has.
static bool tfrt_push_inbox_take_early(tfrt_remote_value_t* value) {
  tfrt_peer_t* peer = value->peer;
  const tfrt_list_link_t* head = &peer->pushes.early;
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
    tfrt_push_inbox_free_early(peer, early);
    return true;
  }
  return false;
}

void tfrt_push_inbox_drop(tfrt_peer_t* peer, const tfrt_job_t* job) {
  tfrt_list_link_t* head = &peer->pushes.early;
  for (tfrt_list_link_t* link = head->next; link != head;) {
    tfrt_push_inbox_early_t* early = TFRT_CONTAINER_OF(link, tfrt_push_inbox_early_t, link);
    link = link->next;
    if (!job || early->job == job) tfrt_push_inbox_free_early(peer, early);
  }
}

// --- Expected ones -------------------------------------------------------------

// Puts |value| off, before those that are put off for longer, as the grace was longer then.
static void tfrt_push_inbox_put_off(tfrt_push_inbox_t* inbox, tfrt_remote_value_t* value) {
  tfrt_list_link_t* before = inbox->put_off.previous;
  while (before != &inbox->put_off) {
    const tfrt_remote_value_t* other = TFRT_CONTAINER_OF(before, tfrt_remote_value_t, in_expected);
    if (other->expected_until_ns <= value->expected_until_ns) break;
    before = before->previous;
  }
  tfrt_list_initialize(&value->in_expected);
  tfrt_list_insert_after(before, &value->in_expected);
}

void tfrt_push_inbox_expect(tfrt_remote_value_t* value) {
  if (value->resolved || value->lost || !value->peer) return;
  tfrt_peer_t* peer = value->peer;
  tfrt_push_inbox_t* inbox = &peer->pushes;
  bool may_come = peer->session && (tfrt_session_features(peer->session) & TFRT_WIRE_FEATURE_PUSH);
  if (!may_come || tfrt_push_inbox_take_early(value)) return;
  if (inbox->expected_count == TFRT_PUSH_INBOX_MAX_EXPECTED) return;
  value->is_expected = true;
  value->is_put_off = true;
  value->expected_until_ns = tfrt_push_inbox_after(value->node, inbox->grace_ms);
  tfrt_push_inbox_put_off(inbox, value);
  ++inbox->expected_count;
  tfrt_session_wake_at(peer->session, value->expected_until_ns);
}

void tfrt_push_inbox_forget(tfrt_remote_value_t* value) {
  if (!value->is_expected) return;
  value->is_expected = false;
  value->is_put_off = false;
  tfrt_list_remove(&value->in_expected);
  --value->peer->pushes.expected_count;
}

// The value (+0) of |job| in |head|, a list of expected ones, that is to be pushed as |id|, or
// NULL.
static tfrt_remote_value_t* tfrt_push_inbox_find(const tfrt_list_link_t* head,
                                                 const tfrt_job_t* job, tfrt_wire_object_id_t id) {
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    tfrt_remote_value_t* value = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, in_expected);
    bool is_it = value->job == job && tfrt_wire_object_id_equal(value->location.id, id);
    if (is_it) return value;
  }
  return NULL;
}

void tfrt_push_inbox_on_push(tfrt_peer_t* peer, tfrt_job_t* job, const tfrt_wire_push_t* push) {
  if (!job || job->closed) return;
  tfrt_remote_value_t* value = tfrt_push_inbox_find(&peer->pushes.put_off, job, push->id);
  if (value) ++peer->pushes.timely_count;
  if (!value) value = tfrt_push_inbox_find(&peer->pushes.asked, job, push->id);
  if (!value) {
    tfrt_push_inbox_keep(peer, job, push);
    return;
  }
  tfrt_push_inbox_forget(value);
  // Who was asked says where it is, too. One whose last reference is gone has only its storage.
  bool is_answered = push->item.kind == TFRT_WIRE_ITEM_REFERENCE && value->want != 0;
  if (is_answered || !tfrt_async_value_try_retain(&value->base.base)) return;
  tfrt_remote_value_on_item(value, &push->item);
  tfrt_remote_value_release(value);
}

// Decides for how long Pushes are waited for from now on; |was_late|: one has not come in time.
static void tfrt_push_inbox_judge(tfrt_push_inbox_t* inbox, bool was_late) {
  if (was_late) {
    inbox->grace_ms = TFRT_PUSH_INBOX_GRACE_MS;
  } else if (inbox->timely_count < TFRT_PUSH_INBOX_TRUSTED) {
    return;
  } else if (inbox->grace_ms < TFRT_PUSH_INBOX_MAX_GRACE_MS) {
    inbox->grace_ms *= 2;
  }
  inbox->timely_count = 0;
}

// Asks for what has waited too long for |peer|; false if nothing has.
static bool tfrt_push_inbox_ask_late(tfrt_peer_t* peer, int64_t now_ns) {
  const tfrt_list_link_t* head = &peer->pushes.put_off;
  bool was_late = false;
  while (!tfrt_list_is_empty(head)) {
    tfrt_remote_value_t* value = TFRT_CONTAINER_OF(head->next, tfrt_remote_value_t, in_expected);
    if (value->expected_until_ns > now_ns) {
      tfrt_session_wake_at(peer->session, value->expected_until_ns);
      break;
    }
    was_late = true;
    value->is_put_off = false;
    tfrt_list_remove(&value->in_expected);
    tfrt_list_push_back(&peer->pushes.asked, &value->in_expected);
    if (!tfrt_async_value_try_retain(&value->base.base)) continue;
    tfrt_remote_value_ask_again(value);
    tfrt_remote_value_release(value);
  }
  return was_late;
}

void tfrt_push_inbox_expire(tfrt_peer_t* peer) {
  int64_t now_ns = tfrt_node_now_ns(peer->node);
  tfrt_push_inbox_judge(&peer->pushes, tfrt_push_inbox_ask_late(peer, now_ns));
  for (tfrt_push_inbox_early_t* early; (early = tfrt_push_inbox_first_early(peer));) {
    if (early->until_ns > now_ns) {
      tfrt_session_wake_at(peer->session, early->until_ns);
      break;
    }
    tfrt_push_inbox_free_early(peer, early);
  }
}
