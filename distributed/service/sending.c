// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/sending.h"

#include "distributed/delivery/sent_values.h"
#include "host_runtime/async/builtin_types.h"

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
  tfrt_status_t status = tfrt_mailbox_send(&execution->job->exchange.mailbox, execution->request_id,
                                           execution->from_rank, tfrt_async_value_string(key),
                                           execution->arguments[1]);
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
  tfrt_task_initialize(&execution->tasks.run, run);
  tfrt_action_queue_wait(&execution->node->actions, execution->arguments[1], how,
                         &execution->tasks.run);
}

// The value of |execution|, if it is where its sender may write to it as soon as the chain is
// there; else NULL.
static const tfrt_remote_value_t* tfrt_sending_exposed(const tfrt_execution_t* execution) {
  const tfrt_remote_value_t* remote = tfrt_remote_value_cast(execution->arguments[1]);
  bool is_exposed = remote && !tfrt_remote_value_is_resolved(remote) && remote->name.is_mutable &&
                    remote->name.owner == execution->caller;
  return is_exposed ? remote : NULL;
}

// Runs when the payload is here, or can't be, which is an error of the value alone.
static void tfrt_sending_run_here(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  tfrt_sending_complete(execution, tfrt_async_value_ready_chain());
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs when the value is settled. A list has no bytes of its own, so nothing is fetched for it: its
// receiver fetches the elements, and finds out which are lost.
static void tfrt_sending_run_settled(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  const tfrt_remote_value_t* exposed = tfrt_sending_exposed(execution);
  if (exposed && exposed->bytes.there > 0) {
    tfrt_sending_wait(execution, TFRT_ACTION_AND_THEN, tfrt_sending_run_here);
  } else {
    tfrt_sending_complete(execution, tfrt_async_value_ready_chain());
  }
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs when the key is here.
static void tfrt_sending_run(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_async_value_t* result = tfrt_sending_put(execution);
  tfrt_node_lock_tables(node);
  // A job that was closed meanwhile has been emptied already.
  if (tfrt_job_is_closed(execution->job)) {
    tfrt_mail_end(execution->job, TFRT_MAILBOX_ANY_SENDER, execution->cancelled);
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
  tfrt_task_initialize(&execution->tasks.run, tfrt_sending_run);
  tfrt_action_queue_wait(&execution->node->actions, execution->arguments[0], TFRT_ACTION_AND_THEN,
                         &execution->tasks.run);
}
