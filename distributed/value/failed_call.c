// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/failed_call.h"

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
static uint64_t tfrt_failed_call_hash(const void* key) { return *(const uint64_t*)key; }

static bool tfrt_failed_call_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_failed_call_t, by_number)->number == *(const uint64_t*)key;
}

static const tfrt_hash_table_vtable_t tfrt_failed_call_table_vtable = {
    .hash = tfrt_failed_call_hash,
    .equal = tfrt_failed_call_equal,
};

static void tfrt_failed_call_initialize_table(tfrt_hash_table_t* table,
                                              tfrt_allocator_t allocator) {
  tfrt_hash_table_initialize(table, &tfrt_failed_call_table_vtable, allocator);
}

static void tfrt_failed_call_free(tfrt_failed_call_t* call) {
  tfrt_hash_table_remove(&call->peer->failed_calls, &call->by_number);
  tfrt_list_remove(&call->in_job);
  --call->job->failed.count;
  tfrt_status_release(call->status);
  tfrt_allocator_free(call->job->node->options.allocator, call, sizeof(*call));
}

// The number of failed calls that |job| may have here.
static uint32_t tfrt_failed_call_room(const tfrt_job_t* job) {
  uint32_t objects = job->usage.limits.objects;
  return objects > 0 && objects < TFRT_FAILED_CALL_MAX_KEPT ? objects : TFRT_FAILED_CALL_MAX_KEPT;
}

void tfrt_failed_call_add(tfrt_peer_t* peer, tfrt_job_t* job, uint64_t number,
                          uint32_t result_count, tfrt_status_t status) {
  if (result_count == 0) return;
  bool has_room = job->failed.count < tfrt_failed_call_room(job);
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
static tfrt_failed_call_t* tfrt_failed_call_look_up(const tfrt_peer_t* peer, const tfrt_job_t* job,
                                                    uint64_t number) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&peer->failed_calls, &number);
  tfrt_failed_call_t* call = node ? TFRT_CONTAINER_OF(node, tfrt_failed_call_t, by_number) : NULL;
  return call && call->job == job ? call : NULL;
}

tfrt_status_t tfrt_failed_call_find(tfrt_job_t* job, tfrt_wire_object_id_t id) {
  const tfrt_peer_t* peer = tfrt_peer_find(job->node, id.namer);
  tfrt_failed_call_t* call = peer ? tfrt_failed_call_look_up(peer, job, id.number) : NULL;
  return call && id.index < call->result_count ? call->status : NULL;
}

bool tfrt_failed_call_release(tfrt_peer_t* peer, const tfrt_job_t* job, uint64_t number,
                              uint32_t result_count) {
  if (tfrt_hash_table_count(&peer->failed_calls) == 0) return false;
  tfrt_failed_call_t* call = tfrt_failed_call_look_up(peer, job, number);
  if (!call) return false;
  if (result_count < call->held_count) {
    call->held_count -= result_count;
  } else {
    tfrt_failed_call_free(call);
  }
  return true;
}

static void tfrt_failed_call_drop_peer(tfrt_peer_t* peer, const tfrt_job_t* job) {
  for (tfrt_hash_node_t* next = tfrt_hash_table_first(&peer->failed_calls); next;) {
    tfrt_failed_call_t* call = TFRT_CONTAINER_OF(next, tfrt_failed_call_t, by_number);
    next = tfrt_hash_table_next(&peer->failed_calls, next);
    if (!job || call->job == job) tfrt_failed_call_free(call);
  }
}

static void tfrt_failed_call_drop_job(tfrt_job_t* job) {
  while (!tfrt_list_is_empty(&job->failed.list)) {
    tfrt_failed_call_free(TFRT_CONTAINER_OF(job->failed.list.next, tfrt_failed_call_t, in_job));
  }
}

static void tfrt_failed_call_on_peer_made(const tfrt_owner_end_t* end) {
  tfrt_failed_call_initialize_table(&end->peer->failed_calls, end->node->options.allocator);
}

static void tfrt_failed_call_on_peer_lost(const tfrt_owner_end_t* end) {
  tfrt_failed_call_drop_peer(end->peer, end->job);
}

static void tfrt_failed_call_on_job_finished(const tfrt_owner_end_t* end) {
  tfrt_failed_call_drop_job(end->job);
}

static const tfrt_owner_rule_t tfrt_failed_call_rules[] = {
    {TFRT_OWNER_PEER_MADE, TFRT_OWNER_HOLDS, tfrt_failed_call_on_peer_made},
    {TFRT_OWNER_PEER_LOST, TFRT_OWNER_HOLDS, tfrt_failed_call_on_peer_lost},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_OBJECTS, tfrt_failed_call_on_job_finished},
};

void tfrt_failed_call_register(tfrt_owner_rules_t* rules) {
  tfrt_owner_rules_add(rules, tfrt_failed_call_rules, TFRT_ARRAY_SIZE(tfrt_failed_call_rules));
}
