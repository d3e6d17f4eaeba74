// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/cancelled_requests.h"

#include <string.h>

#include "distributed/call/incoming_call.h"
#include "distributed/job/job.h"

static bool tfrt_cancelled_requests_reserve(tfrt_job_t* job) {
  tfrt_cancelled_requests_t* table = &job->cancelled_requests;
  if (table->count < table->capacity) return true;
  uint32_t capacity = table->capacity ? 2 * table->capacity : 4;
  tfrt_cancelled_request_t* grown =
      tfrt_allocator_reallocate(job->node->options.allocator, table->entries,
                                table->capacity * sizeof(*grown), capacity * sizeof(*grown));
  if (!grown) return false;
  table->entries = grown;
  table->capacity = capacity;
  return true;
}

static void tfrt_cancelled_requests_remove_at(tfrt_cancelled_requests_t* table, uint32_t index) {
  tfrt_status_release(table->entries[index].reason);
  --table->count;
  memmove(&table->entries[index], &table->entries[index + 1],
          (table->count - index) * sizeof(*table->entries));
}

void tfrt_cancelled_requests_add(tfrt_job_t* job, uint64_t request, tfrt_status_t reason) {
  if (tfrt_cancelled_requests_find(job, request)) return;
  tfrt_cancelled_requests_t* table = &job->cancelled_requests;
  if (table->count == TFRT_WIRE_MAX_TOMBSTONES) tfrt_cancelled_requests_remove_at(table, 0);
  if (tfrt_cancelled_requests_reserve(job)) {
    table->entries[table->count++] =
        (tfrt_cancelled_request_t){.request = request, .reason = tfrt_status_retain(reason)};
  }
  tfrt_hash_table_t* peers = &job->node->peers;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(peers); found;
       found = tfrt_hash_table_next(peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    tfrt_incoming_call_cancel_request(peer, job, request, reason);
  }
}

tfrt_status_t tfrt_cancelled_requests_find(const tfrt_job_t* job, uint64_t request) {
  const tfrt_cancelled_requests_t* table = &job->cancelled_requests;
  for (uint32_t i = 0; i < table->count; ++i) {
    if (table->entries[i].request == request) return table->entries[i].reason;
  }
  return NULL;
}

void tfrt_cancelled_requests_remove(tfrt_job_t* job, uint64_t request) {
  tfrt_cancelled_requests_t* table = &job->cancelled_requests;
  for (uint32_t i = 0; i < table->count; ++i) {
    if (table->entries[i].request != request) continue;
    tfrt_cancelled_requests_remove_at(table, i);
    return;
  }
}

void tfrt_cancelled_requests_free(tfrt_job_t* job) {
  tfrt_cancelled_requests_t* table = &job->cancelled_requests;
  while (table->count > 0) tfrt_cancelled_requests_remove_at(table, table->count - 1);
  tfrt_allocator_free(job->node->options.allocator, table->entries,
                      table->capacity * sizeof(*table->entries));
  memset(table, 0, sizeof(*table));
}

void tfrt_cancelled_requests_tell(tfrt_job_t* job, uint64_t request, tfrt_status_t reason) {
  tfrt_cancelled_requests_add(job, request, reason);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, job->node->options.allocator);
  tfrt_wire_error_t error;
  tfrt_status_t status =
      tfrt_wire_error_from_status(reason, job->rank, job->node->incarnation, &arena, &error);
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_CANCEL_REQUEST,
      .cancel_request = {.request = request, .reason = status ? NULL : &error}};
  tfrt_job_tell_members(job, &body, false);
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}
