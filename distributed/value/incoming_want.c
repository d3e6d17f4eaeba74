// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/incoming_want.h"

#include "distributed/tuning/tuning.h"
#include "distributed/value/job_budget.h"
#include "distributed/value/list_item.h"
#include "distributed/value/object_name.h"
#include "distributed/value/outgoing_hold.h"
#include "distributed/value/value_item.h"

typedef enum tfrt_incoming_want_kind_e {
  TFRT_INCOMING_WANT = 0,     // a Want, or a wait of this host itself
  TFRT_INCOMING_WANT_RETAIN,  // a name of a Retain
  TFRT_INCOMING_WANT_PUSH,    // |peer| is to get it before it asks
} tfrt_incoming_want_kind_t;

typedef struct tfrt_incoming_want_s {
  tfrt_ref_count_t ref_count;  // one while it is open, one while |waiter| waits
  tfrt_node_t* node;           // +1
  tfrt_job_t* job;             // +1
  tfrt_peer_t* peer;           // the asker; NULL: this host itself, see |own|
  tfrt_hash_node_t by_want;    // in the peer's table while it is open
  uint64_t want;
  uint32_t level;   // tfrt_wire_want_level_t
  uint64_t window;  // for a payload on a bulk channel: how far, and from where
  uint64_t offset;
  tfrt_wire_object_id_t id;
  tfrt_async_value_t* value;  // +1; once the object is known
  tfrt_task_t waiter;         // for |value|
  tfrt_list_link_t held;      // in the list of the namer's peer
  uint64_t heartbeat;         // our newest one to the namer when it was held
  tfrt_async_value_t* own;    // +1; an indirect that this host waits for
  tfrt_incoming_want_kind_t kind;
  tfrt_list_link_t asked;  // of either, in the peer's list
  bool on_bulk;            // answered; its payload is on its way
  bool has_credit_back;
  bool open;
} tfrt_incoming_want_t;

// --- Life -------------------------------------------------------------------

// A want for |id| that nobody has asked yet, open; NULL when memory is out.
static tfrt_incoming_want_t* incoming_want_create(tfrt_job_t* job, tfrt_wire_object_id_t id) {
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
  ++job->usage.wants;
  return want;
}

static void incoming_want_release_node(void* node) { tfrt_node_release(node); }

static void incoming_want_release(tfrt_incoming_want_t* want) {
  if (!tfrt_ref_count_decrement(&want->ref_count)) return;
  tfrt_node_t* node = want->node;
  tfrt_action_queue_release(&node->actions, want->value);
  tfrt_job_release(want->job);
  tfrt_allocator_free(node->options.allocator, want, sizeof(*want));
  tfrt_action_queue_call(&node->actions, incoming_want_release_node, node);
}

// Gives the peer back the credit of one call, or want, that is over or only waits for others.
static void incoming_want_return_one_credit(tfrt_peer_t* peer) {
  if (peer->session) tfrt_session_return_credit(peer->session, 0, 1);
}

// Nobody waits for |want| any more: drops the reference that it has while it is open.
static void incoming_want_close(tfrt_incoming_want_t* want) {
  want->open = false;
  tfrt_list_remove(&want->held);
  tfrt_peer_t* peer = want->peer;
  tfrt_list_remove(&want->asked);
  if (want->kind == TFRT_INCOMING_WANT_PUSH) {
    --peer->outgoing_push_count;
  } else if (peer && want->kind != TFRT_INCOMING_WANT_RETAIN) {
    tfrt_hash_table_remove(&peer->incoming_wants, &want->by_want);
    if (!want->has_credit_back) incoming_want_return_one_credit(peer);
  }
  if (want->on_bulk) {
    --peer->transfers;
    tfrt_bulk_manager_end(want->node->bulk, peer->incarnation, TFRT_BULK_OUT, want->want, NULL);
  }
  tfrt_action_queue_release(&want->node->actions, want->own);
  want->own = NULL;
  --want->node->counts.incoming_wants;
  --want->job->usage.wants;
  incoming_want_release(want);
}

// --- Answers ----------------------------------------------------------------

// Sends |item| in the frame that is the answer to |want|.
static void incoming_want_tell(tfrt_incoming_want_t* want, const tfrt_wire_item_t* item) {
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

static void incoming_want_answer(tfrt_incoming_want_t* want, const tfrt_wire_item_t* item) {
  incoming_want_tell(want, item);
  incoming_want_close(want);
}

// Answers with |status| (+0), wherever the answer goes, and closes |want|.
static void incoming_want_fail(tfrt_incoming_want_t* want, tfrt_status_t status) {
  tfrt_node_t* node = want->node;
  if (!want->peer) {
    tfrt_action_queue_fail_take(&node->actions, tfrt_async_value_retain(want->own), status);
    incoming_want_close(want);
    return;
  }
  if (want->on_bulk) {
    // The want was answered already: the bulk channel carries the error of the payload.
    tfrt_bulk_manager_end(node->bulk, want->peer->incarnation, TFRT_BULK_OUT, want->want, status);
    incoming_want_close(want);
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
  incoming_want_answer(want, &(tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_ERROR, .error = &error});
  tfrt_arena_deinitialize(&arena);
}

static void incoming_want_fail_take(tfrt_incoming_want_t* want, tfrt_status_t status) {
  incoming_want_fail(want, status);
  tfrt_status_release(status);
}

// --- Payloads too big for a message -----------------------------------------

// Sets |*out_encoding| to the bytes of the available value that is wanted, or says why it has
// none.
static tfrt_status_t incoming_want_encode(const tfrt_incoming_want_t* want,
                                          const tfrt_type_t** out_type,
                                          tfrt_encoding_t* out_encoding) {
  tfrt_async_value_t* value = tfrt_async_value_resolved(want->value);
  const tfrt_type_t* type = tfrt_type_get(value->type_id);
  *out_type = type;
  tfrt_status_t why = tfrt_type_encode(type, tfrt_async_value_payload(value), out_encoding);
  if (!why) return NULL;
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                         "a %s can't leave its host (%s); call a function on host %u instead",
                         type->name, tfrt_status_message(why), want->job->rank);
  tfrt_status_release(why);
  return status;
}

// Answers that the payload comes on a bulk channel.
static void incoming_want_tell_on_bulk(tfrt_incoming_want_t* want, const tfrt_type_t* type,
                                       const tfrt_encoding_t* encoding) {
  tfrt_wire_item_t item = {.kind = TFRT_WIRE_ITEM_ON_BULK,
                           .on_bulk = {.type = tfrt_string_view_of(type->name),
                                       .header = tfrt_string_view_make(
                                           (const char*)encoding->header, encoding->header_size),
                                       .size = encoding->body_size}};
  incoming_want_tell(want, &item);
}

// The bulk channel is one that the borrower has dialled, mostly. If the network loses it under the
// payload, only this side may learn of that, which writes: then it dials.
static void incoming_want_note_address(const tfrt_incoming_want_t* want) {
  const uint64_t incarnation = want->peer->incarnation;
  const tfrt_job_member_t* borrower = tfrt_job_find_incarnation(want->job, incarnation);
  if (!borrower || !borrower->address[0]) return;
  tfrt_bulk_manager_set_address(want->node->bulk, incarnation,
                                tfrt_string_view_of(borrower->address), TFRT_BULK_OUT);
}

// Sends the payload of the value, which is too big for a message; the want stays until the
// borrower has it.
static tfrt_status_t incoming_want_offer(tfrt_incoming_want_t* want) {
  tfrt_peer_t* peer = want->peer;
  const tfrt_type_t* type = NULL;
  tfrt_encoding_t encoding = {0};
  TFRT_RETURN_IF_ERROR(incoming_want_encode(want, &type, &encoding));
  tfrt_bulk_send_t send = {.want = want->want,
                           .value = tfrt_async_value_resolved(want->value),
                           .offset = want->offset,
                           .limit = want->window};
  if (type->streams) {
    TFRT_RETURN_IF_ERROR(type->streams->open_source(tfrt_async_value_payload(send.value),
                                                    want->node->options.host, &send.source));
  }
  tfrt_status_t status = tfrt_bulk_manager_send(want->node->bulk, peer->incarnation, &send);
  if (status) {
    tfrt_payload_source_destroy(send.source);
    return status;
  }
  want->on_bulk = true;
  incoming_want_note_address(want);
  bool is_free = peer->transfers++ < TFRT_INCOMING_WANT_FREE_TRANSFERS;
  if (is_free && !want->has_credit_back) {
    want->has_credit_back = true;
    incoming_want_return_one_credit(peer);
  }
  incoming_want_tell_on_bulk(want, type, &encoding);
  return NULL;
}

// Goes on with the transfer that |wire| resumes, under its new number. False if there is none
// any more: it is a want like any other then.
static bool incoming_want_resume(tfrt_peer_t* peer, const tfrt_job_t* job,
                                 const tfrt_wire_want_t* wire) {
  tfrt_hash_node_t* found = tfrt_hash_table_find(&peer->incoming_wants, &wire->resumes);
  if (!found) return false;
  tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(found, tfrt_incoming_want_t, by_want);
  if (!want->on_bulk || want->job != job || !tfrt_wire_object_id_equal(want->id, wire->id)) {
    return false;
  }
  const tfrt_type_t* type = NULL;
  tfrt_encoding_t encoding = {0};
  tfrt_status_t status = incoming_want_encode(want, &type, &encoding);
  if (!status) {
    const tfrt_bulk_resumption_t resumption = {.old_want = wire->resumes,
                                               .want = wire->want,
                                               .offset = wire->offset,
                                               .limit = wire->window};
    status =
        tfrt_bulk_manager_resume(want->node->bulk, peer->incarnation, TFRT_BULK_OUT, &resumption);
  }
  if (status) {
    tfrt_status_release(status);
    incoming_want_close(want);
    return false;
  }
  tfrt_hash_table_remove(&peer->incoming_wants, &want->by_want);
  want->want = wire->want;
  tfrt_hash_table_insert(&peer->incoming_wants, &want->want, &want->by_want);
  // Returns the credit of the new want; the credit of the old one stays as it was.
  incoming_want_return_one_credit(peer);
  incoming_want_tell_on_bulk(want, type, &encoding);
  return true;
}

// --- Values -----------------------------------------------------------------

// Pushes the resolved value, if that is small and stays as it is; else it is asked for.
static void incoming_want_push_value(tfrt_incoming_want_t* want) {
  tfrt_async_value_t* value = tfrt_async_value_resolved(want->value);
  bool is_error = tfrt_async_value_is_error(value);
  if (!is_error && (tfrt_type_get(value->type_id)->flags & TFRT_TYPE_FLAG_MUTABLE)) {
    incoming_want_close(want);
    return;
  }
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, want->node->options.allocator);
  tfrt_wire_item_t item;
  tfrt_status_t status = tfrt_value_item_encode(value, tfrt_peer_inline_limit(want->peer),
                                                tfrt_value_item_host_of(want->job), &arena, &item);
  if (!status && item.kind != TFRT_WIRE_ITEM_NONE) incoming_want_tell(want, &item);
  incoming_want_close(want);
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}

// True if the available |value| consists of other values.
static bool incoming_want_is_aggregate(tfrt_async_value_t* value) {
  return tfrt_type_get(tfrt_async_value_resolved(value)->type_id)->aggregate != NULL;
}

// Answers with the resolved value.
static void incoming_want_answer_value(tfrt_incoming_want_t* want) {
  if (want->kind == TFRT_INCOMING_WANT_PUSH) {
    incoming_want_push_value(want);
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
  } else if (!is_error && incoming_want_is_aggregate(value)) {
    tfrt_object_t* object = tfrt_object_table_find(want->node->objects, want->id, want->job);
    status = tfrt_list_item_encode(value, want->peer, want->job, object, &arena, &item);
  } else {
    status =
        tfrt_value_item_encode(value, limit, tfrt_value_item_host_of(want->job), &arena, &item);
    if (!status && item.kind == TFRT_WIRE_ITEM_NONE) status = incoming_want_offer(want);
  }
  if (status) {
    incoming_want_fail_take(want, status);
  } else if (!want->on_bulk) {
    incoming_want_answer(want, &item);
  }
  tfrt_arena_deinitialize(&arena);
}

// Answers with a reference to |remote|, which the value is, and with the place of the call whose
// result it is.
static void incoming_want_answer_reference(tfrt_incoming_want_t* want,
                                           tfrt_remote_value_t* remote) {
  tfrt_wire_item_t item = {.kind = TFRT_WIRE_ITEM_REFERENCE,
                           .reference = tfrt_remote_value_tell(remote)};
  if (want->kind == TFRT_INCOMING_WANT_PUSH || want->kind == TFRT_INCOMING_WANT_RETAIN ||
      !tfrt_remote_value_has_site(remote)) {
    incoming_want_answer(want, &item);
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
  incoming_want_close(want);
  tfrt_arena_deinitialize(&arena);
}

static void incoming_want_wait(tfrt_incoming_want_t* want, tfrt_action_wait_t how);

// The object's value is known: answers, or waits for it.
static void incoming_want_serve(tfrt_incoming_want_t* want, tfrt_action_wait_t how) {
  tfrt_node_t* node = want->node;
  if (!want->peer) {
    tfrt_action_queue_forward_take(&node->actions, tfrt_async_value_retain(want->own),
                                   tfrt_async_value_retain(want->value));
    incoming_want_close(want);
    return;
  }
  tfrt_object_t* object = tfrt_object_table_find(node->objects, want->id, want->job);
  if (want->kind == TFRT_INCOMING_WANT_PUSH && !object) {
    // The lender has taken the value back: nobody is to get it any more.
    incoming_want_close(want);
    return;
  }
  tfrt_remote_value_t* remote = tfrt_remote_value_of(node, want->value);
  if (remote) {
    if (tfrt_object_table_keep(node->objects, object, TFRT_OBJECT_WHOLE, &remote->base.base)) {
      incoming_want_answer_reference(want, remote);
    } else {
      incoming_want_fail_take(want, tfrt_status_out_of_memory());
    }
    tfrt_remote_value_release(remote);
  } else if (tfrt_async_value_is_available(want->value)) {
    incoming_want_answer_value(want);
  } else {
    incoming_want_wait(want, how);
  }
}

// Runs when the value is settled.
static void incoming_want_run(tfrt_task_t* task) {
  tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(task, tfrt_incoming_want_t, waiter);
  tfrt_node_t* node = tfrt_node_retain(want->node);
  tfrt_node_lock_tables(node);
  // A settled value that is neither here nor known to be elsewhere is on its way.
  if (want->open) incoming_want_serve(want, TFRT_ACTION_AND_THEN);
  incoming_want_release(want);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static void incoming_want_wait(tfrt_incoming_want_t* want, tfrt_action_wait_t how) {
  tfrt_ref_count_increment(&want->ref_count);
  tfrt_task_initialize(&want->waiter, incoming_want_run);
  tfrt_action_queue_wait(&want->node->actions, want->value, how, &want->waiter);
}

// --- Slots whose call has not told yet what they are ------------------------

void tfrt_incoming_want_serve_waiting(tfrt_object_t* object) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&object->waiting));) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held);
    want->value = tfrt_async_value_retain(object->value);
    incoming_want_serve(want, TFRT_ACTION_AWAIT);
  }
}

// |object| goes, and with it its list: its wants wait for its value itself.
static void incoming_want_abandon(tfrt_object_t* object) {
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&object->waiting));) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held);
    if (want->kind == TFRT_INCOMING_WANT_PUSH) {
      incoming_want_close(want);
      continue;
    }
    want->value = tfrt_async_value_retain(tfrt_object_table_value(object));
    incoming_want_wait(want, TFRT_ACTION_AWAIT);
  }
}

// Puts |want| among those that wait for |object|, which is not known yet. Pushes are in front, so
// that they are found among any number of others.
static void incoming_want_hold_back(tfrt_incoming_want_t* want, tfrt_object_t* object) {
  if (want->kind == TFRT_INCOMING_WANT_PUSH) {
    tfrt_list_push_front(&object->waiting, &want->held);
  } else {
    tfrt_list_push_back(&object->waiting, &want->held);
  }
}

// |peer| has asked for |object|, which is not known yet: it needs no Push of it any more.
static void incoming_want_drop_push(const tfrt_peer_t* peer, tfrt_object_t* object) {
  for (tfrt_list_link_t* link = object->waiting.next; link != &object->waiting; link = link->next) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held);
    if (want->kind != TFRT_INCOMING_WANT_PUSH) return;
    if (want->peer != peer) continue;
    incoming_want_close(want);
    return;
  }
}

// --- Holds ------------------------------------------------------------------

// Runs when the owner of an argument holds it for this host. This host is to hold the slot that is
// that argument.
static void incoming_want_run_registered(tfrt_task_t* task) {
  tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(task, tfrt_incoming_want_t, waiter);
  tfrt_node_t* node = tfrt_node_retain(want->node);
  tfrt_node_lock_tables(node);
  if (want->open) incoming_want_answer(want, &(tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_HELD});
  incoming_want_release(want);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// If |object| is a slot that is one of its call's arguments, and nobody keeps that here: asks the
// argument's owner to hold it for this host. Returns a chain (+0) that comes with the answer, or
// NULL if nobody is asked.
static tfrt_async_value_t* incoming_want_ask_alias(tfrt_object_t* object) {
  tfrt_remote_value_t* alias = object->is_alias ? tfrt_remote_value_cast(object->value) : NULL;
  tfrt_remote_value_t* remote = alias ? tfrt_remote_value_holding(alias) : NULL;
  bool is_lent = remote && !remote->held && !tfrt_remote_value_is_resolved(remote);
  tfrt_async_value_t* registered = is_lent ? tfrt_outgoing_hold_ask(remote) : NULL;
  if (registered) object->is_alias = false;
  return registered;
}

// Holds |object| for the host that asks. If the slot is one of its call's arguments, the caller
// keeps nothing for it: the argument's owner must hold it in turn.
static void incoming_want_hold(tfrt_incoming_want_t* want, tfrt_object_t* object) {
  tfrt_node_t* node = want->node;
  if (!tfrt_object_table_hold(node->objects, object, want->peer->incarnation)) {
    incoming_want_fail_take(want, tfrt_status_out_of_memory());
    return;
  }
  tfrt_async_value_t* registered = incoming_want_ask_alias(object);
  if (!registered) {
    incoming_want_answer(want, &(tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_HELD});
    return;
  }
  tfrt_ref_count_increment(&want->ref_count);
  tfrt_task_initialize(&want->waiter, incoming_want_run_registered);
  tfrt_action_queue_wait(&node->actions, registered, TFRT_ACTION_WATCH, &want->waiter);
}

// |want| asks to hold a result of a call that does not run here. Makes the result an object that is
// the error |failed| (+0). False if that can't be.
static bool incoming_want_hold_failed(tfrt_incoming_want_t* want, tfrt_status_t failed) {
  uint64_t holder = want->peer->incarnation;
  if (want->id.namer == holder) return false;  // it has the record
  tfrt_status_t status = tfrt_job_budget_check(want->job, TFRT_JOB_BUDGET_CALL, 1);
  if (!status) {
    tfrt_async_value_t* error = tfrt_async_value_create_error(failed);
    tfrt_object_t* object =
        tfrt_object_table_add_slot(want->node->objects, want->id, want->job, error, holder);
    if (!object) status = tfrt_status_out_of_memory();
  }
  if (status) {
    tfrt_status_release(status);
    return false;
  }
  incoming_want_answer(want, &(tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_HELD});
  return true;
}

// --- Names ------------------------------------------------------------------

// Finds the object, or holds |want|, or refuses it.
static void incoming_want_find(tfrt_incoming_want_t* want) {
  tfrt_object_t* object = tfrt_object_table_find(want->node->objects, want->id, want->job);
  if (object && want->kind == TFRT_INCOMING_WANT_RETAIN) {
    incoming_want_hold(want, object);
    return;
  }
  if (object && !object->is_told && want->peer) {
    if (want->kind != TFRT_INCOMING_WANT_PUSH) incoming_want_drop_push(want->peer, object);
    // The want doesn't wait for the slot's value: such a wait would ask for the payload, where the
    // place of the value is enough.
    incoming_want_hold_back(want, object);
    return;
  }
  if (object) {
    want->value = tfrt_async_value_retain(tfrt_object_table_value(object));
    incoming_want_serve(want, TFRT_ACTION_AWAIT);
    return;
  }
  tfrt_status_t failed = tfrt_object_name_find_failed(want->job, want->id);
  if (failed) {
    if (want->kind != TFRT_INCOMING_WANT_RETAIN || !incoming_want_hold_failed(want, failed)) {
      incoming_want_fail(want, failed);
    }
    return;
  }
  tfrt_peer_t* namer = NULL;
  tfrt_status_t status = tfrt_object_name_judge(want->job, want->id, &namer);
  if (status) {
    incoming_want_fail_take(want, status);
    return;
  }
  want->heartbeat = tfrt_session_describe(namer->session).heartbeat;
  tfrt_list_push_back(&namer->held_requests, &want->held);
}

tfrt_async_value_t* tfrt_incoming_want_own_value(tfrt_job_t* job,
                                                 const tfrt_wire_reference_t* reference) {
  tfrt_object_t* object = tfrt_object_table_find(job->node->objects, reference->id, job);
  if (object) {
    // The host that told us this name didn't know yet what it stands for, and keeps no more than
    // the name.
    (void)incoming_want_ask_alias(object);
    return tfrt_async_value_retain(tfrt_object_table_value(object));
  }
  tfrt_indirect_value_t* own = tfrt_indirect_value_create();
  tfrt_incoming_want_t* want = own ? incoming_want_create(job, reference->id) : NULL;
  if (!want) {
    if (own) tfrt_action_queue_release(&job->node->actions, &own->base);
    return tfrt_async_value_out_of_memory();
  }
  want->own = tfrt_async_value_retain(&own->base);
  incoming_want_find(want);
  return &own->base;
}

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
    incoming_want_find(TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held));
  }
}

// Refuses wants for calls of a peer above the highest that its heartbeat says it has promised, if
// they were held before the beat of ours that the peer has seen by then.
static void incoming_want_on_peer_beat(const tfrt_owner_end_t* end) {
  const tfrt_list_link_t* head = &end->peer->held_requests;
  for (tfrt_list_link_t* link = head->next; link != head;) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held);
    link = link->next;
    if (want->heartbeat >= end->heartbeat->echo || want->id.number <= end->heartbeat->named) {
      continue;
    }
    incoming_want_fail_take(want, tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                                                     "a value is wanted that nobody has promised"));
  }
}

// --- Messages ---------------------------------------------------------------

// |want| only waits now: the asker gets the credit back, so that values that this one waits for
// never lack it.
static void incoming_want_return_credit(tfrt_incoming_want_t* want) {
  if (tfrt_hash_table_count(&want->peer->incoming_wants) > TFRT_PEER_MAX_WAITING) return;
  want->has_credit_back = true;
  incoming_want_return_one_credit(want->peer);
}

// A Want came.
static tfrt_status_t incoming_want_on_want(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  tfrt_job_t* job = in->job;
  const tfrt_wire_want_t* wire = &in->body->want;
  if (wire->want != peer->last_want_seen + 1) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT, "the want %llu came after the want %llu",
        (unsigned long long)wire->want, (unsigned long long)peer->last_want_seen);
  }
  peer->last_want_seen = wire->want;
  if (!job) {
    incoming_want_return_one_credit(peer);
    return NULL;
  }
  if (wire->resumes != 0 && incoming_want_resume(peer, job, wire)) return NULL;
  tfrt_incoming_want_t* want = incoming_want_create(job, wire->id);
  if (!want) return tfrt_status_out_of_memory();
  want->peer = peer;
  want->want = wire->want;
  want->level = wire->level == TFRT_WIRE_WANT_VALUE ? wire->level : TFRT_WIRE_WANT_AVAILABLE;
  want->window = wire->window;
  want->offset = wire->offset;
  tfrt_hash_table_insert(&peer->incoming_wants, &want->want, &want->by_want);
  tfrt_ref_count_increment(&want->ref_count);
  if (tfrt_job_is_closed(job)) {
    incoming_want_fail(want, job->closing.reason);
  } else {
    incoming_want_find(want);
  }
  if (want->open && !want->on_bulk) incoming_want_return_credit(want);
  incoming_want_release(want);
  return NULL;
}

// An Unwant came.
static tfrt_status_t incoming_want_on_unwant(const tfrt_incoming_frame_t* in) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&in->peer->incoming_wants, &in->body->unwant.want);
  if (node) incoming_want_close(TFRT_CONTAINER_OF(node, tfrt_incoming_want_t, by_want));
  return NULL;
}

// A Retain came: each of its names is answered when it is held.
static tfrt_status_t incoming_want_on_retain(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  tfrt_job_t* job = in->job;
  const tfrt_wire_retain_t* retain = &in->body->retain;
  for (size_t i = 0; i < retain->id_count && job; ++i) {
    tfrt_incoming_want_t* want = incoming_want_create(job, retain->ids[i]);
    if (!want) return tfrt_status_out_of_memory();
    want->peer = peer;
    want->kind = TFRT_INCOMING_WANT_RETAIN;
    tfrt_list_push_back(&peer->incoming_retains, &want->asked);
    if (tfrt_job_is_closed(job)) {
      incoming_want_fail(want, job->closing.reason);
    } else {
      incoming_want_find(want);
    }
  }
  return NULL;
}

// --- Pushes -----------------------------------------------------------------

// The peer (+0) that is |incarnation|, if it may be sent something of |job| unasked; else NULL.
static tfrt_peer_t* incoming_want_find_pushed(tfrt_job_t* job, uint64_t incarnation) {
  tfrt_peer_t* peer = tfrt_peer_find(job->node, incarnation);
  const tfrt_job_member_t* member = tfrt_job_find_incarnation(job, incarnation);
  bool is_there = peer && peer->session && member && !member->death &&
                  !tfrt_job_has_left(job, incarnation) &&
                  (tfrt_session_features(peer->session) & TFRT_WIRE_FEATURE_PUSH);
  return is_there && peer->outgoing_push_count < TFRT_INCOMING_WANT_MAX_PUSHES ? peer : NULL;
}

static void incoming_want_push_one(tfrt_job_t* job, tfrt_wire_object_id_t id, uint64_t to) {
  bool is_known = tfrt_object_table_find(job->node->objects, id, job) != NULL ||
                  tfrt_object_name_find_failed(job, id) != NULL;
  tfrt_peer_t* peer = incoming_want_find_pushed(job, to);
  tfrt_incoming_want_t* want = is_known && peer ? incoming_want_create(job, id) : NULL;
  if (!want) return;
  want->peer = peer;
  want->kind = TFRT_INCOMING_WANT_PUSH;
  tfrt_list_push_back(&peer->outgoing_pushes, &want->asked);
  ++peer->outgoing_push_count;
  incoming_want_find(want);
}

void tfrt_incoming_want_push(const tfrt_peer_t* peer, tfrt_job_t* job,
                             const tfrt_wire_invoke_t* invoke) {
  for (size_t i = 0; i < invoke->push_to_count && !tfrt_job_is_closed(job); ++i) {
    tfrt_wire_object_id_t id = {
        .namer = peer->incarnation, .number = invoke->call, .index = invoke->push_to[i].result};
    incoming_want_push_one(job, id, invoke->push_to[i].to);
  }
}

// --- Owners -----------------------------------------------------------------

static uint64_t incoming_want_hash(const void* key) { return tfrt_hash_u64(*(const uint64_t*)key); }

static bool incoming_want_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_incoming_want_t, by_want)->want == *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t tfrt_incoming_want_table_vtable = {
    .hash = incoming_want_hash,
    .equal = incoming_want_equal,
};

// Closes the wants of |job| (NULL: of all jobs) in the list |asked|.
static void incoming_want_drop_list(const tfrt_list_link_t* asked, const tfrt_job_t* job) {
  for (tfrt_list_link_t* link = asked->next; link != asked;) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, asked);
    link = link->next;
    if (!job || want->job == job) incoming_want_close(want);
  }
}

static void incoming_want_bury_all(const tfrt_owner_end_t* end) {
  tfrt_peer_t* peer = end->peer;
  const tfrt_job_t* job = end->job;
  for (tfrt_hash_node_t* next = tfrt_hash_table_first(&peer->incoming_wants); next;) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(next, tfrt_incoming_want_t, by_want);
    next = tfrt_hash_table_next(&peer->incoming_wants, next);
    if (!job || want->job == job) incoming_want_close(want);
  }
  incoming_want_drop_list(&peer->incoming_retains, job);
  incoming_want_drop_list(&peer->outgoing_pushes, job);
  for (tfrt_list_link_t* link = peer->held_requests.next; link != &peer->held_requests;) {
    tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held);
    link = link->next;
    // The heartbeats of the next session will tell whether the peer has named it.
    want->heartbeat = 0;
    if (!tfrt_peer_loss_concerns(end, want->job)) continue;
    incoming_want_fail_take(
        want, tfrt_peer_lost_error(peer, want->job, NULL, "before it made a call it had named"));
  }
}

static void incoming_want_close_job(tfrt_node_t* node, const tfrt_job_t* job,
                                    tfrt_status_t reason) {
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&node->peers); found;
       found = tfrt_hash_table_next(&node->peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    for (tfrt_hash_node_t* next = tfrt_hash_table_first(&peer->incoming_wants); next;) {
      tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(next, tfrt_incoming_want_t, by_want);
      next = tfrt_hash_table_next(&peer->incoming_wants, next);
      if (want->job == job) incoming_want_fail(want, reason);
    }
    for (tfrt_list_link_t* link = peer->incoming_retains.next; link != &peer->incoming_retains;) {
      tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, asked);
      link = link->next;
      if (want->job == job) incoming_want_fail(want, reason);
    }
    incoming_want_drop_list(&peer->outgoing_pushes, job);
    for (tfrt_list_link_t* link = peer->held_requests.next; link != &peer->held_requests;) {
      tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(link, tfrt_incoming_want_t, held);
      link = link->next;
      if (want->job == job) incoming_want_fail(want, reason);
    }
  }
}

static void incoming_want_on_peer_made(const tfrt_owner_end_t* end) {
  tfrt_hash_table_initialize(&end->peer->incoming_wants, &tfrt_incoming_want_table_vtable,
                             end->node->options.allocator);
}

static void incoming_want_on_peer_lost(const tfrt_owner_end_t* end) { incoming_want_bury_all(end); }

static void incoming_want_on_job_finished(const tfrt_owner_end_t* end) {
  // Other jobs may have very many wants.
  if (end->job->usage.wants == 0) return;
  incoming_want_close_job(end->node, end->job, end->reason);
}

// The table of objects is there: its phase is an earlier one.
static void incoming_want_on_node_made(const tfrt_owner_end_t* end) {
  end->node->objects->abandon = incoming_want_abandon;
}

static void incoming_want_on_peer_met(const tfrt_owner_end_t* end) {
  tfrt_incoming_want_serve_held(end->peer);
}

static const tfrt_owner_rule_t tfrt_incoming_want_rules[] = {
    {TFRT_OWNER_NODE_MADE, TFRT_OWNER_WANTS, incoming_want_on_node_made},
    {TFRT_OWNER_PEER_MET, TFRT_OWNER_WANTS, incoming_want_on_peer_met},
    {TFRT_OWNER_PEER_MADE, TFRT_OWNER_WANTS, incoming_want_on_peer_made},
    {TFRT_OWNER_PEER_BEAT, TFRT_OWNER_WANTS, incoming_want_on_peer_beat},
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_WANTS, incoming_want_on_peer_lost},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_WANTS, incoming_want_on_job_finished},
};

static const tfrt_frame_handler_t tfrt_incoming_want_handlers[] = {
    {TFRT_WIRE_FRAME_WANT, incoming_want_on_want},
    {TFRT_WIRE_FRAME_UNWANT, incoming_want_on_unwant},
    {TFRT_WIRE_FRAME_RETAIN, incoming_want_on_retain},
};

const tfrt_node_part_t tfrt_incoming_want_part = {
    .rules = tfrt_incoming_want_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_incoming_want_rules),
    .handlers = tfrt_incoming_want_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_incoming_want_handlers),
};
