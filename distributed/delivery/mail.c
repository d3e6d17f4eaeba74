// SPDX-License-Identifier: Apache-2.0
#include "distributed/delivery/mail.h"

#include "distributed/value/remote_value.h"
#include "host_runtime/async/builtin_types.h"

void tfrt_mail_met(tfrt_mailbox_t* mailbox, tfrt_async_value_t* value,
                   const tfrt_status_origin_t* site) {
  // Small values are here, mostly.
  if (tfrt_async_value_is_available(value)) return;
  tfrt_node_t* node = TFRT_CONTAINER_OF(mailbox, tfrt_job_t, exchange.mailbox)->node;
  tfrt_node_lock_tables(node);
  tfrt_remote_value_t* remote = tfrt_remote_value_of(node, value);
  if (remote) {
    tfrt_remote_value_set_receiver(remote, site);
    tfrt_remote_value_release(remote);
  }
  tfrt_node_unlock(node);
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
static void tfrt_mail_run_failure(void* argument) {
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
  tfrt_action_queue_call(&job->node->actions, tfrt_mail_run_failure, failure);
}

// --- The end -------------------------------------------------------------------------

// |request| of |job| is over on all hosts: messages to it that nobody received go.
static void tfrt_mail_end_request(tfrt_job_t* job, uint64_t request) {
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

static void tfrt_mail_on_member_lost(const tfrt_owner_end_t* end) {
  tfrt_mail_end(end->job, end->rank, end->reason);
}

static void tfrt_mail_on_job_finished(const tfrt_owner_end_t* end) {
  tfrt_mail_end(end->job, TFRT_MAILBOX_ANY_SENDER, end->reason);
}

static void tfrt_mail_on_request_over(const tfrt_owner_end_t* end) {
  tfrt_mail_end_request(end->job, end->request);
}

static const tfrt_owner_rule_t tfrt_mail_rules[] = {
    {TFRT_OWNER_MEMBER_LOST, TFRT_OWNER_MAIL, tfrt_mail_on_member_lost},
    {TFRT_OWNER_JOB_FINISHED, TFRT_OWNER_MAIL, tfrt_mail_on_job_finished},
    {TFRT_OWNER_REQUEST_OVER, TFRT_OWNER_MAIL, tfrt_mail_on_request_over},
};

void tfrt_mail_register(tfrt_owner_rules_t* rules) {
  tfrt_owner_rules_add(rules, tfrt_mail_rules, TFRT_ARRAY_SIZE(tfrt_mail_rules));
}
