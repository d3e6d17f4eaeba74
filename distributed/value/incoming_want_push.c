// SPDX-License-Identifier: Apache-2.0
#include "distributed/tuning/tuning.h"
#include "distributed/value/failed_call.h"
#include "distributed/value/incoming_want_impl.h"
#include "distributed/value/value_host.h"

void tfrt_incoming_want_push_value(tfrt_incoming_want_t* want) {
  tfrt_async_value_t* value = tfrt_async_value_resolved(want->value);
  bool is_error = tfrt_async_value_is_error(value);
  if (!is_error && (tfrt_type_get(value->type_id)->flags & TFRT_TYPE_FLAG_MUTABLE)) {
    tfrt_incoming_want_close(want);
    return;
  }
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, want->node->options.allocator);
  tfrt_wire_item_t item;
  tfrt_status_t status = tfrt_value_item_encode(value, tfrt_peer_inline_limit(want->peer),
                                                tfrt_value_item_host_of(want->job), &arena, &item);
  if (!status && item.kind != TFRT_WIRE_ITEM_NONE) tfrt_incoming_want_tell(want, &item);
  tfrt_incoming_want_close(want);
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}

void tfrt_incoming_want_drop_push(const tfrt_peer_t* peer, tfrt_object_t* object) {
  for (tfrt_list_link_t* link = object->waiting.next; link != &object->waiting; link = link->next) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held);
    if (want->kind != TFRT_INCOMING_WANT_PUSH || want->peer != peer) continue;
    tfrt_incoming_want_close(want);
    return;
  }
}

// The peer (+0) that is |incarnation|, if it may be sent something of |job| unasked; else NULL.
static tfrt_peer_t* tfrt_incoming_want_find_pushed(tfrt_job_t* job, uint64_t incarnation) {
  tfrt_peer_t* peer = tfrt_peer_find(job->node, incarnation);
  const tfrt_job_member_t* member = tfrt_job_find_incarnation(job, incarnation);
  bool is_there = peer && peer->session && member && !member->death &&
                  !tfrt_job_has_left(job, incarnation) &&
                  (tfrt_session_features(peer->session) & TFRT_WIRE_FEATURE_PUSH);
  return is_there && peer->outgoing_push_count < TFRT_INCOMING_WANT_MAX_PUSHES ? peer : NULL;
}

static void tfrt_incoming_want_push_one(tfrt_job_t* job, tfrt_wire_object_id_t id, uint64_t to) {
  bool is_known = tfrt_object_table_find(job->node->objects, id, job) != NULL ||
                  tfrt_failed_call_find(job, id) != NULL;
  tfrt_peer_t* peer = tfrt_incoming_want_find_pushed(job, to);
  tfrt_incoming_want_t* want = is_known && peer ? tfrt_incoming_want_create(job, id) : NULL;
  if (!want) return;
  want->peer = peer;
  want->kind = TFRT_INCOMING_WANT_PUSH;
  tfrt_list_push_back(&peer->outgoing_pushes, &want->asked);
  ++peer->outgoing_push_count;
  tfrt_incoming_want_find(want);
}

void tfrt_incoming_want_push(const tfrt_peer_t* peer, tfrt_job_t* job,
                             const tfrt_wire_invoke_t* invoke) {
  for (size_t i = 0; i < invoke->push_to_count && !tfrt_job_is_closed(job); ++i) {
    tfrt_wire_object_id_t id = {
        .namer = peer->incarnation, .number = invoke->call, .index = invoke->push_to[i].result};
    tfrt_incoming_want_push_one(job, id, invoke->push_to[i].to);
  }
}
