// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/outgoing_call_impl.h"

// The key of the message with |arguments|, whose receiver must hear that it doesn't come; else
// empty.
static tfrt_string_view_t tfrt_outgoing_call_key(bool is_message,
                                                 tfrt_async_value_t* const* arguments) {
  if (!is_message) return tfrt_string_view_of("");
  tfrt_string_view_t key = tfrt_async_value_string(arguments[0]);
  return key.size <= TFRT_WIRE_MAX_KEY_SIZE ? key : tfrt_string_view_of("");
}

void tfrt_outgoing_call_tell_unsent(tfrt_node_t* node, const tfrt_outgoing_call_request_t* request,
                                    tfrt_status_t reason) {
  tfrt_job_t* job = request->job;
  tfrt_peer_t* peer = NULL;
  bool is_message = request->message != TFRT_OUTGOING_NO_MESSAGE;
  tfrt_string_view_t key = tfrt_outgoing_call_key(is_message, request->arguments);
  if (key.size == 0) return;
  tfrt_status_t status = tfrt_job_reach(job, request->callee, &peer);
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, node->options.allocator);
  tfrt_wire_error_t error;
  if (!status) {
    status = tfrt_wire_error_from_status(reason, job->rank, node->incarnation, &arena, &error);
  }
  if (!status) {
    const tfrt_peer_frame_t frame = {
        .job = job, .request = request->request ? request->request->options.id : 0};
    const tfrt_wire_body_t body = {
        .kind = TFRT_WIRE_FRAME_VOID,
        .void_call = {.call = tfrt_session_next_call(peer->session), .error = &error, .key = key}};
    status = tfrt_peer_try_send(peer, &frame, &body);
  }
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}

bool tfrt_outgoing_call_void(tfrt_outgoing_call_t* call, tfrt_status_t reason) {
  tfrt_node_t* node = call->node;
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, node->options.allocator);
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, node->options.allocator);
  tfrt_wire_error_t error;
  tfrt_status_t status =
      tfrt_wire_error_from_status(reason, call->job->rank, node->incarnation, &arena, &error);
  tfrt_wire_body_t body = {
      .kind = TFRT_WIRE_FRAME_VOID,
      .void_call = {.call = call->number,
                    .result_count = call->result_count,
                    .error = &error,
                    .key = tfrt_outgoing_call_key(call->is_message, call->arguments)}};
  bool replaced = false;
  if (!status) status = tfrt_wire_body_encode(&body, &bytes);
  if (!status) {
    status = tfrt_session_replace_by_void(call->peer->session, call->number,
                                          tfrt_string_builder_view(&bytes), &replaced);
  }
  // Without memory for a Void, the call is cancelled like one that was sent.
  tfrt_status_release(status);
  tfrt_string_builder_deinitialize(&bytes);
  tfrt_arena_deinitialize(&arena);
  return replaced;
}

// Tells the callee to stop.
static void tfrt_outgoing_call_send_cancel(tfrt_outgoing_call_t* call, tfrt_status_t reason) {
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, call->node->options.allocator);
  tfrt_wire_error_t error;
  tfrt_status_t status =
      tfrt_wire_error_from_status(reason, call->job->rank, call->node->incarnation, &arena, &error);
  tfrt_wire_body_t body = {.kind = TFRT_WIRE_FRAME_CANCEL,
                           .cancel = {.call = call->number, .reason = status ? NULL : &error}};
  tfrt_peer_send(call->peer, &(tfrt_peer_frame_t){.job = call->job, .after_call = call->number},
                 &body);
  tfrt_status_release(status);
  tfrt_arena_deinitialize(&arena);
}

void tfrt_outgoing_call_cancel(tfrt_outgoing_call_t* call, tfrt_status_t reason) {
  if (call->cancelled || call->state == TFRT_OUTGOING_CALL_ENDED) return;
  call->cancelled = tfrt_status_retain(reason);
  if (call->state == TFRT_OUTGOING_CALL_PREPARED) return;
  tfrt_outgoing_call_fail_results(call, reason);
  if (tfrt_outgoing_call_void(call, reason)) {
    tfrt_outgoing_call_end(call);
  } else {
    tfrt_outgoing_call_set_state(call, TFRT_OUTGOING_CALL_CANCELLED);
    tfrt_outgoing_call_send_cancel(call, reason);
  }
}

void tfrt_outgoing_call_cancel_all(tfrt_peer_t* peer, const tfrt_job_t* job, tfrt_status_t reason) {
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(&peer->outgoing_calls); node;) {
    tfrt_outgoing_call_t* call = TFRT_CONTAINER_OF(node, tfrt_outgoing_call_t, by_number);
    node = tfrt_hash_table_next(&peer->outgoing_calls, node);
    if (call->job != job) continue;
    tfrt_outgoing_call_cancel(call, reason);
    tfrt_outgoing_call_end(call);
  }
}

bool tfrt_outgoing_call_cancel_oldest(tfrt_job_t* job, uint32_t count, tfrt_status_t reason) {
  for (uint32_t n = 0; n < count && !tfrt_list_is_empty(&job->outgoing_calls);) {
    tfrt_outgoing_call_t* call =
        TFRT_CONTAINER_OF(job->outgoing_calls.next, tfrt_outgoing_call_t, in_job);
    n += 1 + call->result_count;
    tfrt_outgoing_call_cancel(call, reason);
    tfrt_outgoing_call_end(call);
  }
  return tfrt_list_is_empty(&job->outgoing_calls);
}

void tfrt_outgoing_call_run_cancel(tfrt_cancellation_subscription_t* subscription,
                                   tfrt_status_t reason) {
  tfrt_outgoing_call_t* call = TFRT_CONTAINER_OF(subscription, tfrt_outgoing_call_t, subscription);
  tfrt_node_t* node = tfrt_node_retain(call->node);
  tfrt_node_lock_tables(node);
  tfrt_outgoing_call_cancel(call, reason);
  tfrt_outgoing_call_release(call);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_outgoing_call_run_timer(tfrt_timer_t* timer) {
  tfrt_outgoing_call_t* call = TFRT_CONTAINER_OF(timer, tfrt_outgoing_call_t, timer);
  tfrt_node_t* node = tfrt_node_retain(call->node);
  tfrt_status_t plain = tfrt_status_create(TFRT_STATUS_DEADLINE_EXCEEDED,
                                           "the call of @%s took too long", call->name);
  tfrt_status_t status = tfrt_call_site_locate(&call->site, plain);
  tfrt_status_release(plain);
  tfrt_node_lock_tables(node);
  if (call->state != TFRT_OUTGOING_CALL_ENDED) tfrt_outgoing_call_withdraw(call, status);
  tfrt_outgoing_call_cancel(call, status);
  tfrt_outgoing_call_release(call);
  tfrt_node_unlock(node);
  tfrt_status_release(status);
  tfrt_node_release(node);
}
