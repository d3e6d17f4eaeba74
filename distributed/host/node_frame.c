// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/failed_call.h"
#include "distributed/call/incoming_call.h"
#include "distributed/call/outgoing_call.h"
#include "distributed/client/client_impl.h"
#include "distributed/host/node_impl.h"
#include "distributed/job/fence.h"
#include "distributed/job/job_attachment.h"
#include "distributed/job/request_end.h"
#include "distributed/job/server.h"
#include "distributed/value/incoming_want.h"
#include "distributed/value/outgoing_retain.h"
#include "distributed/value/recovery.h"
#include "distributed/value/remote_value.h"

// |peer| gives back those of |range| with |number|.
static void tfrt_node_release_number(tfrt_peer_t* peer, const tfrt_job_t* job,
                                     const tfrt_wire_object_range_t* range, uint64_t number) {
  bool is_own = range->namer == peer->incarnation;
  if (is_own && tfrt_failed_call_release(peer, job, number, range->index_count)) return;
  for (uint32_t i = 0; i < range->index_count; ++i) {
    tfrt_wire_object_id_t id = {
        .namer = range->namer, .number = number, .index = range->first_index + i};
    tfrt_object_t* object = tfrt_object_table_find(&peer->node->objects, id, job);
    if (object) tfrt_object_table_end_hold(&peer->node->objects, object, peer->incarnation);
  }
}

static void tfrt_node_release_ids(tfrt_peer_t* peer, const tfrt_job_t* job,
                                  const tfrt_wire_release_t* release) {
  for (size_t r = 0; r < release->range_count && job; ++r) {
    const tfrt_wire_object_range_t* range = &release->ranges[r];
    for (uint32_t n = 0; n < range->number_count; ++n) {
      tfrt_node_release_number(peer, job, range, range->first_number + n);
    }
  }
}

// What only concerns jobs themselves.
static tfrt_status_t tfrt_node_on_job_frame(tfrt_peer_t* peer, tfrt_job_t* job,
                                            const tfrt_wire_frame_t* frame,
                                            const tfrt_wire_body_t* body, int64_t deadline_ns) {
  switch (body->kind) {
    case TFRT_WIRE_FRAME_JOB_OPENED:
      tfrt_client_on_job_opened(peer, job, &body->job_opened);
      return NULL;
    case TFRT_WIRE_FRAME_JOB_START:
      return tfrt_server_on_start(peer, job, &body->job_start, deadline_ns);
    case TFRT_WIRE_FRAME_JOB_END:
      tfrt_client_on_job_end(peer, job, &body->job_end);
      return NULL;
    case TFRT_WIRE_FRAME_JOB_CLOSE:
      tfrt_server_on_close(peer, job, &body->job_close);
      return NULL;
    case TFRT_WIRE_FRAME_JOB_DETACH:
      tfrt_job_attachment_on_detach(peer, frame->job, &body->job_detach);
      tfrt_client_on_detach(peer, job);
      return NULL;
    case TFRT_WIRE_FRAME_PROGRAM:
      return job && !job->closed ? tfrt_job_on_program(job, peer, &body->program) : NULL;
    default:
      return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "a %s frame can't be served",
                                tfrt_wire_frame_kind_name(body->kind));
  }
}

// The start that the client of |job| wants to end, or the request that the root has ended.
static void tfrt_node_on_cancel_request(tfrt_peer_t* peer, tfrt_job_t* job,
                                        const tfrt_wire_cancel_request_t* cancel) {
  if (!job || job->closed) return;
  bool is_client = peer->incarnation == job->client.incarnation;
  bool is_root = peer->incarnation == job->members[0].incarnation;
  tfrt_status_t reason =
      cancel->reason ? tfrt_wire_error_to_status(cancel->reason)
                     : tfrt_status_create(TFRT_STATUS_CANCELLED, "the client cancelled this");
  if (is_client && cancel->start != 0) tfrt_server_cancel_starts(job, cancel->start, reason);
  if (is_root && cancel->request != 0) tfrt_cancelled_requests_add(job, cancel->request, reason);
  tfrt_status_release(reason);
}

static void tfrt_node_on_end_request(tfrt_peer_t* peer, tfrt_job_t* job,
                                     const tfrt_wire_end_request_t* end) {
  if (!job || peer->incarnation != job->members[0].incarnation) return;
  tfrt_request_end_forget(job, end->request);
}

// What concerns values, and not one call of them alone.
static tfrt_status_t tfrt_node_on_value(tfrt_peer_t* peer, tfrt_job_t* job,
                                        const tfrt_wire_frame_t* frame,
                                        const tfrt_wire_body_t* body, int64_t deadline_ns) {
  switch (body->kind) {
    case TFRT_WIRE_FRAME_WANT:
      return tfrt_incoming_want_on_want(peer, job, &body->want);
    case TFRT_WIRE_FRAME_RESOLVE:
      if (tfrt_remote_value_on_resolve(peer, &body->resolve)) return NULL;
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a Resolve came without its Want");
    case TFRT_WIRE_FRAME_UNWANT:
      tfrt_incoming_want_on_unwant(peer, &body->unwant);
      return NULL;
    case TFRT_WIRE_FRAME_PUSH:
      tfrt_push_inbox_on_push(peer, job, &body->push);
      return NULL;
    case TFRT_WIRE_FRAME_LOST:
      tfrt_recovery_on_lost(peer, job, &body->lost);
      return NULL;
    case TFRT_WIRE_FRAME_REPLACE:
      tfrt_recovery_on_replace(peer, job, &body->replace);
      return NULL;
    case TFRT_WIRE_FRAME_RETAIN:
      return tfrt_incoming_want_on_retain(peer, job, &body->retain);
    case TFRT_WIRE_FRAME_RETAINED:
      tfrt_outgoing_retain_on_retained(peer, job, &body->retained);
      return NULL;
    case TFRT_WIRE_FRAME_RELEASE:
      tfrt_node_release_ids(peer, job, &body->release);
      return NULL;
    default:
      return tfrt_node_on_job_frame(peer, job, frame, body, deadline_ns);
  }
}

static tfrt_status_t tfrt_node_on_body(tfrt_peer_t* peer, tfrt_job_t* job,
                                       const tfrt_wire_frame_t* frame, const tfrt_wire_body_t* body,
                                       int64_t deadline_ns) {
  switch (body->kind) {
    case TFRT_WIRE_FRAME_INVOKE:
      return tfrt_incoming_call_on_invoke(peer, job, &body->invoke, frame->request, deadline_ns);
    case TFRT_WIRE_FRAME_VOID:
      return tfrt_incoming_call_on_void(peer, job, &body->void_call, frame->request);
    case TFRT_WIRE_FRAME_RESULT:
      return tfrt_outgoing_call_on_result(peer, &body->result);
    case TFRT_WIRE_FRAME_CANCEL:
      tfrt_incoming_call_on_cancel(peer, &body->cancel);
      return NULL;
    case TFRT_WIRE_FRAME_HURRY:
      tfrt_incoming_call_on_hurry(peer, &body->hurry);
      return NULL;
    case TFRT_WIRE_FRAME_CANCEL_REQUEST:
      tfrt_node_on_cancel_request(peer, job, &body->cancel_request);
      return NULL;
    case TFRT_WIRE_FRAME_END_REQUEST:
      tfrt_node_on_end_request(peer, job, &body->end_request);
      return NULL;
    default:
      return tfrt_node_on_value(peer, job, frame, body, deadline_ns);
  }
}

// Finds the job of |frame|, whose body was decoded, and hands it on.
static tfrt_status_t tfrt_node_dispatch(tfrt_peer_t* peer, const tfrt_wire_frame_t* frame,
                                        const tfrt_wire_body_t* body, int64_t deadline_ns) {
  if (body->kind == TFRT_WIRE_FRAME_JOB_ATTACH)
    return tfrt_job_attachment_on_attach(peer, &body->job_attach);
  if (body->kind == TFRT_WIRE_FRAME_JOB_GONE) {
    tfrt_fence_on_gone(peer, &body->job_gone);
    return NULL;
  }
  if (body->kind == TFRT_WIRE_FRAME_JOB_OPEN) {
    return tfrt_server_on_open(peer, frame, &body->job_open, deadline_ns);
  }
  tfrt_job_t* job = NULL;
  TFRT_RETURN_IF_ERROR(tfrt_job_attachment_find(peer, frame->job, &job));
  if (job) tfrt_job_retain(job);
  tfrt_status_t status = tfrt_node_on_body(peer, job, frame, body, deadline_ns);
  if (job) tfrt_job_release(job);
  return status;
}

tfrt_status_t tfrt_node_on_frame(tfrt_session_handler_t* handler, tfrt_session_t* session,
                                 const tfrt_wire_frame_t* frame, int64_t deadline_ns) {
  tfrt_node_t* node = tfrt_node_of(handler);
  tfrt_peer_t* peer = tfrt_session_user_data(session);
  if (!peer) return tfrt_status_out_of_memory();
  if (!tfrt_wire_frame_kind_is_known(frame->kind)) return NULL;
  tfrt_lane_manager_note_frame(node->lanes);
  tfrt_arena_t* arena = tfrt_node_scratch(node);
  tfrt_wire_body_t body;
  TFRT_RETURN_IF_ERROR(tfrt_wire_body_decode(frame->kind, frame->body, arena, &body));
  return tfrt_node_dispatch(peer, frame, &body, deadline_ns);
}
