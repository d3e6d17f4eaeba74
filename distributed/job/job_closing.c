// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/job_closing.h"

#include "distributed/call/failed_call.h"
#include "distributed/call/incoming_call.h"
#include "distributed/call/outgoing_call.h"
#include "distributed/call/retried_call.h"
#include "distributed/job/server.h"
#include "distributed/service/sending.h"
#include "distributed/value/incoming_want.h"
#include "distributed/value/outgoing_retain.h"
#include "distributed/value/recovery.h"
#include "distributed/value/remote_value.h"

// What this host runs for |job| starts no kernel any more.
static void tfrt_job_closing_cancel(tfrt_job_t* job) {
  tfrt_node_t* node = job->node;
  tfrt_server_cancel_starts(job, 0, job->closed_by);
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&node->peers); found;
       found = tfrt_hash_table_next(&node->peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    tfrt_incoming_call_cancel_all(peer, job, job->closed_by);
  }
}

// Ends what is left of |job| when it has no calls. Objects last: calls and wants use them.
static void tfrt_job_closing_finish(tfrt_job_t* job) {
  tfrt_node_t* node = job->node;
  for (tfrt_hash_node_t* found = tfrt_hash_table_first(&node->peers); found;
       found = tfrt_hash_table_next(&node->peers, found)) {
    tfrt_peer_t* peer = TFRT_CONTAINER_OF(found, tfrt_peer_t, by_incarnation);
    tfrt_remote_value_cancel_all(peer, job, job->closed_by);
    tfrt_outgoing_retain_end_all(peer, job);
  }
  tfrt_retried_call_close_job(job, job->closed_by);
  tfrt_recovery_drop(job, 0);
  tfrt_sending_end(job, TFRT_MAILBOX_ANY_SENDER, job->closed_by);
  tfrt_incoming_want_close_job(node, job, job->closed_by);
  tfrt_object_table_drop_job(&node->objects, job);
  tfrt_failed_call_drop_job(job);
  tfrt_job_leave(job);
}

static void tfrt_job_closing_queue(tfrt_task_t* task);

static void tfrt_job_closing_go_on(tfrt_job_t* job) {
  if (tfrt_outgoing_call_cancel_oldest(job, TFRT_JOB_CLOSING_SLICE, job->closed_by)) {
    tfrt_job_closing_finish(job);
    return;
  }
  // Until the next slice is over.
  tfrt_node_t* node = tfrt_node_retain(job->node);
  tfrt_task_initialize(&job->closing, tfrt_job_closing_queue);
  tfrt_node_lock_defer(&node->lock, &job->closing);
}

static void tfrt_job_closing_run(tfrt_task_t* task) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(task, tfrt_job_t, closing);
  tfrt_node_t* node = job->node;
  tfrt_node_lock_tables(node);
  tfrt_job_closing_go_on(job);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs with the lock open, behind what the slice has put off. The thread may be the network's or
// the timers', which must not end many calls itself.
static void tfrt_job_closing_queue(tfrt_task_t* task) {
  const tfrt_job_t* job = TFRT_CONTAINER_OF(task, tfrt_job_t, closing);
  tfrt_work_queue_t* work_queue = job->node->options.host->work_queue;
  tfrt_task_initialize(task, tfrt_job_closing_run);
  tfrt_work_queue_add_task(work_queue, task);
}

void tfrt_job_closing_begin(tfrt_job_t* job) {
  tfrt_job_closing_cancel(job);
  tfrt_job_closing_go_on(job);
}
