// SPDX-License-Identifier: Apache-2.0
#include "distributed/delivery/mail.h"

#include "distributed/value/remote_value.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/executor/request/request_context.h"

// --- Values by key ----------------------------------------------------------

// Says that |value|, which was lent to us, was sent by key and is received at |site| (copied, with
// texts that live as long as the job).
static void mail_set_receiver(tfrt_remote_value_t* value, const tfrt_status_origin_t* site) {
  if (tfrt_remote_value_has_site(value)) return;
  value->place.is_received = true;
  tfrt_call_site_set(&value->place.site, NULL, site);
}

// |value| is received at |site| from |mailbox|, that of a job. If the value, or an element of it,
// is lost, the error names that place. The lock is not held.
static void mail_met(tfrt_mailbox_t* mailbox, tfrt_async_value_t* value,
                     const tfrt_status_origin_t* site) {
  // Small values are here, mostly.
  if (tfrt_async_value_is_available(value)) return;
  tfrt_node_t* node = TFRT_CONTAINER_OF(mailbox, tfrt_job_t, exchange.mailbox)->node;
  tfrt_node_lock_tables(node);
  tfrt_remote_value_t* remote = tfrt_remote_value_of(node, value);
  if (remote) {
    mail_set_receiver(remote, site);
    tfrt_remote_value_release(remote);
  }
  tfrt_node_unlock(node);
}

// --- Messages of this host to itself --------------------------------------------------

// The mailbox of a job that was closed meanwhile has been emptied already, and nobody empties it
// again.
static void mail_empty_if_closed(tfrt_job_t* job) {
  tfrt_node_lock_tables(job->node);
  if (tfrt_job_is_closed(job)) tfrt_mail_end(job, TFRT_MAILBOX_ANY_SENDER, job->closing.reason);
  tfrt_node_unlock(job->node);
}

// A message of this host to itself whose value isn't known yet. The value may wait for the message,
// in a circle that no right program makes: the receiver gets a placeholder that the cancel of the
// sender's request makes an error.
typedef struct tfrt_mail_own_s {
  tfrt_ref_count_t ref_count;  // one for the subscription, one for the task
  tfrt_allocator_t allocator;
  tfrt_cancellation_subscription_t subscription;
  tfrt_task_t task;
  tfrt_request_context_t* request;     // +1
  tfrt_async_value_t* value;           // +1
  tfrt_indirect_value_t* placeholder;  // +1
} tfrt_mail_own_t;

static void mail_release_own(tfrt_mail_own_t* own) {
  if (!tfrt_ref_count_decrement(&own->ref_count)) return;
  tfrt_request_context_t* request = own->request;
  tfrt_async_value_release(own->value);
  tfrt_async_value_release(&own->placeholder->base);
  tfrt_allocator_free(own->allocator, own, sizeof(*own));
  tfrt_request_context_release(request);
}

static void mail_run_own_cancel(tfrt_cancellation_subscription_t* subscription,
                                tfrt_status_t reason) {
  tfrt_mail_own_t* own = TFRT_CONTAINER_OF(subscription, tfrt_mail_own_t, subscription);
  tfrt_async_value_set_error(&own->placeholder->base, reason);
  mail_release_own(own);
}

static void mail_run_own_known(tfrt_task_t* task) {
  tfrt_mail_own_t* own = TFRT_CONTAINER_OF(task, tfrt_mail_own_t, task);
  tfrt_indirect_value_forward(own->placeholder, own->value);
  if (tfrt_cancellation_unsubscribe(&own->request->cancellation, &own->subscription)) {
    mail_release_own(own);
  }
  mail_release_own(own);
}

// True if nothing but its making keeps |value| from being known.
static bool mail_is_unknown(tfrt_job_t* job, tfrt_async_value_t* value) {
  if (tfrt_async_value_is_available(value)) return false;
  tfrt_node_lock_tables(job->node);
  tfrt_remote_value_t* remote = tfrt_remote_value_of(job->node, value);
  if (remote) tfrt_remote_value_release(remote);
  tfrt_node_unlock(job->node);
  return !remote;
}

// The value (+1) that the receiver of |message|, which is this host, gets.
static tfrt_async_value_t* mail_own_value(tfrt_job_t* job, const tfrt_routed_message_t* message) {
  if (!mail_is_unknown(job, message->value)) return tfrt_async_value_retain(message->value);
  tfrt_allocator_t allocator = job->node->options.allocator;
  tfrt_mail_own_t* own = tfrt_allocator_allocate_zeroed(allocator, sizeof(*own));
  tfrt_indirect_value_t* placeholder = own ? tfrt_indirect_value_create() : NULL;
  if (!placeholder) {
    tfrt_allocator_free(allocator, own, sizeof(*own));
    return tfrt_async_value_out_of_memory();
  }
  tfrt_ref_count_initialize(&own->ref_count);
  tfrt_ref_count_increment(&own->ref_count);
  own->allocator = allocator;
  own->request = tfrt_request_context_retain(message->context->request);
  own->value = tfrt_async_value_retain(message->value);
  own->placeholder = placeholder;
  tfrt_async_value_retain(&placeholder->base);
  tfrt_task_initialize(&own->task, mail_run_own_known);
  tfrt_cancellation_subscribe(&own->request->cancellation, &own->subscription, mail_run_own_cancel);
  tfrt_async_value_await(own->value, &own->task);
  return &placeholder->base;
}

tfrt_status_t tfrt_mail_send_here(tfrt_job_t* job, const tfrt_routed_message_t* message) {
  tfrt_async_value_t* value = mail_own_value(job, message);
  tfrt_status_t status = tfrt_mailbox_send(&job->exchange.mailbox,
                                           tfrt_mailbox_number(message, message->context->request),
                                           job->rank, tfrt_async_value_string(message->key), value);
  tfrt_async_value_release(value);
  mail_empty_if_closed(job);
  return status;
}

// --- What was never sent -------------------------------------------------------------

typedef struct tfrt_mail_failure_s {
  tfrt_job_t* job;  // +1
  uint64_t request;
  uint32_t rank;
  tfrt_async_value_t* key;    // +1
  tfrt_async_value_t* error;  // +1
} tfrt_mail_failure_t;

// Runs with the lock open, after earlier messages from the same host.
static void mail_run_failure(void* argument) {
  tfrt_mail_failure_t* failure = argument;
  tfrt_job_t* job = failure->job;
  tfrt_node_t* node = tfrt_node_retain(job->node);
  if (!tfrt_async_value_is_error(failure->key)) {
    tfrt_status_release(tfrt_mailbox_send(&job->exchange.mailbox, failure->request, failure->rank,
                                          tfrt_async_value_string(failure->key), failure->error));
  }
  tfrt_async_value_release(failure->key);
  tfrt_async_value_release(failure->error);
  tfrt_allocator_free(node->options.allocator, failure, sizeof(*failure));
  tfrt_node_lock_tables(node);
  if (tfrt_job_is_closed(job)) tfrt_mail_end(job, TFRT_MAILBOX_ANY_SENDER, job->closing.reason);
  tfrt_job_release(job);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_mail_fail(tfrt_job_t* job, uint64_t request, uint32_t rank, tfrt_string_view_t key,
                    tfrt_status_t reason) {
  tfrt_mail_failure_t* failure =
      tfrt_allocator_allocate_zeroed(job->node->options.allocator, sizeof(*failure));
  if (!failure) return;
  *failure = (tfrt_mail_failure_t){.job = tfrt_job_retain(job),
                                   .request = request,
                                   .rank = rank,
                                   .key = tfrt_async_value_create_string(key),
                                   .error = tfrt_async_value_create_error(reason)};
  tfrt_action_queue_call(&job->node->actions, mail_run_failure, failure);
}

// --- The end -------------------------------------------------------------------------

// |request| of |job| is over on all hosts: messages to it that nobody received go.
static void mail_end_request(tfrt_job_t* job, uint64_t request) {
  tfrt_action_queue_t* actions = &job->node->actions;
  for (tfrt_async_value_t* value;
       (value = tfrt_mailbox_take_unreceived(&job->exchange.mailbox, request));) {
    // It stays alive, here and at its owner, until it is resolved, and it would not be if nobody
    // asked.
    tfrt_action_queue_demand(actions, value);
    tfrt_action_queue_release(actions, value);
  }
}

void tfrt_mail_end(tfrt_job_t* job, uint32_t rank, tfrt_status_t reason) {
  tfrt_action_queue_t* actions = &job->node->actions;
  bool is_all = rank == TFRT_MAILBOX_ANY_SENDER;
  bool waits = false;
  tfrt_status_t status = reason ? tfrt_status_retain(reason)
                                : tfrt_status_create(TFRT_STATUS_CANCELLED, "the job was closed");
  for (tfrt_async_value_t* value;
       (value = tfrt_mailbox_take(&job->exchange.mailbox, rank, !is_all, &waits));) {
    if (waits) {
      tfrt_action_queue_fail_take(actions, value, status);
    } else {
      tfrt_action_queue_release(actions, value);
    }
  }
  tfrt_status_release(status);
}

static void mail_on_job_made(const tfrt_owner_end_t* end) {
  tfrt_mailbox_initialize(&end->job->exchange.mailbox, end->node->options.allocator, mail_met);
}

static void mail_on_member_lost(const tfrt_owner_end_t* end) {
  tfrt_mail_end(end->job, end->rank, end->reason);
}

static void mail_on_job_finished(const tfrt_owner_end_t* end) {
  tfrt_mail_end(end->job, TFRT_MAILBOX_ANY_SENDER, end->reason);
}

static void mail_on_request_over(const tfrt_owner_end_t* end) {
  mail_end_request(end->job, end->request);
}

static const tfrt_owner_rule_t tfrt_mail_rules[] = {
    {TFRT_OWNER_JOB_MADE, TFRT_OWNER_MAIL, mail_on_job_made},
    {TFRT_OWNER_MEMBER_LOST, TFRT_OWNER_MAIL, mail_on_member_lost},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_MAIL, mail_on_job_finished},
    {TFRT_OWNER_REQUEST_OVER, TFRT_OWNER_MAIL, mail_on_request_over},
};

const tfrt_node_part_t tfrt_mail_part = {
    .rules = tfrt_mail_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_mail_rules),
};
