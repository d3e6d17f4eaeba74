// SPDX-License-Identifier: Apache-2.0
#include "distributed/call/carried_call.h"
#include "distributed/call/outgoing_call.h"
#include "distributed/call/router_impl.h"
#include "distributed/delivery/mail.h"
#include "distributed/domain/job_attachment.h"
#include "host_runtime/async/builtin_types.h"

// The mailbox of a job that was closed meanwhile has been emptied already, and nobody empties it
// again.
static void tfrt_router_empty_if_closed(tfrt_job_t* job) {
  tfrt_node_lock_tables(job->node);
  if (tfrt_job_is_closed(job)) tfrt_mail_end(job, TFRT_MAILBOX_ANY_SENDER, job->closing.reason);
  tfrt_node_unlock(job->node);
}

static tfrt_async_value_t* tfrt_router_send_here(tfrt_job_t* job,
                                                 const tfrt_routed_message_t* message) {
  tfrt_status_t status = tfrt_mailbox_send(
      &job->exchange.mailbox, tfrt_mailbox_number(message, message->context->request), job->rank,
      tfrt_async_value_string(message->key), message->value);
  tfrt_router_empty_if_closed(job);
  return status ? tfrt_router_error_take(status, message->site) : tfrt_async_value_ready_chain();
}

// True if a kernel may write to the value of |message| once the chain of the send is there. A value
// that is not here yet may be a tensor. No kernel writes to a list. The sender of an owed message
// sees to that itself.
static bool tfrt_router_may_be_written(const tfrt_routed_message_t* message) {
  if (message->is_owed || tfrt_async_value_is_error(message->value)) return false;
  if (!tfrt_async_value_is_available(message->value)) return true;
  const tfrt_type_t* type = tfrt_type_get(tfrt_async_value_resolved(message->value)->type_id);
  return (type->flags & TFRT_TYPE_FLAG_MUTABLE) && !type->aggregate;
}

tfrt_async_value_t* tfrt_router_send(tfrt_call_router_t* router,
                                     const tfrt_routed_message_t* message) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  if (message->host == job->rank) return tfrt_router_send_here(job, message);
  static const char* const result_types[1] = {"!tfrt.chain"};
  tfrt_async_value_t* arguments[2] = {message->key, message->value};
  tfrt_async_value_t* result = NULL;
  const tfrt_request_context_t* of = message->context->request;
  tfrt_status_origin_t kept;
  tfrt_outgoing_call_request_t request = {
      .job = job,
      .function = TFRT_WIRE_BUILTIN_SEND,
      .request = message->is_owed ? NULL : message->context->request,
      .scope = message->context->scope,
      .name = "send",
      .site = tfrt_carried_call_keep_site(job, message->context, message->site, &kept),
      .deadline_ns = message->is_owed ? TFRT_TIME_INFINITE : of->options.deadline_ns,
      .results_can_wait = message->is_unawaited,
      .arguments = arguments,
      .argument_count = 2,
      // The receiver waits for the message, so the value goes inline, and need not be asked for.
      .inline_limit = message->is_owed ? TFRT_ROUTER_OWED_INLINE : 0,
      .results = &result,
      .result_count = 1,
      .message = tfrt_router_may_be_written(message) ? TFRT_OUTGOING_MUTABLE_MESSAGE
                                                     : TFRT_OUTGOING_MESSAGE,
      .result_types = result_types};
  tfrt_status_t status = tfrt_router_find_member(job, message->host, &request.callee);
  if (status) return tfrt_router_error_take(status, message->site);
  tfrt_outgoing_call_start(job->node, &request);
  return result;
}

// Sees to it that this host learns of the death of |rank|, and of its end of the job, or says why
// nothing can come.
static tfrt_status_t tfrt_router_watch(tfrt_job_t* job, uint32_t rank, uint64_t incarnation) {
  if (rank == job->rank) return NULL;
  tfrt_peer_t* peer = NULL;
  tfrt_node_lock_tables(job->node);
  tfrt_status_t status = tfrt_job_reach(job, incarnation, &peer);
  if (!status) status = tfrt_job_attachment_send(job, peer);
  tfrt_node_unlock(job->node);
  return status;
}

// The wait begins before the check that the sender lives: the death of the sender in between ends
// the wait.
tfrt_async_value_t* tfrt_router_receive(tfrt_call_router_t* router,
                                        const tfrt_routed_message_t* message) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(router, tfrt_job_t, router);
  uint64_t incarnation = 0;
  tfrt_status_t status = tfrt_router_find_member(job, message->host, &incarnation);
  if (status) return tfrt_router_error_take(status, message->site);
  tfrt_request_context_t* request = message->context->request;
  tfrt_status_origin_t kept;
  tfrt_mailbox_receiver_t receiver = {
      .request = request,
      .site = tfrt_carried_call_keep_site(job, message->context, message->site, &kept)};
  tfrt_async_value_t* value =
      tfrt_mailbox_receive(&job->exchange.mailbox, &receiver, tfrt_mailbox_number(message, request),
                           message->host, tfrt_async_value_string(message->key));
  status = tfrt_router_watch(job, message->host, incarnation);
  tfrt_node_lock_tables(job->node);
  if (status) tfrt_mail_end(job, message->host, status);
  if (tfrt_job_is_closed(job)) tfrt_mail_end(job, TFRT_MAILBOX_ANY_SENDER, job->closing.reason);
  tfrt_node_unlock(job->node);
  tfrt_status_release(status);
  return value;
}
