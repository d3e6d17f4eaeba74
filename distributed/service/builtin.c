// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/builtin.h"

#include "distributed/call/call_hooks.h"
#include "distributed/delivery/mail.h"
#include "distributed/service/answer.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/join.h"

// --- Printing --------------------------------------------------------------------

// Prints a line: (text, after) -> chain, on the job's sink, the client. The chain is available when
// the line is out.

// The line, or what is wrong with it.
static tfrt_async_value_t* printing_print(tfrt_execution_t* execution) {
  for (uint32_t i = 0; i < 2; ++i) {
    if (tfrt_async_value_is_error(execution->arguments[i])) {
      return tfrt_async_value_retain(execution->arguments[i]);
    }
  }
  tfrt_async_value_t* text = tfrt_async_value_resolved(execution->arguments[0]);
  if (text->type_id != TFRT_TYPE_STRING) {
    return tfrt_async_value_create_error_take(
        tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a %s was to be printed",
                           tfrt_type_get(text->type_id)->name));
  }
  execution->job->printer.print(execution->job->printer.self, execution->from_rank,
                                tfrt_async_value_string(text));
  return tfrt_async_value_ready_chain();
}

// Runs when both arguments are here.
static void printing_run(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_async_value_t* result = printing_print(execution);
  tfrt_node_lock_tables(node);
  tfrt_execution_complete(execution, &result);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs with the lock open.
static void printing_join(void* argument) {
  tfrt_execution_t* execution = argument;
  tfrt_task_initialize(&execution->tasks.run, printing_run);
  tfrt_status_t status = tfrt_join_and_then(execution->arguments, 2, &execution->tasks.run,
                                            execution->node->options.allocator);
  if (!status) return;
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_async_value_t* result = tfrt_async_value_create_error_take(status);
  tfrt_node_lock_tables(node);
  tfrt_execution_complete(execution, &result);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static void printing_start(tfrt_execution_t* execution, uint32_t rank) {
  execution->from_rank = rank;
  tfrt_execution_begin(execution);
  tfrt_execution_retain(execution);
  tfrt_action_queue_call(&execution->node->actions, printing_join, execution);
}

// --- Sending ---------------------------------------------------------------------

// A host gives another a value under a key: it puts the value into the mailbox of the job there
// (host_runtime/executor/hosts/mailbox.h), where its receiver finds it.
//
//   sender                                 receiver
//     Invoke BUILTIN_SEND(key, value) -----> mailbox <--- tfrt_dist.recv
//     <--------------------------- Result    chain: it waits there, or was received
//     <--------------------------- done      its payload is there, or held for the receiver
//
// The chain says that the sender may write to the value. So this host first fetches the payload of
// a mutable value of the sender's own, unless it came with the Invoke, whether anybody receives it
// or not. Else the receiver would get later writes, or half of them. A value that the sender did
// not have yet may turn out to be such a value when it is settled. If the payload can't come, the
// value is the error, not the chain.
//
// A sender that does not wait for the chain says so in the Invoke: then Result and done go with
// other messages.
//
// A send whose Invoke can't be made, gets no credit, or is stopped before it is written, is a Void
// that has the key: the receiver gets the error as the value, and stops waiting
// (delivery/mail.h).

// Puts the value into the mailbox; returns a chain (+1).
static tfrt_async_value_t* sending_put(tfrt_execution_t* execution) {
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
static void sending_complete(tfrt_execution_t* execution, tfrt_async_value_t* result) {
  tfrt_execution_complete(execution, &result);
  tfrt_execution_release(execution);
}

// Has |run| run when the value of |execution| is as |how| says. With the lock held.
static void sending_wait(tfrt_execution_t* execution, tfrt_action_wait_t how,
                         void (*run)(tfrt_task_t*)) {
  tfrt_task_initialize(&execution->tasks.run, run);
  tfrt_action_queue_wait(&execution->node->actions, execution->arguments[1], how,
                         &execution->tasks.run);
}

// The value of |execution|, if it is where its sender may write to it as soon as the chain is
// there; else NULL.
static const tfrt_remote_value_t* sending_exposed(const tfrt_execution_t* execution) {
  const tfrt_remote_value_t* remote = tfrt_remote_value_cast(execution->arguments[1]);
  bool is_exposed = remote && !tfrt_remote_value_is_resolved(remote) && remote->name.is_mutable &&
                    remote->name.owner == execution->caller;
  return is_exposed ? remote : NULL;
}

// Runs when the payload is here, or can't be, which is an error of the value alone.
static void sending_run_here(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  sending_complete(execution, tfrt_async_value_ready_chain());
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs when the value is settled. A list has no bytes of its own, so nothing is fetched for it: its
// receiver fetches the elements, and finds out which are lost.
static void sending_run_settled(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_node_lock_tables(node);
  const tfrt_remote_value_t* exposed = sending_exposed(execution);
  if (exposed && exposed->bytes.there > 0) {
    sending_wait(execution, TFRT_ACTION_AND_THEN, sending_run_here);
  } else {
    sending_complete(execution, tfrt_async_value_ready_chain());
  }
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs when the key is here.
static void sending_run(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  tfrt_async_value_t* result = sending_put(execution);
  tfrt_node_lock_tables(node);
  // A job that was closed meanwhile has been emptied already.
  if (tfrt_job_is_closed(execution->job)) {
    tfrt_mail_end(execution->job, TFRT_MAILBOX_ANY_SENDER, execution->cancelled);
  }
  if (!tfrt_async_value_is_error(result) && sending_exposed(execution)) {
    tfrt_action_queue_release(&node->actions, result);
    sending_wait(execution, TFRT_ACTION_AWAIT, sending_run_settled);
  } else {
    sending_complete(execution, result);
  }
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static void sending_start(tfrt_execution_t* execution, uint32_t rank) {
  execution->from_rank = rank;
  tfrt_execution_begin(execution);
  tfrt_execution_retain(execution);
  tfrt_task_initialize(&execution->tasks.run, sending_run);
  tfrt_action_queue_wait(&execution->node->actions, execution->arguments[0], TFRT_ACTION_AND_THEN,
                         &execution->tasks.run);
}

// --- Copying ---------------------------------------------------------------------

// Moves a value to this host, which fetches the payload and returns the same value. So this host
// owns the result, and a host that passes the result on passes on this host's name.
//
//   caller                          callee                     owner of the value
//     Invoke BUILTIN_COPY(value) ---> Want --------------------->
//                                     <------------- Resolve, payload
//     <------- Result (available, or inline if it is small)

// Runs when the payload is here, or can't be.
static void copying_run(tfrt_task_t* task) {
  tfrt_execution_t* execution = TFRT_CONTAINER_OF(task, tfrt_execution_t, tasks.run);
  tfrt_node_t* node = tfrt_node_retain(execution->node);
  // Returns the value that the argument resolved to, because the argument itself is only lent.
  tfrt_async_value_t* argument = execution->arguments[0];
  tfrt_async_value_t* result = tfrt_async_value_retain(tfrt_async_value_resolved(argument));
  tfrt_node_lock_tables(node);
  tfrt_execution_complete(execution, &result);
  tfrt_execution_release(execution);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

static void copying_start(tfrt_execution_t* execution) {
  tfrt_execution_begin(execution);
  tfrt_execution_retain(execution);
  tfrt_task_initialize(&execution->tasks.run, copying_run);
  tfrt_action_queue_wait(&execution->node->actions, execution->arguments[0], TFRT_ACTION_AND_THEN,
                         &execution->tasks.run);
}

// --- Which function is which -----------------------------------------------------

static bool builtin_is_here(const tfrt_peer_t* peer, const tfrt_job_t* job,
                            const tfrt_wire_invoke_t* invoke) {
  switch (invoke->function) {
    case TFRT_WIRE_BUILTIN_PRINT:
      return invoke->argument_count == 2 && invoke->result_count == 1 && job->printer.print;
    case TFRT_WIRE_BUILTIN_TRACE:
      return invoke->argument_count == 0 && invoke->result_count == 1 &&
             peer->incarnation == job->client.incarnation;
    case TFRT_WIRE_BUILTIN_SEND:
      return invoke->argument_count == 2 && invoke->result_count == 1 &&
             tfrt_job_rank_of(job, peer->incarnation) != TFRT_WIRE_NO_RANK;
    case TFRT_WIRE_BUILTIN_COPY:
      return invoke->argument_count == 1 && invoke->result_count == 1;
    case TFRT_WIRE_BUILTIN_STATUS:
    case TFRT_WIRE_BUILTIN_INVENTORY:
      return invoke->argument_count == 0 && invoke->result_count == 1;
    case TFRT_WIRE_BUILTIN_CANCEL:
    case TFRT_WIRE_BUILTIN_FOLLOW:
    case TFRT_WIRE_BUILTIN_KEPT_RESULT:
    case TFRT_WIRE_BUILTIN_RECORD:
    case TFRT_WIRE_BUILTIN_ASK:
      return invoke->argument_count == 1 && invoke->result_count == 1;
    case TFRT_WIRE_BUILTIN_CHECK_DEVICE:
      return invoke->argument_count == 1 && invoke->result_count == 1 &&
             peer->node->options.check_device;
    case TFRT_WIRE_BUILTIN_DRAIN:
      return invoke->argument_count == 0 && invoke->result_count == 1 &&
             peer->node->options.on_drain;
    default:
      return false;
  }
}

static void builtin_start(tfrt_execution_t* execution, const tfrt_peer_t* peer) {
  switch (execution->function) {
    case TFRT_WIRE_BUILTIN_PRINT:
      printing_start(execution, tfrt_job_rank_of(execution->job, peer->incarnation));
      break;
    case TFRT_WIRE_BUILTIN_SEND:
      sending_start(execution, tfrt_job_rank_of(execution->job, peer->incarnation));
      break;
    case TFRT_WIRE_BUILTIN_COPY:
      copying_start(execution);
      break;
    default:
      tfrt_answer_start(execution);
      break;
  }
}

static void builtin_on_node_made(const tfrt_owner_end_t* end) {
  end->node->call_hooks->has_service = builtin_is_here;
  end->node->call_hooks->start_service = builtin_start;
}

static const tfrt_owner_rule_t tfrt_builtin_rules[] = {
    {TFRT_OWNER_NODE_MADE, TFRT_OWNER_CALLS, builtin_on_node_made},
};

const tfrt_node_part_t tfrt_builtin_part = {
    .rules = tfrt_builtin_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_builtin_rules),
};
