// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/request_end.h"

#include "distributed/domain/cancelled_requests.h"
#include "distributed/domain/job.h"
#include "distributed/job/server.h"

// Cancels |request| of |job| on this host because of |reason| (+0): calls of it that run here, and
// those that will come.
static void tfrt_request_end_cancel(tfrt_job_t* job, uint64_t request, tfrt_status_t reason) {
  bool is_new = tfrt_cancelled_requests_add(&job->cancelled_requests, request, reason,
                                            job->node->options.allocator);
  if (!is_new) return;
  tfrt_node_end(&(tfrt_owner_end_t){.event = TFRT_OWNER_REQUEST_CANCELLED,
                                    .node = job->node,
                                    .job = job,
                                    .request = request,
                                    .reason = reason});
}

void tfrt_request_end_tell_cancel(tfrt_job_t* job, uint64_t request, tfrt_status_t reason) {
  tfrt_request_end_cancel(job, request, reason);
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

bool tfrt_request_end_forget(tfrt_job_t* job, uint64_t request) {
  tfrt_cancelled_requests_remove(&job->cancelled_requests, request);
  bool has_met = tfrt_turn_table_forget(&job->exchange.turns, request);
  bool was_closed = tfrt_mailbox_forget_closed(&job->exchange.mailbox, request);
  tfrt_node_end(&(tfrt_owner_end_t){
      .event = TFRT_OWNER_REQUEST_OVER, .node = job->node, .job = job, .request = request});
  return has_met || was_closed;
}

void tfrt_request_end_tell(tfrt_job_t* job, uint64_t request, bool is_cancelled, bool can_meet) {
  // Other hosts may have met without the root.
  bool has_met = tfrt_request_end_forget(job, request) || can_meet;
  if (!has_met && !is_cancelled) return;
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_END_REQUEST,
                           .end_request = {.request = request}};
  tfrt_job_tell_members(job, &body, !is_cancelled);
}

// --- Messages ------------------------------------------------------------------------

void tfrt_request_end_on_cancel(tfrt_peer_t* peer, tfrt_job_t* job,
                                const tfrt_wire_cancel_request_t* cancel) {
  if (!job || tfrt_job_is_closed(job)) return;
  bool is_client = peer->incarnation == job->client.incarnation;
  bool is_root = peer->incarnation == job->view.members[0].incarnation;
  tfrt_status_t reason =
      cancel->reason ? tfrt_wire_error_to_status(cancel->reason)
                     : tfrt_status_create(TFRT_STATUS_CANCELLED, "the client cancelled this");
  if (is_client && cancel->start != 0) tfrt_server_cancel_starts(job, cancel->start, reason);
  if (is_root && cancel->request != 0) tfrt_request_end_cancel(job, cancel->request, reason);
  tfrt_status_release(reason);
}

void tfrt_request_end_on_end(tfrt_peer_t* peer, tfrt_job_t* job,
                             const tfrt_wire_end_request_t* end) {
  if (!job || peer->incarnation != job->view.members[0].incarnation) return;
  tfrt_request_end_forget(job, end->request);
}
