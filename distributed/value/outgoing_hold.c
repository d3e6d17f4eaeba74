// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/outgoing_hold.h"

#include "distributed/domain/job.h"
#include "distributed/tuning/tuning.h"

// --- Holds that are given back ----------------------------------------------

static tfrt_wire_object_range_t outgoing_hold_range(const tfrt_wire_object_id_t* id) {
  return (tfrt_wire_object_range_t){.namer = id->namer,
                                    .first_number = id->number,
                                    .number_count = 1,
                                    .first_index = id->index,
                                    .index_count = 1};
}

// Appends a Release of |ranges|. |after_call|: as in session.h.
static void outgoing_hold_send_release(tfrt_peer_t* peer, tfrt_job_t* job,
                                       const tfrt_wire_object_range_t* ranges, size_t count,
                                       uint64_t after_call, bool is_urgent) {
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_RELEASE,
                           .release = {.ranges = ranges, .range_count = count}};
  tfrt_peer_frame_t frame = {.job = job, .after_call = after_call, .can_wait = !is_urgent};
  tfrt_peer_send(peer, &frame, &body);
}

static void outgoing_hold_flush_job(tfrt_peer_t* peer, tfrt_peer_job_t* known, bool is_urgent) {
  tfrt_release_ranges_t* released = &known->released;
  if (released->name_count == 0) return;
  // The end of a job gives all of its names back anyway.
  if (known->job && !tfrt_job_is_over(known->job)) {
    outgoing_hold_send_release(peer, known->job, released->ranges, released->range_count, 0,
                               is_urgent);
  }
  released->range_count = 0;
  released->name_count = 0;
}

// True if |next| goes on where |range| ends, which becomes both.
static bool release_ranges_extend(tfrt_wire_object_range_t* range,
                                  const tfrt_wire_object_range_t* next) {
  if (range->namer != next->namer) return false;
  bool has_same_numbers =
      range->first_number == next->first_number && range->number_count == next->number_count;
  if (has_same_numbers && range->first_index + range->index_count == next->first_index) {
    range->index_count += next->index_count;
    return true;
  }
  bool has_same_indices =
      range->first_index == next->first_index && range->index_count == next->index_count;
  if (has_same_indices && range->first_number + range->number_count == next->first_number) {
    range->number_count += next->number_count;
    return true;
  }
  return false;
}

// Adds |range|, for which there is room.
static void release_ranges_add(tfrt_release_ranges_t* released,
                               const tfrt_wire_object_range_t* range) {
  tfrt_wire_object_range_t* ranges = released->ranges;
  ranges[released->range_count++] = *range;
  ++released->name_count;
  // All results of a call may complete a row of calls.
  while (released->range_count > 1 && release_ranges_extend(&ranges[released->range_count - 2],
                                                            &ranges[released->range_count - 1])) {
    --released->range_count;
  }
}

void tfrt_outgoing_hold_give_back(tfrt_peer_t* peer, tfrt_job_t* job,
                                  const tfrt_wire_object_id_t* id, bool is_urgent) {
  if (tfrt_job_is_over(job) || !peer->session) return;
  tfrt_wire_object_range_t range = outgoing_hold_range(id);
  tfrt_peer_job_t* known = tfrt_peer_find_job(peer, job);
  // A Release that may wait for credit, behind its call, must not hold up others.
  bool is_promised = id->namer == job->node->incarnation;
  bool must_wait = is_promised && !tfrt_session_call_was_written(peer->session, id->number);
  if (!known || must_wait) {
    outgoing_hold_send_release(peer, job, &range, 1, is_promised ? id->number : 0, is_urgent);
    return;
  }
  tfrt_release_ranges_t* released = &known->released;
  if (released->name_count == 0) tfrt_session_flush(peer->session, TFRT_SESSION_FLUSH_SOON);
  release_ranges_add(released, &range);
  bool is_full = released->range_count == TFRT_ARRAY_SIZE(released->ranges) ||
                 released->name_count == TFRT_OUTGOING_HOLD_MAX_NAMES;
  if (is_urgent || is_full) outgoing_hold_flush_job(peer, known, true);
}

void tfrt_outgoing_hold_flush(tfrt_peer_t* peer) {
  for (tfrt_list_link_t* link = peer->jobs.next; link != &peer->jobs; link = link->next) {
    tfrt_peer_job_t* known = TFRT_CONTAINER_OF(link, tfrt_peer_job_t, link);
    outgoing_hold_flush_job(peer, known, false);
  }
}

// --- Holds that are asked for -----------------------------------------------

// Ends the wait for the owner of |value|.
static void outgoing_hold_end(tfrt_remote_value_t* value) {
  tfrt_list_remove(&value->retention.link);
  tfrt_action_queue_forward_take(&value->node->actions,
                                 tfrt_async_value_retain(&value->retention.registered->base),
                                 tfrt_async_value_ready_chain());
  tfrt_remote_value_release(value);
}

static void outgoing_hold_fail_take(tfrt_remote_value_t* value, tfrt_status_t status) {
  tfrt_remote_value_fail(value, status);
  tfrt_status_release(status);
  outgoing_hold_end(value);
}

// Asks for |value->retention.as|.
static void outgoing_hold_send_retain(tfrt_remote_value_t* value) {
  const tfrt_wire_reference_t* as = &value->retention.as;
  tfrt_peer_t* peer = NULL;
  tfrt_status_t status = tfrt_job_reach(value->job, as->owner, &peer);
  if (!status) {
    tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_RETAIN,
                             .retain = {.ids = &as->id, .id_count = 1}};
    tfrt_peer_frame_t frame = {.job = value->job};
    // A promise of ours must not be asked for before it is made.
    if (as->id.namer == value->node->incarnation) frame.after_call = as->id.number;
    status = tfrt_peer_try_send(peer, &frame, &body);
  }
  if (status) {
    outgoing_hold_fail_take(value, status);
  } else {
    tfrt_list_push_back(&peer->retaining, &value->retention.link);
  }
}

tfrt_async_value_t* tfrt_outgoing_hold_ask(tfrt_remote_value_t* value) {
  if (value->retention.registered) return &value->retention.registered->base;
  value->retention.registered = tfrt_indirect_value_create();
  if (!value->retention.registered) return NULL;
  value->retention.as = value->telling.is_told ? value->telling.as : value->location;
  tfrt_async_value_retain(&value->base.base);
  if (tfrt_remote_value_is_lost(value) && value->peer) {
    tfrt_list_push_back(&value->peer->retaining, &value->retention.link);
  } else {
    outgoing_hold_send_retain(value);
  }
  return &value->retention.registered->base;
}

void tfrt_outgoing_hold_go_on(tfrt_remote_value_t* value) {
  if (!tfrt_list_is_linked(&value->retention.link)) return;
  const bool has_owner = value->state == TFRT_REMOTE_VALUE_UNKNOWN && value->peer;
  if (!has_owner || value->held) {
    outgoing_hold_end(value);
    return;
  }
  tfrt_list_remove(&value->retention.link);
  value->retention.as = value->location;
  outgoing_hold_send_retain(value);
}

// |value| is held under the name that was asked for: the lender may go.
static void outgoing_hold_note_held(tfrt_remote_value_t* value) {
  // A list may have come meanwhile: its elements need the hold, too.
  tfrt_remote_value_t* holding = tfrt_remote_value_holding(value);
  if (holding->held) holding = value;
  holding->name = value->retention.as;
  holding->held = true;
  // The loan is over for us: the lender need not know the value any more.
  holding->borrowing.lender = 0;
  holding->borrowing.lent_by = 0;
  tfrt_list_remove(&holding->named);
  outgoing_hold_end(value);
}

static void outgoing_hold_follow(tfrt_remote_value_t* value,
                                 const tfrt_wire_reference_t* reference) {
  tfrt_list_remove(&value->retention.link);
  value->retention.as = *reference;
  if (reference->owner == value->node->incarnation) {
    // It came home: an own value is here as long as it is used.
    outgoing_hold_end(value);
  } else if (++value->retention.forwards > TFRT_WIRE_MAX_FORWARDS) {
    outgoing_hold_fail_take(
        value, tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                                  "a value that is kept was forwarded %u times and still isn't "
                                  "found",
                                  value->retention.forwards));
  } else {
    outgoing_hold_send_retain(value);
  }
}

// The value for whose name |id| an answer is due from |peer|; answers to one name come in order.
// A value that waits for its lender has a name at another host, which may have the same id.
static tfrt_remote_value_t* outgoing_hold_find(tfrt_peer_t* peer, tfrt_wire_object_id_t id) {
  for (tfrt_list_link_t* link = peer->retaining.next; link != &peer->retaining; link = link->next) {
    tfrt_remote_value_t* value = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, retention.link);
    const tfrt_wire_reference_t* as = &value->retention.as;
    if (as->owner == peer->incarnation && tfrt_wire_object_id_equal(as->id, id)) return value;
  }
  return NULL;
}

// A Retained came.
static tfrt_status_t outgoing_hold_on_retained(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  const tfrt_wire_retained_t* retained = &in->body->retained;
  for (size_t i = 0; i < retained->item_count; ++i) {
    const tfrt_wire_item_t* item = &retained->items[i].item;
    tfrt_remote_value_t* value = outgoing_hold_find(peer, retained->items[i].id);
    bool is_held = item->kind != TFRT_WIRE_ITEM_REFERENCE && item->kind != TFRT_WIRE_ITEM_ERROR;
    if (!value) {
      // The answer is late: the job was closed meanwhile, or the value's owner was lost and another
      // host was asked. Nobody uses this hold.
      if (is_held && in->job) {
        tfrt_outgoing_hold_give_back(peer, in->job, &retained->items[i].id, false);
      }
    } else if (item->kind == TFRT_WIRE_ITEM_REFERENCE) {
      outgoing_hold_follow(value, &item->reference);
    } else if (item->kind == TFRT_WIRE_ITEM_ERROR) {
      // A lost value that fails would end its wait while it is in the list; the wait ends only
      // once.
      tfrt_list_remove(&value->retention.link);
      outgoing_hold_fail_take(value, tfrt_wire_error_to_status(item->error));
    } else {
      outgoing_hold_note_held(value);
    }
  }
  return NULL;
}

static void outgoing_hold_end_all(tfrt_peer_t* peer, const tfrt_job_t* job) {
  for (tfrt_list_link_t* link = peer->retaining.next; link != &peer->retaining;) {
    tfrt_remote_value_t* value = TFRT_CONTAINER_OF(link, tfrt_remote_value_t, retention.link);
    link = link->next;
    if (!job || value->job == job) outgoing_hold_end(value);
  }
}

static void outgoing_hold_on_peer_lost(const tfrt_owner_end_t* end) {
  outgoing_hold_end_all(end->peer, end->job);
}

static void outgoing_hold_on_job_finished(const tfrt_owner_end_t* end) {
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&end->node->peers); found;
       found = tfrt_hash_table_next(&end->node->peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    outgoing_hold_end_all(peer, end->job);
  }
}

static const tfrt_owner_rule_t tfrt_outgoing_hold_rules[] = {
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_RETAINS, outgoing_hold_on_peer_lost},
    {TFRT_OWNER_CLIENT_LEFT, TFRT_OWNER_RETAINS, outgoing_hold_on_peer_lost},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_RETAINS, outgoing_hold_on_job_finished},
};

static const tfrt_frame_handler_t tfrt_outgoing_hold_handlers[] = {
    {TFRT_WIRE_FRAME_RETAINED, outgoing_hold_on_retained},
};

const tfrt_node_part_t tfrt_outgoing_hold_part = {
    .rules = tfrt_outgoing_hold_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_outgoing_hold_rules),
    .handlers = tfrt_outgoing_hold_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_outgoing_hold_handlers),
};
