// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/job.h"

#include <stdio.h>
#include <string.h>

#include "distributed/call/router.h"
#include "distributed/domain/event_log.h"
#include "distributed/job/detached_job.h"
#include "distributed/job/job_attachment.h"
#include "distributed/job/job_closing.h"
#include "distributed/job/server.h"
#include "distributed/service/sending.h"
#include "distributed/value/remote_value.h"

// Program frames of one job that a peer can be told of.
#define TFRT_JOB_MAX_PROGRAMS 64u

// --- Life --------------------------------------------------------------------

static void tfrt_job_set_address(tfrt_job_member_t* member, const tfrt_wire_member_t* wire) {
  if (wire->address_count == 0 || wire->addresses[0].size >= sizeof(member->address)) return;
  memcpy(member->address, wire->addresses[0].data, wire->addresses[0].size);
}

static tfrt_status_t tfrt_job_read_view(tfrt_job_t* job, const tfrt_wire_view_t* view) {
  if (view->member_count == 0 || view->members[0].rank != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the job's view has no rank 0");
  }
  size_t size = view->member_count * sizeof(*job->members);
  job->members = tfrt_allocator_allocate_zeroed(job->node->options.allocator, size);
  if (!job->members) return tfrt_status_out_of_memory();
  job->member_count = (uint32_t)view->member_count;
  for (size_t i = 0; i < view->member_count; ++i) {
    tfrt_job_member_t* member = &job->members[i];
    member->rank = view->members[i].rank;
    member->incarnation = view->members[i].incarnation;
    tfrt_job_set_address(member, &view->members[i]);
  }
  job->epoch = view->epoch;
  return NULL;
}

static void tfrt_job_free(tfrt_job_t* job) {
  tfrt_allocator_t allocator = job->node->options.allocator;
  tfrt_list_remove(&job->link);
  if (job->print_release) job->print_release(job->print_self);
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&job->programs));) {
    tfrt_job_program_t* program = TFRT_CONTAINER_OF(link, tfrt_job_program_t, link);
    tfrt_cached_program_release(program->cached);
    tfrt_allocator_free(allocator, program, sizeof(*program));
  }
  for (uint32_t i = 0; i < job->member_count; ++i) tfrt_status_release(job->members[i].death);
  tfrt_status_release(job->client.death);
  tfrt_status_release(job->closed_by);
  tfrt_trace_release(tfrt_job_trace(job));
  tfrt_cancelled_requests_free(job);
  tfrt_mailbox_deinitialize(&job->mailbox);
  tfrt_turn_table_deinitialize(&job->turns);
  tfrt_resource_context_deinitialize(&job->resources);
  tfrt_allocator_free(allocator, job->members, job->member_count * sizeof(*job->members));
  tfrt_allocator_free(allocator, job, sizeof(*job));
}

static void tfrt_job_initialize_lists(tfrt_job_t* job) {
  tfrt_list_initialize(&job->link);
  tfrt_list_initialize(&job->programs);
  tfrt_list_initialize(&job->starts);
  tfrt_list_initialize(&job->outgoing_calls);
  tfrt_list_initialize(&job->remote_values);
  tfrt_list_initialize(&job->failed_calls);
  tfrt_list_initialize(&job->retried_calls);
  tfrt_list_initialize(&job->lost_requests);
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
  tfrt_job_initialize_lists(job);
  memcpy(job->id, open->job_id.data, sizeof(job->id));
  memcpy(job->key, open->key.data, sizeof(job->key));
  job->handle = ++node->next_job_handle;
  job->rank = rank;
  job->asks_only = open->asks_only;
  job->is_detached = open->detached;
  if (open->name.size > 0) memcpy(job->name, open->name.data, open->name.size);
  job->since_ns = node->objects.tick_ns;
  job->deadline_ns = TFRT_TIME_INFINITE;
  job->client.rank = TFRT_WIRE_NO_RANK;
  job->client.incarnation = client;
  job->next_program = 1;
  job->next_request = 1;
  tfrt_router_initialize(job);
  tfrt_status_t status = tfrt_job_read_view(job, &open->view);
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
  if (tfrt_ref_count_decrement(&job->ref_count)) tfrt_job_free(job);
}

// --- The end -----------------------------------------------------------------

// Nothing of the closed |job| is left to say: retires our handle with every peer.
static void tfrt_job_end(tfrt_job_t* job) {
  job->ended = true;
  tfrt_ended_jobs_add(&job->node->ended_jobs, job);
  tfrt_job_attachment_end_all(job);
  tfrt_detached_job_unfollow(job);
  tfrt_list_remove(&job->link);
  // The list's reference.
  tfrt_job_release(job);
}

void tfrt_job_enter(tfrt_job_t* job) {
  ++job->active;
  tfrt_job_retain(job);
}

void tfrt_job_leave(tfrt_job_t* job) {
  if (--job->active == 0 && job->closed && !job->ended) tfrt_job_end(job);
  tfrt_job_release(job);
}

void tfrt_job_close(tfrt_job_t* job, tfrt_status_t reason) {
  if (job->closed) return;
  if (job->node->options.logs_events) tfrt_event_log_job_closed(job, reason);
  tfrt_job_enter(job);
  if (job->rank == 0) tfrt_server_close_members(job, reason);
  job->closed = true;
  job->is_finished = !reason;
  job->closed_by = reason ? tfrt_status_retain(reason)
                          : tfrt_status_create(TFRT_STATUS_CANCELLED, "the job was closed");
  tfrt_server_answer_open(job, job->closed_by);
  tfrt_job_closing_begin(job);
}

// --- Members -----------------------------------------------------------------

tfrt_job_member_t* tfrt_job_find_incarnation(tfrt_job_t* job, uint64_t incarnation) {
  if (job->client.incarnation == incarnation) return &job->client;
  for (uint32_t i = 0; i < job->member_count; ++i) {
    if (job->members[i].incarnation == incarnation) return &job->members[i];
  }
  return NULL;
}

tfrt_job_member_t* tfrt_job_find_rank(tfrt_job_t* job, uint32_t rank) {
  for (uint32_t i = 0; i < job->member_count; ++i) {
    if (job->members[i].rank == rank) return &job->members[i];
  }
  return NULL;
}

uint32_t tfrt_job_rank_of(const tfrt_job_t* job, uint64_t incarnation) {
  tfrt_job_member_t* member = tfrt_job_find_incarnation((tfrt_job_t*)job, incarnation);
  return member ? member->rank : TFRT_WIRE_NO_RANK;
}

void tfrt_job_set_trace(tfrt_job_t* job, tfrt_trace_t* trace) {
  // Pairs with the load in tfrt_job_trace(): who finds the trace finds it made.
  atomic_store_explicit(&job->trace, tfrt_trace_retain(trace), memory_order_release);
}

void tfrt_job_tell_members(tfrt_job_t* job, const tfrt_wire_body_t* body, bool can_wait) {
  for (uint32_t i = 0; i < job->member_count && !job->closed; ++i) {
    const tfrt_job_member_t* member = &job->members[i];
    if (member->rank == job->rank || member->death) continue;
    tfrt_peer_t* peer = tfrt_peer_find(job->node, member->incarnation);
    if (peer && peer->session && !tfrt_job_has_left(job, member->incarnation)) {
      const tfrt_peer_frame_t frame = {.job = job, .can_wait = can_wait, .can_wait_long = can_wait};
      tfrt_peer_send(peer, &frame, body);
    }
  }
}

size_t tfrt_job_count_running(const tfrt_node_t* node, const tfrt_job_t* without) {
  size_t count = 0;
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    const tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    // Who follows is to get results, which would go with this host.
    count += job != without && (!job->asks_only || job->followed);
  }
  return count;
}

tfrt_job_t* tfrt_job_find(tfrt_node_t* node, tfrt_string_view_t id) {
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    if (id.size == sizeof(job->id) && memcmp(id.data, job->id, sizeof(job->id)) == 0) return job;
  }
  return NULL;
}

static bool tfrt_job_has_peer_left(const tfrt_job_t* job, tfrt_peer_t* peer) {
  const tfrt_peer_job_t* known = tfrt_peer_find_job(peer, job);
  return known && known->detached_there;
}

bool tfrt_job_has_left(const tfrt_job_t* job, uint64_t incarnation) {
  tfrt_peer_t* peer = tfrt_peer_find(job->node, incarnation);
  return peer && tfrt_job_has_peer_left(job, peer);
}

tfrt_status_t tfrt_job_reach(tfrt_job_t* job, uint64_t incarnation, tfrt_peer_t** out_peer) {
  *out_peer = NULL;
  tfrt_job_member_t* member = tfrt_job_find_incarnation(job, incarnation);
  if (!member) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "a host that is not in the job's view");
  }
  if (job->closed) return tfrt_status_retain(job->closed_by);
  if (!member->peer) member->peer = tfrt_peer_find_or_create(job->node, incarnation);
  tfrt_peer_t* peer = member->peer;
  if (!peer) return tfrt_status_out_of_memory();
  if (member->death) {
    return tfrt_peer_lost_error(peer, job, NULL, "before it was asked");
  }
  // One that has dialled us learns here how it can be dialled, should the connection break.
  bool has_way = peer->session && (tfrt_session_has_address(peer->session) || !member->address[0]);
  if (!has_way) {
    tfrt_session_t* session = NULL;
    TFRT_RETURN_IF_ERROR(tfrt_session_manager_dial(
        job->node->sessions, tfrt_string_view_of(member->address), incarnation, &session));
    tfrt_peer_adopt_session(peer, session);
    tfrt_session_release(session);
    tfrt_lane_manager_set_address(job->node->lanes, incarnation,
                                  tfrt_string_view_of(member->address));
  }
  if (tfrt_job_has_peer_left(job, peer)) {
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
  for (tfrt_list_link_t* link = job->programs.next; link != &job->programs; link = link->next) {
    tfrt_job_program_t* program = TFRT_CONTAINER_OF(link, tfrt_job_program_t, link);
    if (program->namer == namer && program->handle == handle) return program;
  }
  return NULL;
}

// Gives |cached| (+0) the name |handle| of |namer|.
static tfrt_status_t tfrt_job_add_program(tfrt_job_t* job, uint64_t namer, uint32_t handle,
                                          tfrt_cached_program_t* cached) {
  tfrt_job_program_t* program =
      tfrt_allocator_allocate_zeroed(job->node->options.allocator, sizeof(*program));
  if (!program) return tfrt_status_out_of_memory();
  program->namer = namer;
  program->handle = handle;
  program->cached = tfrt_cached_program_retain(cached);
  tfrt_list_push_back(&job->programs, &program->link);
  return NULL;
}

tfrt_status_t tfrt_job_on_program(tfrt_job_t* job, tfrt_peer_t* peer,
                                  const tfrt_wire_program_t* program) {
  if (job->asks_only) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a program came in a job that only asks");
  }
  if (tfrt_job_find_program(job, peer->incarnation, program->handle)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the program handle %u came twice",
                              program->handle);
  }
  tfrt_node_t* node = job->node;
  // Another's may never come, or with an error that is none of this job's.
  const tfrt_program_source_t source = {.job = job, .owner = program->reference.owner};
  tfrt_cached_program_t* cached = tfrt_program_cache_find(node, program->sha256, &source);
  if (!cached) {
    tfrt_remote_value_t* bytes = tfrt_remote_value_create(job, &program->reference);
    if (!bytes) return tfrt_status_out_of_memory();
    cached =
        tfrt_program_cache_add(node, program->sha256, program->size, &bytes->base.base, &source);
    tfrt_remote_value_release(bytes);
    if (!cached) return tfrt_status_out_of_memory();
  }
  tfrt_cached_program_load(cached);
  tfrt_status_t status = tfrt_job_add_program(job, peer->incarnation, program->handle, cached);
  tfrt_cached_program_release(cached);
  return status;
}

// Sets |*out_program| to the entry of |cached| among the programs that we have named.
static tfrt_status_t tfrt_job_name_program(tfrt_job_t* job, tfrt_cached_program_t* cached,
                                           tfrt_job_program_t** out_program) {
  *out_program = NULL;
  for (tfrt_list_link_t* link = job->programs.next; link != &job->programs; link = link->next) {
    tfrt_job_program_t* program = TFRT_CONTAINER_OF(link, tfrt_job_program_t, link);
    if (program->namer != job->node->incarnation || program->cached != cached) continue;
    *out_program = program;
    return NULL;
  }
  if (job->next_program > TFRT_JOB_MAX_PROGRAMS) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "a host names at most %u programs in a job: put their functions into "
                              "one, or open another job",
                              TFRT_JOB_MAX_PROGRAMS);
  }
  tfrt_object_t* object = tfrt_object_table_export(&job->node->objects, job, cached->bytes);
  if (!object) return tfrt_status_out_of_memory();
  tfrt_status_t status =
      tfrt_job_add_program(job, job->node->incarnation, job->next_program, cached);
  if (status) {
    tfrt_object_table_end_loan(&job->node->objects, object);
    return status;
  }
  *out_program = tfrt_job_find_program(job, job->node->incarnation, job->next_program++);
  (*out_program)->object = object->id;
  object->name = "program";
  return NULL;
}

tfrt_status_t tfrt_job_announce_program(tfrt_job_t* job, tfrt_peer_t* peer,
                                        tfrt_cached_program_t* program, uint32_t* out_handle) {
  *out_handle = 0;
  tfrt_job_program_t* named = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_job_name_program(job, program, &named));
  tfrt_peer_job_t* known = tfrt_peer_find_or_create_job(peer, job);
  if (!known) return tfrt_status_out_of_memory();
  uint64_t bit = UINT64_C(1) << (named->handle - 1);
  *out_handle = named->handle;
  if (known->told_programs & bit) return NULL;
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_PROGRAM,
                           .program = {.handle = named->handle,
                                       .sha256 = tfrt_string_view_make((const char*)program->sha256,
                                                                       sizeof(program->sha256)),
                                       .size = program->size,
                                       .reference = {.id = named->object,
                                                     .owner = job->node->incarnation,
                                                     .owner_rank = job->rank,
                                                     .namer_rank = job->rank}}};
  TFRT_RETURN_IF_ERROR(tfrt_peer_try_send(peer, &(tfrt_peer_frame_t){.job = job}, &body));
  known->told_programs |= bit;
  return NULL;
}

// --- Loss --------------------------------------------------------------------

void tfrt_job_leave_client(tfrt_job_t* job, tfrt_status_t reason) {
  if (job->closed) return;
  if (job->detached) {
    tfrt_detached_job_lose_client(job->detached);
    return;
  }
  // A root to which the client's JobOpen never came answers that it has no such job.
  tfrt_peer_t* root = NULL;
  tfrt_status_t status = NULL;
  if (job->is_detached) status = tfrt_job_reach(job, job->members[0].incarnation, &root);
  if (root && root->session) status = tfrt_job_attachment_send(job, root);
  if (!job->is_detached || status) tfrt_job_close(job, status ? status : reason);
  tfrt_status_release(status);
}

void tfrt_job_lose_root(tfrt_job_t* job, const tfrt_peer_t* peer) {
  if (job->rank == TFRT_WIRE_NO_RANK) return;
  tfrt_status_t lost = tfrt_peer_lost_error(peer, job, NULL, "without which the job can't go on");
  tfrt_job_close(job, lost);
  tfrt_status_release(lost);
}

void tfrt_job_bury_all(tfrt_peer_t* peer, tfrt_status_t reason) {
  tfrt_node_t* node = peer->node;
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs;) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    link = link->next;
    tfrt_job_member_t* member = tfrt_job_find_incarnation(job, peer->incarnation);
    if (!member || member->death) continue;
    member->death = tfrt_status_retain(reason);
    if (member != &job->client) {
      tfrt_status_t lost =
          tfrt_peer_lost_error(peer, job, NULL, "before it sent what this host waits for");
      tfrt_sending_end(job, member->rank, lost);
      tfrt_status_release(lost);
    }
    if (member->rank != 0 && member != &job->client) continue;
    if (member == &job->client && job->is_detached) {
      tfrt_job_leave_client(job, reason);
    } else {
      tfrt_job_lose_root(job, peer);
    }
  }
}
