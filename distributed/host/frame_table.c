// SPDX-License-Identifier: Apache-2.0
#include "distributed/host/frame_table.h"

#include "distributed/call/incoming_call.h"
#include "distributed/call/job_program.h"
#include "distributed/call/outgoing_call.h"
#include "distributed/client/client_record.h"
#include "distributed/delivery/push_inbox.h"
#include "distributed/domain/domain.h"
#include "distributed/domain/job.h"
#include "distributed/domain/job_attachment.h"
#include "distributed/job/fence.h"
#include "distributed/job/job_life.h"
#include "distributed/job/job_start.h"
#include "distributed/recovery/recovery.h"
#include "distributed/value/incoming_want.h"
#include "distributed/value/object_name.h"
#include "distributed/value/outgoing_hold.h"
#include "distributed/value/remote_value.h"

// A frame that has come, decoded.
typedef struct tfrt_frame_in_s {
  tfrt_peer_t* peer;  // the sender
  tfrt_job_t* job;    // NULL: of none, or it is over here
  const tfrt_wire_frame_t* frame;
  const tfrt_wire_body_t* body;
  int64_t deadline_ns;
} tfrt_frame_in_t;

static tfrt_status_t tfrt_frame_on_attach(const tfrt_frame_in_t* in) {
  return tfrt_job_attachment_on_attach(in->peer, &in->body->job_attach);
}

static tfrt_status_t tfrt_frame_on_gone(const tfrt_frame_in_t* in) {
  tfrt_fence_on_gone(in->peer, &in->body->job_gone);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_open(const tfrt_frame_in_t* in) {
  return tfrt_job_life_on_open(in->peer, in->frame, &in->body->job_open, in->deadline_ns);
}

static tfrt_status_t tfrt_frame_on_opened(const tfrt_frame_in_t* in) {
  tfrt_client_on_job_opened(in->peer, in->job, &in->body->job_opened);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_start(const tfrt_frame_in_t* in) {
  return tfrt_job_start_on_start(in->peer, in->job, &in->body->job_start, in->deadline_ns);
}

static tfrt_status_t tfrt_frame_on_job_end(const tfrt_frame_in_t* in) {
  tfrt_client_on_job_end(in->peer, in->job, &in->body->job_end);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_close(const tfrt_frame_in_t* in) {
  tfrt_job_life_on_close(in->peer, in->job, &in->body->job_close);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_detach(const tfrt_frame_in_t* in) {
  tfrt_fence_on_detach(in->peer, in->frame->job, &in->body->job_detach);
  tfrt_client_on_detach(in->peer, in->job);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_program(const tfrt_frame_in_t* in) {
  if (!in->job || tfrt_job_is_closed(in->job)) return NULL;
  return tfrt_job_on_program(in->job, in->peer, &in->body->program);
}

static tfrt_status_t tfrt_frame_on_invoke(const tfrt_frame_in_t* in) {
  return tfrt_incoming_call_on_invoke(in->peer, in->job, &in->body->invoke, in->frame->request,
                                      in->deadline_ns);
}

static tfrt_status_t tfrt_frame_on_void(const tfrt_frame_in_t* in) {
  return tfrt_incoming_call_on_void(in->peer, in->job, &in->body->void_call, in->frame->request);
}

static tfrt_status_t tfrt_frame_on_result(const tfrt_frame_in_t* in) {
  return tfrt_outgoing_call_on_result(in->peer, &in->body->result);
}

static tfrt_status_t tfrt_frame_on_cancel(const tfrt_frame_in_t* in) {
  tfrt_incoming_call_on_cancel(in->peer, &in->body->cancel);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_hurry(const tfrt_frame_in_t* in) {
  tfrt_incoming_call_on_hurry(in->peer, &in->body->hurry);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_cancel_request(const tfrt_frame_in_t* in) {
  tfrt_job_start_on_cancel_request(in->peer, in->job, &in->body->cancel_request);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_end_request(const tfrt_frame_in_t* in) {
  tfrt_job_start_on_end_request(in->peer, in->job, &in->body->end_request);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_want(const tfrt_frame_in_t* in) {
  return tfrt_incoming_want_on_want(in->peer, in->job, &in->body->want);
}

static tfrt_status_t tfrt_frame_on_resolve(const tfrt_frame_in_t* in) {
  if (tfrt_remote_value_on_resolve(in->peer, &in->body->resolve)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a Resolve came without its Want");
}

static tfrt_status_t tfrt_frame_on_unwant(const tfrt_frame_in_t* in) {
  tfrt_incoming_want_on_unwant(in->peer, &in->body->unwant);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_retain(const tfrt_frame_in_t* in) {
  return tfrt_incoming_want_on_retain(in->peer, in->job, &in->body->retain);
}

static tfrt_status_t tfrt_frame_on_retained(const tfrt_frame_in_t* in) {
  tfrt_outgoing_hold_on_retained(in->peer, in->job, &in->body->retained);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_release(const tfrt_frame_in_t* in) {
  tfrt_object_name_on_release(in->peer, in->job, &in->body->release);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_lost(const tfrt_frame_in_t* in) {
  tfrt_recovery_on_lost(in->peer, in->job, &in->body->lost);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_replace(const tfrt_frame_in_t* in) {
  tfrt_recovery_on_replace(in->peer, in->job, &in->body->replace);
  return NULL;
}

static tfrt_status_t tfrt_frame_on_push(const tfrt_frame_in_t* in) {
  tfrt_push_inbox_on_push(in->peer, in->job, &in->body->push);
  return NULL;
}

// Each kind of frame: which room serves it. One of no job comes before its job has a handle, or is
// about a job that has none here.
static const struct {
  tfrt_status_t (*serve)(const tfrt_frame_in_t* in);  // NULL: it is no frame between hosts
  bool is_of_no_job;
} tfrt_frame_table[] = {
    [TFRT_WIRE_FRAME_JOB_ATTACH] = {tfrt_frame_on_attach, true},
    [TFRT_WIRE_FRAME_JOB_GONE] = {tfrt_frame_on_gone, true},
    [TFRT_WIRE_FRAME_JOB_OPEN] = {tfrt_frame_on_open, true},
    [TFRT_WIRE_FRAME_JOB_OPENED] = {tfrt_frame_on_opened, false},
    [TFRT_WIRE_FRAME_JOB_START] = {tfrt_frame_on_start, false},
    [TFRT_WIRE_FRAME_JOB_END] = {tfrt_frame_on_job_end, false},
    [TFRT_WIRE_FRAME_JOB_CLOSE] = {tfrt_frame_on_close, false},
    [TFRT_WIRE_FRAME_JOB_DETACH] = {tfrt_frame_on_detach, false},
    [TFRT_WIRE_FRAME_PROGRAM] = {tfrt_frame_on_program, false},
    [TFRT_WIRE_FRAME_INVOKE] = {tfrt_frame_on_invoke, false},
    [TFRT_WIRE_FRAME_VOID] = {tfrt_frame_on_void, false},
    [TFRT_WIRE_FRAME_RESULT] = {tfrt_frame_on_result, false},
    [TFRT_WIRE_FRAME_CANCEL] = {tfrt_frame_on_cancel, false},
    [TFRT_WIRE_FRAME_HURRY] = {tfrt_frame_on_hurry, false},
    [TFRT_WIRE_FRAME_CANCEL_REQUEST] = {tfrt_frame_on_cancel_request, false},
    [TFRT_WIRE_FRAME_END_REQUEST] = {tfrt_frame_on_end_request, false},
    [TFRT_WIRE_FRAME_WANT] = {tfrt_frame_on_want, false},
    [TFRT_WIRE_FRAME_RESOLVE] = {tfrt_frame_on_resolve, false},
    [TFRT_WIRE_FRAME_UNWANT] = {tfrt_frame_on_unwant, false},
    [TFRT_WIRE_FRAME_RETAIN] = {tfrt_frame_on_retain, false},
    [TFRT_WIRE_FRAME_RETAINED] = {tfrt_frame_on_retained, false},
    [TFRT_WIRE_FRAME_RELEASE] = {tfrt_frame_on_release, false},
    [TFRT_WIRE_FRAME_LOST] = {tfrt_frame_on_lost, false},
    [TFRT_WIRE_FRAME_REPLACE] = {tfrt_frame_on_replace, false},
    [TFRT_WIRE_FRAME_PUSH] = {tfrt_frame_on_push, false},
};

// Finds the job of what has come, and has it served.
static tfrt_status_t tfrt_frame_table_serve(tfrt_frame_in_t* in) {
  uint32_t kind = (uint32_t)in->body->kind;
  bool is_served = kind < TFRT_ARRAY_SIZE(tfrt_frame_table) && tfrt_frame_table[kind].serve;
  if (is_served && tfrt_frame_table[kind].is_of_no_job) return tfrt_frame_table[kind].serve(in);
  TFRT_RETURN_IF_ERROR(tfrt_job_attachment_find(in->peer, in->frame->job, &in->job));
  if (!is_served) {
    return tfrt_status_create(TFRT_STATUS_UNIMPLEMENTED, "a %s frame can't be served",
                              tfrt_wire_frame_kind_name(in->body->kind));
  }
  if (in->job) tfrt_job_retain(in->job);
  tfrt_status_t status = tfrt_frame_table[kind].serve(in);
  if (in->job) tfrt_job_release(in->job);
  return status;
}

tfrt_status_t tfrt_frame_table_on_frame(tfrt_session_handler_t* handler, tfrt_session_t* session,
                                        const tfrt_wire_frame_t* frame, int64_t deadline_ns) {
  tfrt_node_t* node = tfrt_node_of(handler);
  tfrt_peer_t* peer = tfrt_session_user_data(session);
  if (!peer) return tfrt_status_out_of_memory();
  if (!tfrt_wire_frame_kind_is_known(frame->kind)) return NULL;
  tfrt_lane_manager_note_frame(node->lanes);
  tfrt_arena_t* arena = tfrt_node_scratch(node);
  tfrt_wire_body_t body;
  TFRT_RETURN_IF_ERROR(tfrt_wire_body_decode(frame->kind, frame->body, arena, &body));
  tfrt_frame_in_t in = {.peer = peer, .frame = frame, .body = &body, .deadline_ns = deadline_ns};
  return tfrt_frame_table_serve(&in);
}
