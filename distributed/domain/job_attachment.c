// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/job_attachment.h"

#include <string.h>

#include "distributed/security/digest.h"

// --- Proofs ------------------------------------------------------------------

// The parts of a JobAttach without the session's number. Copied as bytes into a draft.
typedef struct tfrt_job_draft_s {
  uint64_t from;  // incarnation
  uint32_t handle;
  uint8_t id[TFRT_WIRE_JOB_ID_SIZE];
  uint8_t key[TFRT_WIRE_KEY_SIZE];
} tfrt_job_draft_t;

static void job_put_le(uint8_t* out, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) out[i] = (uint8_t)(value >> (8 * i));
}

// The proof that |draft->from| has the job's key, towards |to|, in the session |session|.
static tfrt_status_t job_prove(const tfrt_job_draft_t* draft, uint64_t to, uint32_t session,
                               uint8_t out_proof[TFRT_WIRE_PROOF_SIZE]) {
  uint8_t said[8 + 8 + 4 + TFRT_WIRE_JOB_ID_SIZE];
  job_put_le(said, draft->from, 8);
  job_put_le(said + 8, to, 8);
  job_put_le(said + 16, session, 4);
  memcpy(said + 20, draft->id, sizeof(draft->id));
  return tfrt_hmac_sha256(tfrt_string_view_make((const char*)draft->key, sizeof(draft->key)),
                          tfrt_string_view_make((const char*)said, sizeof(said)), out_proof);
}

// Makes the body of a JobAttach, now that the number of |session| is final.
static tfrt_status_t job_seal(const tfrt_session_t* session, tfrt_string_view_t bytes,
                              tfrt_string_builder_t* out_body) {
  tfrt_job_draft_t draft;
  memcpy(&draft, bytes.data, sizeof(draft));
  uint8_t proof[TFRT_WIRE_PROOF_SIZE];
  TFRT_RETURN_IF_ERROR(job_prove(&draft, tfrt_session_peer_incarnation(session),
                                 tfrt_session_number(session), proof));
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_JOB_ATTACH,
      .job_attach = {.handle = draft.handle,
                     .job_id = tfrt_string_view_make((const char*)draft.id, sizeof(draft.id)),
                     .proof = tfrt_string_view_make((const char*)proof, sizeof(proof))}};
  return tfrt_wire_body_encode(&body, out_body);
}

static tfrt_status_t job_append_attach(tfrt_peer_t* peer, uint32_t handle, const uint8_t* id,
                                       const uint8_t* key) {
  tfrt_job_draft_t draft;
  memset(&draft, 0, sizeof(draft));
  draft.from = peer->node->incarnation;
  draft.handle = handle;
  memcpy(draft.id, id, sizeof(draft.id));
  memcpy(draft.key, key, sizeof(draft.key));
  tfrt_session_frame_t frame = {.kind = TFRT_WIRE_FRAME_JOB_ATTACH,
                                .deadline_ns = TFRT_TIME_INFINITE,
                                .body = tfrt_string_view_make((const char*)&draft, sizeof(draft)),
                                .seal = job_seal};
  return tfrt_session_append(peer->session, &frame);
}

// --- Handles of jobs that are over here ---------------------------------------

// A handle of a job that is over here, which its peer has not retired yet. A peer that has many
// must not make others wait, so each is found at once and takes little memory.
typedef struct tfrt_gone_handle_s {
  tfrt_hash_node_t by_handle;  // in the peer's table
  uint32_t handle;
} tfrt_gone_handle_t;

static uint64_t gone_handle_hash(const void* key) { return tfrt_hash_u64(*(const uint32_t*)key); }

static bool gone_handle_equal(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, tfrt_gone_handle_t, by_handle)->handle == *(const uint32_t*)key;
}

static const tfrt_hash_table_vtable_t tfrt_gone_handle_table_vtable = {
    .hash = gone_handle_hash,
    .equal = gone_handle_equal,
};

static void job_attachment_on_peer_made(const tfrt_owner_end_t* end) {
  tfrt_hash_table_initialize(&end->peer->gone_handles, &tfrt_gone_handle_table_vtable,
                             end->node->options.allocator);
}

static bool gone_handle_is_bound(const tfrt_peer_t* peer, uint32_t handle) {
  return tfrt_hash_table_find(&peer->gone_handles, &handle) != NULL;
}

// Binds |handle|, which is not bound; false without memory.
static bool gone_handle_add(tfrt_peer_t* peer, uint32_t handle) {
  tfrt_gone_handle_t* gone =
      tfrt_allocator_allocate_zeroed(peer->node->options.allocator, sizeof(*gone));
  if (!gone) return false;
  gone->handle = handle;
  tfrt_hash_table_insert(&peer->gone_handles, &gone->handle, &gone->by_handle);
  return true;
}

// False if |handle| is none of them.
static bool gone_handle_remove(tfrt_peer_t* peer, uint32_t handle) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&peer->gone_handles, &handle);
  if (!node) return false;
  tfrt_hash_table_remove(&peer->gone_handles, node);
  tfrt_gone_handle_t* gone = TFRT_CONTAINER_OF(node, tfrt_gone_handle_t, by_handle);
  tfrt_allocator_free(peer->node->options.allocator, gone, sizeof(*gone));
  return true;
}

void tfrt_job_attachment_forget_gone(tfrt_peer_t* peer) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->gone_handles); node;) {
    const tfrt_gone_handle_t* gone = TFRT_CONTAINER_OF(node, tfrt_gone_handle_t, by_handle);
    node = tfrt_hash_table_next(&peer->gone_handles, node);
    gone_handle_remove(peer, gone->handle);
  }
}

// --- Our handle --------------------------------------------------------------

tfrt_status_t tfrt_job_attachment_send(tfrt_job_t* job, tfrt_peer_t* peer) {
  tfrt_peer_job_t* known = tfrt_peer_find_job(peer, job);
  if (known && known->attached) return NULL;
  if (tfrt_job_is_over(job)) {
    return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION, "the job is over here");
  }
  if (!known) known = tfrt_peer_find_or_create_job(peer, job);
  if (!known) return tfrt_status_out_of_memory();
  TFRT_RETURN_IF_ERROR(job_append_attach(peer, job->handle, job->identity.id, job->identity.key));
  known->attached = true;
  return NULL;
}

static void job_forget(tfrt_peer_t* peer, tfrt_peer_job_t* known) {
  tfrt_list_remove(&known->link);
  tfrt_allocator_free(peer->node->options.allocator, known, sizeof(*known));
}

static tfrt_string_view_t attached_job_id(const tfrt_job_t* job) {
  return tfrt_string_view_make((const char*)job->identity.id, sizeof(job->identity.id));
}

// The entry (+0, until the next job ends) of the job with |id|, or NULL.
static const tfrt_ended_job_t* job_attachment_find_ended(const tfrt_ended_jobs_t* jobs,
                                                         tfrt_string_view_t id) {
  for (uint32_t i = 0; i < TFRT_ENDED_JOBS_CAPACITY; ++i) {
    const tfrt_ended_job_t* entry = &jobs->entries[i];
    bool is_it = entry->reason && id.size == sizeof(entry->id) &&
                 memcmp(entry->id, id.data, sizeof(entry->id)) == 0;
    if (is_it) return entry;
  }
  return NULL;
}

// Sets |*out_error| to the reason that other hosts get for the end of the job |id| here, and
// returns it; it lives as long as |arena|. NULL if there is no reason, or memory is out.
static const tfrt_wire_error_t* job_end_error(const tfrt_node_t* node, tfrt_string_view_t id,
                                              tfrt_arena_t* arena, tfrt_wire_error_t* out_error) {
  const tfrt_ended_job_t* ended = job_attachment_find_ended(&node->ended_jobs, id);
  if (!ended) return NULL;
  tfrt_status_t status =
      tfrt_wire_error_from_status(ended->reason, ended->rank, node->incarnation, arena, out_error);
  tfrt_status_release(status);
  return status ? NULL : out_error;
}

// Tells |peer| that this host will answer nothing of the job |id|.
static void job_say_gone(tfrt_peer_t* peer, tfrt_string_view_t id) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, peer->node->options.allocator);
  tfrt_wire_error_t error;
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_JOB_GONE,
      .job_gone = {.job_id = id, .error = job_end_error(peer->node, id, &arena, &error)}};
  tfrt_peer_send(peer, &(tfrt_peer_frame_t){0}, &body);
  tfrt_arena_deinitialize(&arena);
}

// Sends the last frame of |job| to |peer|, even if calls and wants still wait for credit, or for
// the session to open: after it they would have no job.
static void job_say_detach(tfrt_job_t* job, tfrt_peer_t* peer) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, peer->node->options.allocator);
  tfrt_wire_error_t error;
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_JOB_DETACH,
      .job_detach = {.error = job_end_error(peer->node, attached_job_id(job), &arena, &error)}};
  tfrt_peer_frame_t frame = {.job = job};
  if (peer->session) {
    frame.after_call = tfrt_session_next_call(peer->session) - 1;
    frame.after_want = tfrt_session_next_want(peer->session) - 1;
  }
  tfrt_peer_send(peer, &frame, &body);
  tfrt_arena_deinitialize(&arena);
}

// Sends JobDetach, with the reason if there is one, to all peers that know our handle of |job|,
// which is over: frames with it can't be sent any more.
static void job_attachment_on_job_over(const tfrt_owner_end_t* end) {
  tfrt_job_t* job = end->job;
  tfrt_node_t* node = end->node;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&node->peers); found;
       found = tfrt_hash_table_next(&node->peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    tfrt_peer_job_t* known = tfrt_peer_find_job(peer, job);
    if (!known) continue;
    if (known->attached) {
      job_say_detach(job, peer);
    } else if (known->their_handle != 0) {
      job_say_gone(peer, attached_job_id(job));
    }
    known->attached = false;
    // Frames that still come under the peer's handle are of a job that is closed here.
    tfrt_job_release(job);
    known->job = NULL;
    if (known->their_handle == 0 || gone_handle_add(peer, known->their_handle)) {
      job_forget(peer, known);
    }
  }
}

// Appends a frame of a job that does not exist here, under |handle|.
static tfrt_status_t job_append_orphan(tfrt_peer_t* peer, uint32_t handle, uint32_t epoch,
                                       const tfrt_wire_body_t* body) {
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, peer->node->options.allocator);
  tfrt_status_t status = tfrt_wire_body_encode(body, &bytes);
  if (!status) {
    tfrt_session_frame_t frame = {.kind = body->kind,
                                  .job = handle,
                                  .epoch = epoch,
                                  .deadline_ns = TFRT_TIME_INFINITE,
                                  .body = tfrt_string_builder_view(&bytes)};
    status = tfrt_session_append(peer->session, &frame);
  }
  tfrt_string_builder_deinitialize(&bytes);
  return status;
}

// The rank that |view| gives us; TFRT_WIRE_NO_RANK for none.
static uint32_t job_own_rank(const tfrt_node_t* node, const tfrt_wire_view_t* view) {
  for (size_t i = 0; i < view->member_count; ++i) {
    if (view->members[i].incarnation == node->incarnation) return view->members[i].rank;
  }
  return TFRT_WIRE_NO_RANK;
}

tfrt_status_t tfrt_job_attachment_refuse(tfrt_peer_t* peer, uint32_t handle,
                                         const tfrt_wire_job_open_t* open, tfrt_status_t reason) {
  TFRT_RETURN_IF_ERROR(tfrt_job_attachment_bind(NULL, peer, handle));
  tfrt_node_t* node = peer->node;
  uint32_t own = ++node->next_job_handle;
  TFRT_RETURN_IF_ERROR(job_append_attach(peer, own, (const uint8_t*)open->job_id.data,
                                         (const uint8_t*)open->key.data));
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, node->options.allocator);
  tfrt_wire_error_t error = {.code = TFRT_STATUS_RESOURCE_EXHAUSTED};
  // Without memory for the reason, the error's code still says what is wrong.
  tfrt_status_release(tfrt_wire_error_from_status(reason, job_own_rank(node, &open->view),
                                                  node->incarnation, &arena, &error));
  if (error.code == TFRT_STATUS_OK) error.code = TFRT_STATUS_RESOURCE_EXHAUSTED;
  tfrt_wire_body_t opened = {.kind = TFRT_WIRE_FRAME_JOB_OPENED, .job_opened = {.error = &error}};
  tfrt_status_t status = job_append_orphan(peer, own, open->view.epoch, &opened);
  tfrt_arena_deinitialize(&arena);
  TFRT_RETURN_IF_ERROR(status);
  tfrt_wire_body_t detach = {.kind = TFRT_WIRE_FRAME_JOB_DETACH};
  return job_append_orphan(peer, own, open->view.epoch, &detach);
}

// --- Their handle ------------------------------------------------------------

static tfrt_peer_job_t* job_find_handle(tfrt_peer_t* peer, uint32_t handle) {
  for (tfrt_list_link_t* link = peer->jobs.next; link != &peer->jobs; link = link->next) {
    tfrt_peer_job_t* known = TFRT_CONTAINER_OF(link, tfrt_peer_job_t, link);
    if (known->their_handle == handle) return known;
  }
  return NULL;
}

tfrt_status_t tfrt_job_attachment_find(tfrt_peer_t* peer, uint32_t handle, tfrt_job_t** out_job) {
  tfrt_peer_job_t* known = handle ? job_find_handle(peer, handle) : NULL;
  *out_job = known ? known->job : NULL;
  if (known || gone_handle_is_bound(peer, handle)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a frame has the job handle %u, which is not attached", handle);
}

static tfrt_status_t job_bind_to_none(tfrt_peer_t* peer, uint32_t handle) {
  if (tfrt_hash_table_count(&peer->gone_handles) >= TFRT_JOB_ATTACHMENT_MAX_GONE) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "%u handles of jobs that are over here are bound: some have to be "
                              "retired (JobDetach) before there are more",
                              TFRT_JOB_ATTACHMENT_MAX_GONE);
  }
  return gone_handle_add(peer, handle) ? NULL : tfrt_status_out_of_memory();
}

tfrt_status_t tfrt_job_attachment_bind(tfrt_job_t* job, tfrt_peer_t* peer, uint32_t handle) {
  if (handle == 0 || job_find_handle(peer, handle) || gone_handle_is_bound(peer, handle)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the job handle %u can't be bound (again)", handle);
  }
  if (!job) return job_bind_to_none(peer, handle);
  tfrt_peer_job_t* known = tfrt_peer_find_or_create_job(peer, job);
  if (!known) return tfrt_status_out_of_memory();
  if (known->their_handle != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "the job has a handle already");
  }
  known->their_handle = handle;
  return NULL;
}

// Binds the handle to no job, and says so.
static tfrt_status_t job_attach_to_none(tfrt_peer_t* peer, const tfrt_wire_job_attach_t* attach) {
  TFRT_RETURN_IF_ERROR(tfrt_job_attachment_bind(NULL, peer, attach->handle));
  job_say_gone(peer, attach->job_id);
  return NULL;
}

// True if |incarnation|, a member, is lost to |job| (job/fence.h).
static bool job_attachment_is_fenced(tfrt_job_t* job, uint64_t incarnation) {
  const tfrt_job_member_t* member = tfrt_job_find_incarnation(job, incarnation);
  return member && member != &job->client && member->death;
}

// A JobAttach came. UNAUTHENTICATED for a wrong proof, INVALID_ARGUMENT for a
// handle that is bound already.
static tfrt_status_t job_attachment_on_attach(const tfrt_incoming_frame_t* in) {
  tfrt_peer_t* peer = in->peer;
  const tfrt_wire_job_attach_t* attach = &in->body->job_attach;
  tfrt_job_t* job = tfrt_job_find(peer->node, attach->job_id);
  if (!job) return job_attach_to_none(peer, attach);
  tfrt_job_draft_t expected = {.from = peer->incarnation};
  memcpy(expected.id, job->identity.id, sizeof(job->identity.id));
  memcpy(expected.key, job->identity.key, sizeof(job->identity.key));
  uint8_t proof[TFRT_WIRE_PROOF_SIZE];
  TFRT_RETURN_IF_ERROR(
      job_prove(&expected, peer->node->incarnation, tfrt_session_number(peer->session), proof));
  if (!tfrt_transport_secrets_are_equal(attach->proof,
                                        tfrt_string_view_make((const char*)proof, sizeof(proof)))) {
    return tfrt_status_create(TFRT_STATUS_UNAUTHENTICATED,
                              "the proof for a job is wrong: the peer doesn't have its key");
  }
  if (job_attachment_is_fenced(job, peer->incarnation)) return job_attach_to_none(peer, attach);
  return tfrt_job_attachment_bind(job, peer, attach->handle);
}

tfrt_peer_job_t* tfrt_job_attachment_retire(tfrt_peer_t* peer, uint32_t handle) {
  tfrt_peer_job_t* known = job_find_handle(peer, handle);
  if (!known) {
    (void)gone_handle_remove(peer, handle);
    return NULL;
  }
  known->their_handle = 0;
  if (known->job) return known;
  job_forget(peer, known);
  return NULL;
}

static const tfrt_owner_rule_t tfrt_job_attachment_rules[] = {
    {TFRT_OWNER_PEER_MADE, TFRT_OWNER_JOBS, job_attachment_on_peer_made},
    {TFRT_OWNER_JOB_OVER, TFRT_OWNER_JOBS, job_attachment_on_job_over},
};

static const tfrt_frame_handler_t tfrt_job_attachment_handlers[] = {
    {TFRT_WIRE_FRAME_JOB_ATTACH, job_attachment_on_attach},
};

const tfrt_node_part_t tfrt_job_attachment_part = {
    .rules = tfrt_job_attachment_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_job_attachment_rules),
    .handlers = tfrt_job_attachment_handlers,
    .handler_count = TFRT_ARRAY_SIZE(tfrt_job_attachment_handlers),
};
