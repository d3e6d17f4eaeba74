// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/incoming_want_impl.h"
#include "distributed/value/job_budget.h"
#include "distributed/value/outgoing_retain.h"

// Runs when the owner of an argument holds it for this host. This host is to hold the slot that is
// that argument.
static void tfrt_incoming_want_run_registered(tfrt_task_t* task) {
  tfrt_incoming_want_t* want = TFRT_CONTAINER_OF(task, tfrt_incoming_want_t, waiter);
  tfrt_node_t* node = tfrt_node_retain(want->node);
  tfrt_node_lock_tables(node);
  if (want->open) tfrt_incoming_want_answer(want, &(tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_HELD});
  tfrt_incoming_want_release(want);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

tfrt_async_value_t* tfrt_incoming_want_retain_alias(tfrt_object_t* object) {
  tfrt_remote_value_t* alias = object->is_alias ? tfrt_remote_value_cast(object->value) : NULL;
  tfrt_remote_value_t* remote = alias ? tfrt_remote_value_holding(alias) : NULL;
  bool is_lent = remote && !remote->held && !tfrt_remote_value_is_resolved(remote);
  tfrt_async_value_t* registered = is_lent ? tfrt_outgoing_retain_send(remote) : NULL;
  if (registered) object->is_alias = false;
  return registered;
}

void tfrt_incoming_want_hold(tfrt_incoming_want_t* want, tfrt_object_t* object) {
  tfrt_node_t* node = want->node;
  if (!tfrt_object_table_hold(node->objects, object, want->peer->incarnation)) {
    tfrt_incoming_want_fail_take(want, tfrt_status_out_of_memory());
    return;
  }
  tfrt_async_value_t* registered = tfrt_incoming_want_retain_alias(object);
  if (!registered) {
    tfrt_incoming_want_answer(want, &(tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_HELD});
    return;
  }
  tfrt_ref_count_increment(&want->ref_count);
  tfrt_task_initialize(&want->waiter, tfrt_incoming_want_run_registered);
  tfrt_action_queue_wait(&node->actions, registered, TFRT_ACTION_WATCH, &want->waiter);
}

bool tfrt_incoming_want_hold_failed(tfrt_incoming_want_t* want, tfrt_status_t failed) {
  uint64_t holder = want->peer->incarnation;
  if (want->id.namer == holder) return false;  // it has the record
  tfrt_status_t status = tfrt_job_budget_check_call(want->job, 1);
  if (!status) {
    tfrt_async_value_t* error = tfrt_async_value_create_error(failed);
    tfrt_object_t* object =
        tfrt_object_table_add_slot(want->node->objects, want->id, want->job, error, holder);
    if (!object) status = tfrt_status_out_of_memory();
  }
  if (status) {
    tfrt_status_release(status);
    return false;
  }
  tfrt_incoming_want_answer(want, &(tfrt_wire_item_t){.kind = TFRT_WIRE_ITEM_HELD});
  return true;
}

tfrt_status_t tfrt_incoming_want_on_retain(tfrt_peer_t* peer, tfrt_job_t* job,
                                           const tfrt_wire_retain_t* retain) {
  for (size_t i = 0; i < retain->id_count && job; ++i) {
    tfrt_incoming_want_t* want = tfrt_incoming_want_create(job, retain->ids[i]);
    if (!want) return tfrt_status_out_of_memory();
    want->peer = peer;
    want->kind = TFRT_INCOMING_WANT_RETAIN;
    tfrt_list_push_back(&peer->incoming_retains, &want->asked);
    if (tfrt_job_is_closed(job)) {
      tfrt_incoming_want_fail(want, job->closing.reason);
    } else {
      tfrt_incoming_want_find(want);
    }
  }
  return NULL;
}
