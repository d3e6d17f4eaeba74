// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/sending.h"

#include "host_runtime/async/builtin_types.h"

void tfrt_sending_met(tfrt_mailbox_t* mailbox, tfrt_async_value_t* value,
                      const tfrt_status_origin_t* site) {
  // Small values are here, mostly.
  if (tfrt_async_value_is_available(value)) return;
  tfrt_node_t* node = TFRT_CONTAINER_OF(mailbox, tfrt_job_t, mailbox)->node;
  tfrt_node_lock_tables(node);
  tfrt_remote_value_t* remote = tfrt_remote_value_of(node, value);
  if (remote) {
    tfrt_remote_value_set_receiver(remote, site);
    tfrt_remote_value_release(remote);
  }
  tfrt_node_unlock(node);
}

// Puts the value into the mailbox; returns a chain (+1).
static tfrt_async_value_t* tfrt_sending_put(tfrt_execution_t* execution) {
  tfrt_async_value_t* key = execution->arguments[0];
  if (tfrt_async_value_is_error(key)) return tfrt_async_value_retain(key);
  tfrt_type_id_t type = tfrt_async_value_resolved(key)->type_id;
  if (type != TFRT_TYPE_STRING) {
    return tfrt_async_value_create_error_take(
        tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a value was sent with a %s for its key",
                           tfrt_type_get(type)->name));
  }
  tfrt_status_t status =
      tfrt_mailbox_send(&execution->job->mailbox, execution->request_id, execution->from_rank,
                        tfrt_async_value_string(key), execution->arguments[1]);
  return status ? tfrt_async_value_create_error_take(status) : tfrt_async_value_ready_chain();
}

// With the lock held; consumes |result|.
static void tfrt_sending_complete(tfrt_execution_t* execution, tfrt_async_value_t* result) {
  tfrt_execution_complete(execution, &result);
  tfrt_execution_release(execution);
}

// Has |run| run when the value of |execution| is as |how| says. With the lock held.
static void tfrt_sending_wait(tfrt_execution_t* execution, tfrt_action_wait_t how,
                              void (*run)(tfrt_task_t*)) {
  tfrt_task_initialize(&execution->task, run);
  tfrt_action_queue_wait(&execution->node->actions, execution->arguments[1], how, &execution->task);
}

// The value of |execution|, if it is where its sender may write to it as soon as the chain is
// there; else NULL.
static const tfrt_remote_value_t* tfrt_sending_exposed(const tfrt_execution_t* execution) {
  const tfrt_remote_value_t* remote = tfrt_remote_value_cast(execution->arguments[1]);
  bool is_exposed = remote && !remote->resolved && remote->name.is_mutable &&
                    remote->name.owner == execution->caller;
  return is_exposed ? remote : NULL;
}

// Runs when the payload is here, or can't be, which is an error of the value alone.
static void tfrt_sending_run_here(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, task);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  tfrt_sending_complete(execution, tfrt_async_value_ready_chain());
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs when it is known what the value is. A list has no bytes of its own, and is left to who
// receives it: its elements are lost where that is.
static void tfrt_sending_run_settled(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, task);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  const tfrt_remote_value_t* exposed = tfrt_sending_exposed(execution);
  if (exposed && exposed->size_there > 0) {
    tfrt_sending_wait(execution, TFRT_ACTION_AND_THEN, tfrt_sending_run_here);
  } else {
    tfrt_sending_complete(execution, tfrt_async_value_ready_chain());
  }
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs when the key is here.
static void tfrt_sending_run(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, task);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_async_value_t* result = tfrt_sending_put(execution);
  tfrt_node_lock_tables(node);
  // A job that was closed meanwhile has been emptied already.
  if (execution->job->closed) {
    tfrt_sending_end(execution->job, TFRT_MAILBOX_ANY_SENDER, execution->cancelled);
  }
  if (!tfrt_async_value_is_error(result) && tfrt_sending_exposed(execution)) {
    tfrt_action_queue_release(&node->actions, result);
    tfrt_sending_wait(execution, TFRT_ACTION_AWAIT, tfrt_sending_run_settled);
  } else {
    tfrt_sending_complete(execution, result);
  }
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_sending_start(tfrt_execution_t* execution, uint32_t rank) {
  execution->from_rank = rank;
  tfrt_execution_begin(execution);
  tfrt_execution_retain(execution);
  tfrt_task_initialize(&execution->task, tfrt_sending_run);
  tfrt_action_queue_wait(&execution->node->actions, execution->arguments[0], TFRT_ACTION_AND_THEN,
                         &execution->task);
}

// --- What was never sent -------------------------------------------------------------

typedef struct tfrt_sending_failure_s {
  tfrt_job_t* job;  // +1
  uint64_t request;
  uint32_t rank;
  tfrt_async_value_t* key;    // +1
  tfrt_async_value_t* error;  // +1
} tfrt_sending_failure_t;

// Runs with the lock open, after what came before it from the same host.
static void tfrt_sending_run_failure(void* argument) {
  tfrt_sending_failure_t* failure = argument;
  tfrt_job_t* job = failure->job;
  tfrt_node_t* node = tfrt_node_retain(job->node);
  if (!tfrt_async_value_is_error(failure->key)) {
    tfrt_status_release(tfrt_mailbox_send(&job->mailbox, failure->request, failure->rank,
                                          tfrt_async_value_string(failure->key), failure->error));
  }
  tfrt_async_value_release(failure->key);
  tfrt_async_value_release(failure->error);
  tfrt_allocator_free(node->options.allocator, failure, sizeof(*failure));
  tfrt_node_lock_tables(node);
  if (job->closed) tfrt_sending_end(job, TFRT_MAILBOX_ANY_SENDER, job->closed_by);
  tfrt_job_release(job);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

void tfrt_sending_fail(tfrt_job_t* job, uint64_t request, uint32_t rank, tfrt_string_view_t key,
                       tfrt_status_t reason) {
  tfrt_sending_failure_t* failure =
      tfrt_allocator_allocate_zeroed(job->node->options.allocator, sizeof(*failure));
  if (!failure) return;
  *failure = (tfrt_sending_failure_t){.job = tfrt_job_retain(job),
                                      .request = request,
                                      .rank = rank,
                                      .key = tfrt_async_value_create_string(key),
                                      .error = tfrt_async_value_create_error(reason)};
  tfrt_action_queue_call(&job->node->actions, tfrt_sending_run_failure, failure);
}

// --- The end -------------------------------------------------------------------------

void tfrt_sending_end_request(tfrt_job_t* job, uint64_t request) {
  tfrt_action_queue_t* actions = &job->node->actions;
  for (tfrt_async_value_t* value; (value = tfrt_mailbox_take_unreceived(&job->mailbox, request));) {
    // It stays alive, here and at its owner, until it is resolved, and it would not be if nobody
    // asked.
    tfrt_action_queue_demand(actions, value);
    tfrt_action_queue_release(actions, value);
  }
}

void tfrt_sending_end(tfrt_job_t* job, uint32_t rank, tfrt_status_t reason) {
  tfrt_action_queue_t* actions = &job->node->actions;
  bool is_all = rank == TFRT_MAILBOX_ANY_SENDER;
  bool waits = false;
  tfrt_status_t status = reason ? tfrt_status_retain(reason)
                                : tfrt_status_create(TFRT_STATUS_CANCELLED, "the job was closed");
  for (tfrt_async_value_t* value;
       (value = tfrt_mailbox_take(&job->mailbox, rank, !is_all, &waits));) {
    if (waits) {
      tfrt_action_queue_fail_take(actions, value, status);
    } else {
      tfrt_action_queue_release(actions, value);
    }
  }
  tfrt_status_release(status);
}
