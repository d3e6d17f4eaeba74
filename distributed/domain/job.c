// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/job.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "distributed/domain/job_attachment.h"
#include "distributed/wire/limits.h"

// --- Requests that are cancelled -------------------------------------------------

static bool cancelled_requests_reserve(tfrt_cancelled_requests_t* table,
                                       tfrt_allocator_t allocator) {
  if (table->count < table->capacity) return true;
  uint32_t capacity = table->capacity ? 2 * table->capacity : 4;
  tfrt_cancelled_request_t* grown = tfrt_allocator_reallocate(
      allocator, table->entries, table->capacity * sizeof(*grown), capacity * sizeof(*grown));
  if (!grown) return false;
  table->entries = grown;
  table->capacity = capacity;
  return true;
}

static void cancelled_requests_remove_at(tfrt_cancelled_requests_t* table, uint32_t index) {
  tfrt_status_release(table->entries[index].reason);
  --table->count;
  memmove(&table->entries[index], &table->entries[index + 1],
          (table->count - index) * sizeof(*table->entries));
}

bool tfrt_cancelled_requests_add(tfrt_cancelled_requests_t* table, uint64_t request,
                                 tfrt_status_t reason, tfrt_allocator_t allocator) {
  if (tfrt_cancelled_requests_find(table, request)) return false;
  if (table->count == TFRT_WIRE_MAX_TOMBSTONES) cancelled_requests_remove_at(table, 0);
  if (cancelled_requests_reserve(table, allocator)) {
    table->entries[table->count++] =
        (tfrt_cancelled_request_t){.request = request, .reason = tfrt_status_retain(reason)};
  }
  return true;
}

tfrt_status_t tfrt_cancelled_requests_find(const tfrt_cancelled_requests_t* table,
                                           uint64_t request) {
  for (uint32_t i = 0; i < table->count; ++i) {
    if (table->entries[i].request == request) return table->entries[i].reason;
  }
  return NULL;
}

void tfrt_cancelled_requests_remove(tfrt_cancelled_requests_t* table, uint64_t request) {
  for (uint32_t i = 0; i < table->count; ++i) {
    if (table->entries[i].request != request) continue;
    cancelled_requests_remove_at(table, i);
    return;
  }
}

static void cancelled_requests_free(tfrt_cancelled_requests_t* table, tfrt_allocator_t allocator) {
  while (table->count > 0) cancelled_requests_remove_at(table, table->count - 1);
  tfrt_allocator_free(allocator, table->entries, table->capacity * sizeof(*table->entries));
  memset(table, 0, sizeof(*table));
}

// --- Jobs that have ended --------------------------------------------------------

// Remembers that the job |id|, in which this host has |rank|, ends because of |reason| (+0).
static void ended_jobs_add(tfrt_ended_jobs_t* jobs, const uint8_t id[TFRT_WIRE_JOB_ID_SIZE],
                           uint32_t rank, tfrt_status_t reason) {
  tfrt_ended_job_t* entry = &jobs->entries[jobs->next];
  jobs->next = (jobs->next + 1) % TFRT_ENDED_JOBS_CAPACITY;
  tfrt_status_release(entry->reason);
  memcpy(entry->id, id, sizeof(entry->id));
  entry->rank = rank;
  entry->reason = tfrt_status_retain(reason);
}

static void ended_jobs_on_node_past(const tfrt_owner_end_t* end) {
  tfrt_ended_jobs_t* jobs = &end->node->ended_jobs;
  for (uint32_t i = 0; i < TFRT_ENDED_JOBS_CAPACITY; ++i) {
    tfrt_status_release(jobs->entries[i].reason);
  }
  memset(jobs, 0, sizeof(*jobs));
}

// --- Life --------------------------------------------------------------------

static void job_set_address(tfrt_job_member_t* member, const tfrt_wire_member_t* wire) {
  if (wire->address_count == 0 || wire->addresses[0].size >= sizeof(member->address)) return;
  memcpy(member->address, wire->addresses[0].data, wire->addresses[0].size);
}

static tfrt_status_t job_read_view(tfrt_job_t* job, const tfrt_wire_view_t* view) {
  if (view->member_count == 0 || view->members[0].rank != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the job's view has no rank 0");
  }
  size_t size = view->member_count * sizeof(*job->view.members);
  job->view.members = tfrt_allocator_allocate_zeroed(job->node->options.allocator, size);
  if (!job->view.members) return tfrt_status_out_of_memory();
  job->view.member_count = (uint32_t)view->member_count;
  for (size_t i = 0; i < view->member_count; ++i) {
    tfrt_job_member_t* member = &job->view.members[i];
    member->rank = view->members[i].rank;
    member->incarnation = view->members[i].incarnation;
    job_set_address(member, &view->members[i]);
  }
  job->view.epoch = view->epoch;
  job->view.features = view->features;
  return NULL;
}

static void job_free(tfrt_job_t* job) {
  tfrt_allocator_t allocator = job->node->options.allocator;
  tfrt_list_remove(&job->link);
  if (job->printer.release) job->printer.release(job->printer.self);
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_JOB_PAST, .node = job->node, .job = job});
  for (uint32_t i = 0; i < job->view.member_count; ++i)
    tfrt_status_release(job->view.members[i].death);
  tfrt_status_release(job->client.death);
  tfrt_status_release(job->closing.reason);
  tfrt_trace_release(tfrt_job_trace(job));
  cancelled_requests_free(&job->cancelled_requests, allocator);
  tfrt_mailbox_deinitialize(&job->exchange.mailbox);
  tfrt_turn_table_deinitialize(&job->exchange.turns);
  tfrt_resource_context_deinitialize(&job->exchange.resources);
  tfrt_allocator_free(allocator, job->view.members,
                      job->view.member_count * sizeof(*job->view.members));
  tfrt_allocator_free(allocator, job, sizeof(*job));
}

static void job_initialize_lists(tfrt_job_t* job) {
  tfrt_list_initialize(&job->link);
  tfrt_list_initialize(&job->programs.list);
  tfrt_list_initialize(&job->starts.list);
  tfrt_list_initialize(&job->outgoing_calls);
  tfrt_list_initialize(&job->remote_values);
  tfrt_list_initialize(&job->usage.object_list);
  tfrt_list_initialize(&job->failed.list);
  tfrt_list_initialize(&job->recovery.calls);
  tfrt_list_initialize(&job->recovery.asked);
}

tfrt_status_t tfrt_job_create(tfrt_node_t* node, const tfrt_wire_job_open_t* open, uint32_t rank,
                              uint64_t client, tfrt_job_t** out_job) {
  *out_job = NULL;
  if (node->closed || (node->refuses_jobs && !open->asks_only)) {
    return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "this host takes no more jobs");
  }
  if (tfrt_job_find(node, open->job_id)) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "the job is open here already");
  }
  tfrt_job_t* job = tfrt_allocator_allocate_zeroed(node->options.allocator, sizeof(*job));
  if (!job) return tfrt_status_out_of_memory();
  tfrt_ref_count_initialize(&job->ref_count);
  job->node = node;
  job_initialize_lists(job);
  memcpy(job->identity.id, open->job_id.data, sizeof(job->identity.id));
  memcpy(job->identity.key, open->key.data, sizeof(job->identity.key));
  job->handle = ++node->next_job_handle;
  job->rank = rank;
  job->asks_only = open->asks_only;
  job->detachment.is_detached = open->detached;
  if (open->name.size > 0) memcpy(job->name, open->name.data, open->name.size);
  job->since_ns = node->tick_ns;
  job->deadline_ns = TFRT_TIME_INFINITE;
  job->client.rank = TFRT_WIRE_NO_RANK;
  job->client.incarnation = client;
  job->programs.next = 1;
  job->starts.next_request = 1;
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_JOB_MADE, .node = node, .job = job});
  tfrt_status_t status = job_read_view(job, &open->view);
  if (status) {
    tfrt_job_release(job);
    return status;
  }
  tfrt_list_push_back(&node->jobs, &job->link);
  *out_job = job;
  return NULL;
}

tfrt_job_t* tfrt_job_retain(tfrt_job_t* job) {
  tfrt_ref_count_increment(&job->ref_count);
  return job;
}

void tfrt_job_release(tfrt_job_t* job) {
  if (tfrt_ref_count_decrement(&job->ref_count)) job_free(job);
}

// --- States ------------------------------------------------------------------

void tfrt_job_set_state(tfrt_job_t* job, tfrt_job_state_t state) {
  // The states that may come before each.
  static const uint32_t before[] = {
      [TFRT_JOB_OPEN] = 1u << TFRT_JOB_OPENING,
      [TFRT_JOB_OPENING] = 1u << TFRT_JOB_OPEN,
      [TFRT_JOB_CLOSED] = 1u << TFRT_JOB_OPEN | 1u << TFRT_JOB_OPENING,
      [TFRT_JOB_OVER] = 1u << TFRT_JOB_CLOSED,
  };
  assert(before[state] & (1u << job->state));
  (void)before;
  job->state = state;
}

// --- The end -----------------------------------------------------------------

// This host sends nothing more of the closed |job|.
static void job_end(tfrt_job_t* job) {
  tfrt_job_set_state(job, TFRT_JOB_OVER);
  if (!job->closing.is_finished) {
    ended_jobs_add(&job->node->ended_jobs, job->identity.id, job->rank, job->closing.reason);
  }
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_JOB_OVER, .node = job->node, .job = job});
  tfrt_list_remove(&job->link);
  // The list's reference.
  tfrt_job_release(job);
}

void tfrt_job_enter(tfrt_job_t* job) {
  ++job->active;
  tfrt_job_retain(job);
}

void tfrt_job_leave(tfrt_job_t* job) {
  if (--job->active == 0 && tfrt_job_is_closed(job) && !tfrt_job_is_over(job)) job_end(job);
  tfrt_job_release(job);
}

// --- Members -----------------------------------------------------------------

tfrt_job_member_t* tfrt_job_find_incarnation(tfrt_job_t* job, uint64_t incarnation) {
  if (job->client.incarnation == incarnation) return &job->client;
  for (uint32_t i = 0; i < job->view.member_count; ++i) {
    if (job->view.members[i].incarnation == incarnation) return &job->view.members[i];
  }
  return NULL;
}

tfrt_job_member_t* tfrt_job_find_rank(tfrt_job_t* job, uint32_t rank) {
  for (uint32_t i = 0; i < job->view.member_count; ++i) {
    if (job->view.members[i].rank == rank) return &job->view.members[i];
  }
  return NULL;
}

uint32_t tfrt_job_rank_of(const tfrt_job_t* job, uint64_t incarnation) {
  tfrt_job_member_t* member = tfrt_job_find_incarnation((tfrt_job_t*)job, incarnation);
  return member ? member->rank : TFRT_WIRE_NO_RANK;
}

void tfrt_job_set_trace(tfrt_job_t* job, tfrt_trace_t* trace) {
  // Pairs with the load in tfrt_job_trace(): a thread that finds the trace finds it made.
  atomic_store_explicit(&job->tracing.spans, tfrt_trace_retain(trace), memory_order_release);
}

void tfrt_job_add_trace_flow(const tfrt_job_t* job, const char* category, uint64_t caller,
                             uint64_t number, uint64_t callee, uint64_t request) {
  tfrt_trace_t* trace = tfrt_job_trace(job);
  if (!trace) return;
  char name[sizeof(((tfrt_trace_span_t*)NULL)->name)];
  snprintf(name, sizeof(name), "%016" PRIx64 ".%" PRIu64 ".%016" PRIx64, caller, number, callee);
  int64_t now_ns = tfrt_clock_now_ns(job->node->options.host->clock);
  tfrt_trace_add(trace, category, name, now_ns, now_ns, request);
}

size_t tfrt_job_count_running(const tfrt_node_t* node, const tfrt_job_t* without) {
  size_t count = 0;
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    const tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    // A client that follows a detached job is to get results, which would go with this host.
    count += job != without && (!job->asks_only || job->detachment.followed);
  }
  return count;
}

tfrt_job_t* tfrt_job_find(tfrt_node_t* node, tfrt_string_view_t id) {
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    if (id.size == sizeof(job->identity.id) &&
        memcmp(id.data, job->identity.id, sizeof(job->identity.id)) == 0) {
      return job;
    }
  }
  return NULL;
}

static bool job_has_peer_left(const tfrt_job_t* job, tfrt_peer_t* peer) {
  const tfrt_peer_job_t* known = tfrt_peer_find_job(peer, job);
  return known && known->detached_there;
}

bool tfrt_job_has_left(const tfrt_job_t* job, uint64_t incarnation) {
  tfrt_peer_t* peer = tfrt_peer_find(job->node, incarnation);
  return peer && job_has_peer_left(job, peer);
}

uint32_t tfrt_job_find_living(tfrt_job_t* job, uint32_t rank) {
  for (uint32_t n = 0; n < job->view.member_count; ++n) {
    uint32_t next = (rank + n) % job->view.member_count;
    const tfrt_job_member_t* member = tfrt_job_find_rank(job, next);
    if (next == job->rank) break;
    if (member && !member->death && !tfrt_job_has_left(job, member->incarnation)) return next;
  }
  return job->rank;
}

tfrt_status_t tfrt_job_reach(tfrt_job_t* job, uint64_t incarnation, tfrt_peer_t** out_peer) {
  *out_peer = NULL;
  tfrt_job_member_t* member = tfrt_job_find_incarnation(job, incarnation);
  if (!member) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "a host that is not in the job's view");
  }
  if (tfrt_job_is_closed(job)) return tfrt_status_retain(job->closing.reason);
  if (!member->peer) member->peer = tfrt_peer_find_or_create(job->node, incarnation);
  tfrt_peer_t* peer = member->peer;
  if (!peer) return tfrt_status_out_of_memory();
  if (member->death) {
    return tfrt_peer_lost_error(peer, job, NULL, "before it was asked");
  }
  // A session that the member has dialled gets the member's address here, to dial it if the
  // connection breaks.
  bool has_way =
      peer->session && (tfrt_session_address(peer->session).size > 0 || !member->address[0]);
  if (!has_way) {
    tfrt_session_t* session = NULL;
    TFRT_RETURN_IF_ERROR(tfrt_session_manager_dial(
        job->node->sessions, tfrt_string_view_of(member->address), incarnation, &session));
    tfrt_peer_adopt_session(peer, session);
    tfrt_session_release(session);
    tfrt_bulk_manager_set_address(job->node->bulk, incarnation,
                                  tfrt_string_view_of(member->address), TFRT_BULK_IN);
  }
  if (job_has_peer_left(job, peer)) {
    return tfrt_status_create(TFRT_STATUS_CANCELLED, "the client has left the job");
  }
  if (!peer->address[0]) snprintf(peer->address, sizeof(peer->address), "%s", member->address);
  if (member->rank != TFRT_WIRE_NO_RANK) {
    tfrt_session_set_peer_rank(peer->session, member->rank);
  }
  *out_peer = peer;
  return NULL;
}

// --- Programs ----------------------------------------------------------------

tfrt_job_program_t* tfrt_job_find_program(tfrt_job_t* job, uint64_t namer, uint32_t handle) {
  for (tfrt_list_link_t* link = job->programs.list.next; link != &job->programs.list;
       link = link->next) {
    tfrt_job_program_t* program = TFRT_CONTAINER_OF(link, tfrt_job_program_t, link);
    if (program->namer == namer && program->handle == handle) return program;
  }
  return NULL;
}

static const tfrt_owner_rule_t tfrt_job_rules[] = {
    {TFRT_OWNER_NODE_PAST, TFRT_OWNER_JOBS, ended_jobs_on_node_past},
};

const tfrt_node_part_t tfrt_job_part = {
    .rules = tfrt_job_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_job_rules),
};
