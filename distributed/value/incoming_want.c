// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "distributed/value/failed_call.h"
#include "distributed/value/incoming_want_impl.h"
#include "distributed/value/list_item.h"
#include "distributed/value/object_table.h"
#include "distributed/value/value_host.h"

static uint64_t tfrt_incoming_want_hash(const void* key) {
  return tfrt_hash_u64(*(const uint64_t*)key);
}

static bool tfrt_incoming_want_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_incoming_want_t, by_want)->want == *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t tfrt_incoming_want_table_vtable = {
    .hash = tfrt_incoming_want_hash,
    .equal = tfrt_incoming_want_equal,
};

void tfrt_incoming_want_initialize_table(tfrt_hash_table_t* table, tfrt_allocator_t allocator) {
  tfrt_hash_table_initialize(table, &tfrt_incoming_want_table_vtable, allocator);
}

// --- Life --------------------------------------------------------------------

tfrt_incoming_want_t* tfrt_incoming_want_create(tfrt_job_t* job, tfrt_wire_object_id_t id) {
  tfrt_node_t* node = job->node;
  tfrt_incoming_want_t* want =
      tfrt_allocator_allocate_zeroed(node->options.allocator, sizeof(*want));
  if (!want) return NULL;
  tfrt_ref_count_initialize(&want->ref_count);
  want->node = tfrt_node_retain(node);
  want->job = tfrt_job_retain(job);
  want->id = id;
  want->open = true;
  tfrt_list_initialize(&want->held);
  tfrt_list_initialize(&want->asked);
  ++node->counts.incoming_wants;
  return want;
}

static void tfrt_incoming_want_release_node(void* node) { tfrt_node_release(node); }

void tfrt_incoming_want_release(tfrt_incoming_want_t* want) {
  if (!tfrt_ref_count_decrement(&want->ref_count)) return;
  tfrt_node_t* node = want->node;
  tfrt_action_queue_release(&node->actions, want->value);
  tfrt_job_release(want->job);
  tfrt_allocator_free(node->options.allocator, want, sizeof(*want));
  tfrt_action_queue_call(&node->actions, tfrt_incoming_want_release_node, node);
}

void tfrt_incoming_want_close(tfrt_incoming_want_t* want) {
  want->open = false;
  tfrt_list_remove(&want->held);
  tfrt_peer_t* peer = want->peer;
  tfrt_list_remove(&want->asked);
  if (want->kind == TFRT_INCOMING_WANT_PUSH) {
    --peer->outgoing_push_count;
  } else if (peer && want->kind != TFRT_INCOMING_WANT_RETAIN) {
    tfrt_hash_table_remove(&peer->incoming_wants, &want->by_want);
    if (!want->has_credit_back) tfrt_peer_return_want_credit(peer);
  }
  if (want->on_bulk) {
    --peer->transfers;
    tfrt_lane_manager_cancel_send(want->node->lanes, peer->incarnation, want->want);
  }
  tfrt_action_queue_release(&want->node->actions, want->own);
  want->own = NULL;
  --want->node->counts.incoming_wants;
  tfrt_incoming_want_release(want);
}

// --- Answers -----------------------------------------------------------------

void tfrt_incoming_want_tell(tfrt_incoming_want_t* want, const tfrt_wire_item_t* item) {
  if (want->kind == TFRT_INCOMING_WANT_PUSH) {
    tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_PUSH, .push = {.id = want->id, .item = *item}};
    tfrt_peer_send(want->peer, &(tfrt_peer_frame_t){.job = want->job}, &body);
    return;
  }
  if (want->kind == TFRT_INCOMING_WANT_RETAIN) {
    tfrt_wire_retained_item_t retained = {.id = want->id, .item = *item};
    tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_RETAINED,
                             .retained = {.items = &retained, .item_count = 1}};
    tfrt_peer_send(want->peer, &(tfrt_peer_frame_t){.job = want->job}, &body);
    return;
  }
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_RESOLVE,
                           .resolve = {.want = want->want, .item = *item}};
  tfrt_peer_send(want->peer, &(tfrt_peer_frame_t){.job = want->job}, &body);
}

void tfrt_incoming_want_answer(tfrt_incoming_want_t* want, const tfrt_wire_item_t* item) {
  tfrt_incoming_want_tell(want, item);
  tfrt_incoming_want_close(want);
}

void tfrt_incoming_want_fail(tfrt_incoming_want_t* want, tfrt_status_t status) {
  tfrt_node_t* node = want->node;
  if (!want->peer) {
    tfrt_action_queue_fail_take(&node->actions, tfrt_async_value_retain(want->own), status);
    tfrt_incoming_want_close(want);
    return;
  }
  if (want->on_bulk) {
    // The want was answered already: the lane carries the error of the payload.
    tfrt_lane_manager_abort_send(node->lanes, want->peer->incarnation, want->want, status);
    tfrt_incoming_want_close(want);
    return;
  }
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, node->options.allocator);
  tfrt_wire_error_t error;
  tfrt_status_t failed =
      tfrt_wire_error_from_status(status, want->job->rank, node->incarnation, &arena, &error);
  if (failed) {
    error = (tfrt_wire_error_t){.code = TFRT_STATUS_RESOURCE_EXHAUSTED};
    tfrt_status_release(failed);
  }
  tfrt_incoming_want_answer(want,
                            &(tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_ERROR, .error = &error});
  tfrt_arena_deinitialize(&arena);
}

void tfrt_incoming_want_fail_take(tfrt_incoming_want_t* want, tfrt_status_t status) {
  tfrt_incoming_want_fail(want, status);
  tfrt_status_release(status);
}

// True if the available |value| consists of other values.
static bool tfrt_incoming_want_is_aggregate(tfrt_async_value_t* value) {
  return tfrt_type_get(tfrt_async_value_resolved(value)->type_id)->aggregate != NULL;
}

// Answers with the resolved value.
static void tfrt_incoming_want_answer_value(tfrt_incoming_want_t* want) {
  if (want->kind == TFRT_INCOMING_WANT_PUSH) {
    tfrt_incoming_want_push_value(want);
    return;
  }
  tfrt_async_value_t* value = want->value;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, want->node->options.allocator);
  tfrt_wire_item_t item;
  bool is_error = tfrt_async_value_is_error(value);
  size_t limit = TFRT_WIRE_MAX_INLINE_SIZE;
  tfrt_status_t status = NULL;
  if (want->level == TFRT_WIRE_WANT_AVAILABLE && !is_error) {
    item = (tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_AVAILABLE,
                              .available = tfrt_value_item_describe(value)};
  } else if (!is_error && tfrt_incoming_want_is_aggregate(value)) {
    tfrt_object_t* object = tfrt_object_table_find(want->node->objects, want->id, want->job);
    status = tfrt_list_item_encode(value, want->peer, want->job, object, &arena, &item);
  } else {
    status =
        tfrt_value_item_encode(value, limit, tfrt_value_item_host_of(want->job), &arena, &item);
    if (!status && item.kind == TFRT_WIRE_ITEM_NONE) status = tfrt_incoming_want_offer(want);
  }
  if (status) {
    tfrt_incoming_want_fail_take(want, status);
  } else if (!want->on_bulk) {
    tfrt_incoming_want_answer(want, &item);
  }
  tfrt_arena_deinitialize(&arena);
}

// Answers with a reference to |remote|, which the value is, and with the place of the call whose
// result it is.
static void tfrt_incoming_want_answer_reference(tfrt_incoming_want_t* want,
                                                tfrt_remote_value_t* remote) {
  tfrt_wire_item_t item = {.kind = TFRT_WIRE_ITEM_REFERENCE,
                           .reference = tfrt_remote_value_tell(remote)};
  if (want->kind == TFRT_INCOMING_WANT_PUSH || want->kind == TFRT_INCOMING_WANT_RETAIN ||
      !tfrt_remote_value_has_site(remote)) {
    tfrt_incoming_want_answer(want, &item);
    return;
  }
  tfrt_status_origin_t site = tfrt_call_site_origin(&remote->place.site);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, want->node->options.allocator);
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_RESOLVE,
      .resolve = {.want = want->want,
                  .item = item,
                  .origin = tfrt_wire_origin_from_status(&site, want->job->rank,
                                                         want->node->incarnation, &arena)}};
  tfrt_peer_send(want->peer, &(tfrt_peer_frame_t){.job = want->job}, &body);
  tfrt_incoming_want_close(want);
  tfrt_arena_deinitialize(&arena);
}

static void tfrt_incoming_want_wait(tfrt_incoming_want_t* want, tfrt_action_wait_t how);

// The object's value is known: answers, or waits for it.
static void tfrt_incoming_want_serve(tfrt_incoming_want_t* want, tfrt_action_wait_t how) {
  tfrt_node_t* node = want->node;
  if (!want->peer) {
    tfrt_action_queue_forward_take(&node->actions, tfrt_async_value_retain(want->own),
                                   tfrt_async_value_retain(want->value));
    tfrt_incoming_want_close(want);
    return;
  }
  tfrt_object_t* object = tfrt_object_table_find(node->objects, want->id, want->job);
  if (want->kind == TFRT_INCOMING_WANT_PUSH && !object) {
    // The lender has taken the value back: nobody is to get it any more.
    tfrt_incoming_want_close(want);
    return;
  }
  tfrt_remote_value_t* remote = tfrt_remote_value_of(node, want->value);
  if (remote) {
    if (tfrt_object_table_keep(node->objects, object, &remote->base.base)) {
      tfrt_incoming_want_answer_reference(want, remote);
    } else {
      tfrt_incoming_want_fail_take(want, tfrt_status_out_of_memory());
    }
    tfrt_remote_value_release(remote);
  } else if (tfrt_async_value_is_available(want->value)) {
    tfrt_incoming_want_answer_value(want);
  } else {
    tfrt_incoming_want_wait(want, how);
  }
}

// Runs when the value is settled.
static void tfrt_incoming_want_run(tfrt_task_t* task) {
  tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(task, tfrt_incoming_want_t, waiter);
  tfrt_node_t* node = tfrt_node_retain(want->node);
  tfrt_node_lock_tables(node);
  // A settled value that is neither here nor known to be elsewhere is on its way.
  if (want->open) tfrt_incoming_want_serve(want, TFRT_ACTION_AND_THEN);
  tfrt_incoming_want_release(want);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static void tfrt_incoming_want_wait(tfrt_incoming_want_t* want, tfrt_action_wait_t how) {
  tfrt_ref_count_increment(&want->ref_count);
  tfrt_task_initialize(&want->waiter, tfrt_incoming_want_run);
  tfrt_action_queue_wait(&want->node->actions, want->value, how, &want->waiter);
}

// --- Slots whose call has not told yet what they are --------------------------

void tfrt_incoming_want_serve_waiting(tfrt_object_t* object) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&object->waiting));) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held);
    want->value = tfrt_async_value_retain(object->value);
    tfrt_incoming_want_serve(want, TFRT_ACTION_AWAIT);
  }
}

void tfrt_incoming_want_abandon(tfrt_object_t* object) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&object->waiting));) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held);
    if (want->kind == TFRT_INCOMING_WANT_PUSH) {
      tfrt_incoming_want_close(want);
      continue;
    }
    want->value = tfrt_async_value_retain(tfrt_object_table_value(object));
    tfrt_incoming_want_wait(want, TFRT_ACTION_AWAIT);
  }
}

// --- Names -------------------------------------------------------------------

// The error (+1) for a result that |namer|, its caller, should have kept alive here for the
// requester, but released. A host does so after it has lost another host, from which the requester
// still hears; a client may have released the result too early.
static tfrt_status_t tfrt_incoming_want_let_go(const tfrt_job_t* job, uint64_t namer) {
  uint32_t rank = tfrt_job_rank_of(job, namer);
  if (rank == TFRT_WIRE_NO_RANK) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                              "the client has let go of a result of host %u that is wanted",
                              job->rank);
  }
  char message[128];
  snprintf(message, sizeof(message),
           "host %u has let go of a result of host %u that is wanted: it has lost a host", rank,
           job->rank);
  const tfrt_status_fields_t fields = {.code = TFRT_STATUS_UNAVAILABLE,
                                       .message = message,
                                       .origin = {.rank = TFRT_STATUS_NO_RANK},
                                       .root_key = namer,
                                       .may_have_run = true};
  return tfrt_status_create_from_fields(&fields);
}

// The error (+1) for an export of this host that is wanted and gone.
static tfrt_status_t tfrt_incoming_want_released(const tfrt_job_t* job) {
  uint32_t lost = 0;
  while (lost < job->view.member_count && !job->view.members[lost].death) ++lost;
  char message[128];
  if (lost == job->view.member_count) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                              "host %u has released the value that is wanted", job->rank);
  }
  // A borrower may have died that had lent the value on to the requester.
  snprintf(message, sizeof(message),
           "host %u has released the value that is wanted: it has lost host %u", job->rank, lost);
  const tfrt_status_fields_t fields = {.code = TFRT_STATUS_UNAVAILABLE,
                                       .message = message,
                                       .origin = {.rank = TFRT_STATUS_NO_RANK},
                                       .root_key = job->view.members[lost].incarnation,
                                       .may_have_run = true};
  return tfrt_status_create_from_fields(&fields);
}

// Judges the name |id|, for which this host has no object. Sets |*out_namer| if the namer may still
// promise it, or returns the error that says why not.
static tfrt_status_t tfrt_incoming_want_judge(tfrt_job_t* job, tfrt_wire_object_id_t id,
                                              tfrt_peer_t** out_namer) {
  *out_namer = NULL;
  if (id.namer == job->node->incarnation) return tfrt_incoming_want_released(job);
  TFRT_RETURN_IF_ERROR(tfrt_job_reach(job, id.namer, out_namer));
  if (id.number > (*out_namer)->watermark) return NULL;
  *out_namer = NULL;
  if (job->failed.forgets) {
    return tfrt_status_create(
        TFRT_STATUS_RESOURCE_EXHAUSTED,
        "a result is wanted whose error is not known any more: too many calls "
        "of the job have failed before they ran on host %u",
        job->rank);
  }
  return tfrt_incoming_want_let_go(job, id.namer);
}

void tfrt_incoming_want_find(tfrt_incoming_want_t* want) {
  tfrt_object_t* object = tfrt_object_table_find(want->node->objects, want->id, want->job);
  if (object && want->kind == TFRT_INCOMING_WANT_RETAIN) {
    tfrt_incoming_want_hold(want, object);
    return;
  }
  if (object && !object->is_told && want->peer) {
    if (want->kind != TFRT_INCOMING_WANT_PUSH) tfrt_incoming_want_drop_push(want->peer, object);
    // The want doesn't wait for the slot's value: such a wait would ask for the payload, where the
    // place of the value is enough.
    tfrt_list_push_back(&object->waiting, &want->held);
    return;
  }
  if (object) {
    want->value = tfrt_async_value_retain(tfrt_object_table_value(object));
    tfrt_incoming_want_serve(want, TFRT_ACTION_AWAIT);
    return;
  }
  tfrt_status_t failed = tfrt_failed_call_find(want->job, want->id);
  if (failed) {
    if (want->kind != TFRT_INCOMING_WANT_RETAIN || !tfrt_incoming_want_hold_failed(want, failed)) {
      tfrt_incoming_want_fail(want, failed);
    }
    return;
  }
  tfrt_peer_t* namer = NULL;
  tfrt_status_t status = tfrt_incoming_want_judge(want->job, want->id, &namer);
  if (status) {
    tfrt_incoming_want_fail_take(want, status);
    return;
  }
  want->heartbeat = tfrt_session_heartbeat_number(namer->session);
  tfrt_list_push_back(&namer->held_requests, &want->held);
}

tfrt_async_value_t* tfrt_incoming_want_own_value(tfrt_job_t* job,
                                                 const tfrt_wire_reference_t* reference) {
  tfrt_object_t* object = tfrt_object_table_find(job->node->objects, reference->id, job);
  if (object) {
    // The host that told us this name didn't know yet what it stands for, and keeps no more than
    // the name.
    (void)tfrt_incoming_want_retain_alias(object);
    return tfrt_async_value_retain(tfrt_object_table_value(object));
  }
  tfrt_indirect_value_t* own = tfrt_indirect_value_create();
  tfrt_incoming_want_t* want = own ? tfrt_incoming_want_create(job, reference->id) : NULL;
  if (!want) {
    if (own) tfrt_action_queue_release(&job->node->actions, &own->base);
    return tfrt_async_value_out_of_memory();
  }
  want->own = tfrt_async_value_retain(&own->base);
  tfrt_incoming_want_find(want);
  return &own->base;
}

// |want| only waits now: the asker gets the credit back, so that values that this one waits for
// never lack it.
static void tfrt_incoming_want_return_credit(tfrt_incoming_want_t* want) {
  if (tfrt_hash_table_count(&want->peer->incoming_wants) > TFRT_PEER_MAX_WAITING) return;
  want->has_credit_back = true;
  tfrt_peer_return_want_credit(want->peer);
}

// --- Messages ----------------------------------------------------------------

tfrt_status_t tfrt_incoming_want_on_want(tfrt_peer_t* peer, tfrt_job_t* job,
                                         const tfrt_wire_want_t* wire) {
  if (wire->want != peer->last_want_seen + 1) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT, "the want %llu came after the want %llu",
        (unsigned long long)wire->want, (unsigned long long)peer->last_want_seen);
  }
  peer->last_want_seen = wire->want;
  if (!job) {
    tfrt_peer_return_want_credit(peer);
    return NULL;
  }
  if (wire->resumes != 0 && tfrt_incoming_want_resume(peer, job, wire)) return NULL;
  tfrt_incoming_want_t* want = tfrt_incoming_want_create(job, wire->id);
  if (!want) return tfrt_status_out_of_memory();
  want->peer = peer;
  want->want = wire->want;
  want->level = wire->level == TFRT_WIRE_WANT_VALUE ? wire->level : TFRT_WIRE_WANT_AVAILABLE;
  want->window = wire->window;
  want->offset = wire->offset;
  tfrt_hash_table_insert(&peer->incoming_wants, &want->want, &want->by_want);
  tfrt_ref_count_increment(&want->ref_count);
  if (tfrt_job_is_closed(job)) {
    tfrt_incoming_want_fail(want, job->closing.reason);
  } else {
    tfrt_incoming_want_find(want);
  }
  if (want->open && !want->on_bulk) tfrt_incoming_want_return_credit(want);
  tfrt_incoming_want_release(want);
  return NULL;
}

void tfrt_incoming_want_on_unwant(tfrt_peer_t* peer, const tfrt_wire_unwant_t* unwant) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&peer->incoming_wants, &unwant->want);
  if (node) tfrt_incoming_want_close(TFRT_CONTAINER_OF(node, tfrt_incoming_want_t, by_want));
}
