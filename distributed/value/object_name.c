// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/object_name.h"

#include <stdio.h>

#include "distributed/value/object_table.h"

// --- Calls that failed before they ran --------------------------------------

typedef struct tfrt_failed_call_s {
  tfrt_hash_node_t by_number;  // in the caller's table
  tfrt_list_link_t in_job;
  tfrt_peer_t* peer;  // +0; the record goes before either
  tfrt_job_t* job;    // +0
  uint64_t number;
  uint32_t result_count;
  uint32_t held_count;   // names that the caller has not given back
  tfrt_status_t status;  // +1
} tfrt_failed_call_t;

// Call numbers are consecutive, so each is its own hash.
static uint64_t failed_call_hash(const void* key) { return *(const uint64_t*)key; }

static bool failed_call_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_failed_call_t, by_number)->number == *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t tfrt_failed_call_table_vtable = {
    .hash = failed_call_hash,
    .equal = failed_call_equal,
};

static void failed_call_free(tfrt_failed_call_t* call) {
  tfrt_hash_table_remove(&call->peer->failed_calls, &call->by_number);
  tfrt_list_remove(&call->in_job);
  --call->job->failed.count;
  tfrt_status_release(call->status);
  tfrt_allocator_free(call->job->node->options.allocator, call, sizeof(*call));
}

// The number of failed calls that |job| may have here.
static uint32_t failed_call_room(const tfrt_job_t* job) {
  uint32_t objects = job->usage.limits.objects;
  return objects > 0 && objects < TFRT_FAILED_CALL_MAX_KEPT ? objects : TFRT_FAILED_CALL_MAX_KEPT;
}

void tfrt_object_name_add_failed_call(tfrt_peer_t* peer, tfrt_job_t* job, uint64_t number,
                                      uint32_t result_count, tfrt_status_t status) {
  if (result_count == 0) return;
  bool has_room = job->failed.count < failed_call_room(job);
  tfrt_failed_call_t* call =
      has_room ? tfrt_allocator_allocate_zeroed(job->node->options.allocator, sizeof(*call)) : NULL;
  if (!call) {
    job->failed.forgets = true;
    return;
  }
  call->peer = peer;
  call->job = job;
  call->number = number;
  call->result_count = call->held_count = result_count;
  call->status = tfrt_status_retain(status);
  tfrt_hash_table_insert(&peer->failed_calls, &call->number, &call->by_number);
  tfrt_list_push_back(&job->failed.list, &call->in_job);
  ++job->failed.count;
}

// The call |number| of |peer| in |job|, or NULL.
static tfrt_failed_call_t* failed_call_look_up(const tfrt_peer_t* peer, const tfrt_job_t* job,
                                               uint64_t number) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&peer->failed_calls, &number);
  tfrt_failed_call_t* call = node ? TFRT_CONTAINER_OF(node, tfrt_failed_call_t, by_number) : NULL;
  return call && call->job == job ? call : NULL;
}

tfrt_status_t tfrt_object_name_find_failed(tfrt_job_t* job, tfrt_wire_object_id_t id) {
  const tfrt_peer_t* peer = tfrt_peer_find(job->node, id.namer);
  tfrt_failed_call_t* call = peer ? failed_call_look_up(peer, job, id.number) : NULL;
  return call && id.index < call->result_count ? call->status : NULL;
}

// |peer| gives back |result_count| results of the call |number| that it has made in |job|. False if
// that is no failed call.
static bool failed_call_release(tfrt_peer_t* peer, const tfrt_job_t* job, uint64_t number,
                                uint32_t result_count) {
  if (tfrt_hash_table_count(&peer->failed_calls) == 0) return false;
  tfrt_failed_call_t* call = failed_call_look_up(peer, job, number);
  if (!call) return false;
  if (result_count < call->held_count) {
    call->held_count -= result_count;
  } else {
    failed_call_free(call);
  }
  return true;
}

static void failed_call_drop_peer(tfrt_peer_t* peer, const tfrt_job_t* job) {
  for (tfrt_hash_node_t* next = tfrt_hash_table_first(&peer->failed_calls); next;) {
    tfrt_failed_call_t* call = TFRT_CONTAINER_OF(next, tfrt_failed_call_t, by_number);
    next = tfrt_hash_table_next(&peer->failed_calls, next);
    if (!job || call->job == job) failed_call_free(call);
  }
}

static void failed_call_drop_job(tfrt_job_t* job) {
  while (!tfrt_list_is_empty(&job->failed.list)) {
    failed_call_free(TFRT_CONTAINER_OF(job->failed.list.next, tfrt_failed_call_t, in_job));
  }
}

// --- Names that are given back ----------------------------------------------

// |peer| gives back those of |range| with |number|.
static void object_name_release_number(tfrt_peer_t* peer, const tfrt_job_t* job,
                                       const tfrt_wire_object_range_t* range, uint64_t number) {
  bool is_own = range->namer == peer->incarnation;
  if (is_own && failed_call_release(peer, job, number, range->index_count)) return;
  for (uint32_t i = 0; i < range->index_count; ++i) {
    tfrt_wire_object_id_t id = {
        .namer = range->namer, .number = number, .index = range->first_index + i};
    tfrt_object_t* object = tfrt_object_table_find(peer->node->objects, id, job);
    if (object) tfrt_object_table_end_hold(peer->node->objects, object, peer->incarnation);
  }
}

// A Release came. Names that stand for nothing are passed over.
static tfrt_status_t object_name_on_release(const tfrt_incoming_frame_t* in) {
  const tfrt_wire_release_t* release = &in->body->release;
  for (size_t r = 0; r < release->range_count && in->job; ++r) {
    const tfrt_wire_object_range_t* range = &release->ranges[r];
    for (uint32_t n = 0; n < range->number_count; ++n) {
      object_name_release_number(in->peer, in->job, range, range->first_number + n);
    }
  }
  return NULL;
}

// --- Names without an object ------------------------------------------------

// The error (+1) for a result that |namer|, its caller, should have kept alive here for the
// requester, but released. A host does so after it has lost another host, from which the requester
// still hears; a client may have released the result too early.
static tfrt_status_t object_name_let_go(const tfrt_job_t* job, uint64_t namer) {
  uint32_t rank = tfrt_job_rank_of(job, namer);
  if (rank == TFRT_WIRE_NO_RANK) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                              "the client already released a result of host %u that was requested",
                              job->rank);
  }
  char message[128];
  snprintf(message, sizeof(message),
           "host %u already released a result of host %u that was requested: host %u lost a host",
           rank, job->rank, rank);
  const tfrt_status_fields_t fields = {.code = TFRT_STATUS_UNAVAILABLE,
                                       .message = message,
                                       .origin = {.rank = TFRT_STATUS_NO_RANK},
                                       .root_key = namer,
                                       .may_have_run = true};
  return tfrt_status_create_from_fields(&fields);
}

// The error (+1) for an export of this host that is wanted and gone.
static tfrt_status_t object_name_released(const tfrt_job_t* job) {
  uint32_t lost = 0;
  while (lost < job->view.member_count && !job->view.members[lost].death) ++lost;
  char message[160 + TFRT_TRANSPORT_ADDRESS_SIZE];
  if (lost == job->view.member_count) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                              "host %u already released the value that was requested", job->rank);
  }
  // A borrower may have died that had lent the value on to the requester.
  const char* address = job->view.members[lost].address;
  snprintf(message, sizeof(message),
           "host %u already released the value that was requested: host %u lost host %u%s%s%s",
           job->rank, job->rank, lost, address[0] ? " (" : "", address, address[0] ? ")" : "");
  const tfrt_status_fields_t fields = {.code = TFRT_STATUS_UNAVAILABLE,
                                       .message = message,
                                       .origin = {.rank = TFRT_STATUS_NO_RANK},
                                       .root_key = job->view.members[lost].incarnation,
                                       .may_have_run = true};
  return tfrt_status_create_from_fields(&fields);
}

tfrt_status_t tfrt_object_name_judge(tfrt_job_t* job, tfrt_wire_object_id_t id,
                                     tfrt_peer_t** out_namer) {
  *out_namer = NULL;
  if (id.namer == job->node->incarnation) return object_name_released(job);
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
  return object_name_let_go(job, id.namer);
}

// --- Owners -----------------------------------------------------------------

static void failed_call_on_peer_made(const tfrt_owner_end_t* end) {
  tfrt_hash_table_initialize(&end->peer->failed_calls, &tfrt_failed_call_table_vtable,
                             end->node->options.allocator);
}

static void failed_call_on_peer_lost(const tfrt_owner_end_t* end) {
  failed_call_drop_peer(end->peer, end->job);
}

static void failed_call_on_job_finished(const tfrt_owner_end_t* end) {
  failed_call_drop_job(end->job);
}

static const tfrt_owner_rule_t tfrt_object_name_rules[] = {
    {TFRT_OWNER_PEER_MADE, TFRT_OWNER_HOLDS, failed_call_on_peer_made},
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_HOLDS, failed_call_on_peer_lost},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_OBJECTS, failed_call_on_job_finished},
};

static const tfrt_frame_handler_t tfrt_object_name_handlers[] = {
    {TFRT_WIRE_FRAME_RELEASE, object_name_on_release},
};

const tfrt_node_part_t tfrt_object_name_part = {
    .rules = tfrt_object_name_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_object_name_rules),
    .handlers = tfrt_object_name_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_object_name_handlers),
};
