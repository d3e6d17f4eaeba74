// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/job_closing.h"

#include "distributed/call/outgoing_call.h"
#include "distributed/domain/event_log.h"
#include "distributed/job/server.h"

static void tfrt_job_closing_tell(tfrt_job_t* job, tfrt_owner_event_t event) {
  tfrt_node_end(&(tfrt_owner_end_t){
      .event = event, .node = job->node, .job = job, .reason = job->closing.reason});
}

static void tfrt_job_closing_queue(tfrt_task_t* task);

static void tfrt_job_closing_go_on(tfrt_job_t* job) {
  if (tfrt_outgoing_call_cancel_oldest(job, TFRT_JOB_CLOSING_SLICE, job->closing.reason)) {
    tfrt_job_closing_tell(job, TFRT_OWNER_JOB_FINISHED);
    tfrt_job_leave(job);
    return;
  }
  // Until the next slice is over.
  tfrt_node_t* node = tfrt_node_retain(job->node);
  tfrt_task_initialize(&job->closing.task, tfrt_job_closing_queue);
  tfrt_node_lock_defer(&node->lock, &job->closing.task);
}

static void tfrt_job_closing_run(tfrt_task_t* task) {
  tfrt_job_t* job = TFRT_CONTAINER_OF(task, tfrt_job_t, closing.task);
  tfrt_node_t* node = job->node;
  tfrt_node_lock_tables(node);
  tfrt_job_closing_go_on(job);
  tfrt_node_unlock(node);
  tfrt_node_release(node);
}

// Runs with the lock open, after the actions of the slice. The thread may be the network's or the
// timers', which must not end many calls itself.
static void tfrt_job_closing_queue(tfrt_task_t* task) {
  const tfrt_job_t* job = TFRT_CONTAINER_OF(task, tfrt_job_t, closing.task);
  tfrt_work_queue_t* work_queue = job->node->options.host->work_queue;
  tfrt_task_initialize(task, tfrt_job_closing_run);
  tfrt_work_queue_add_task(work_queue, task);
}

void tfrt_job_close(tfrt_job_t* job, tfrt_status_t reason) {
  if (tfrt_job_is_closed(job)) return;
  if (job->node->options.logs_events) tfrt_event_log_job_closed(job, reason);
  tfrt_job_enter(job);
  if (job->rank == 0) tfrt_server_close_members(job, reason);
  job->closing.is_finished = !reason;
  job->closing.reason = reason ? tfrt_status_retain(reason)
                               : tfrt_status_create(TFRT_STATUS_CANCELLED, "the job was closed");
  tfrt_server_answer_open(job, job->closing.reason);
  tfrt_job_set_state(job, TFRT_JOB_CLOSED);
  // No kernel of the job starts here any more.
  tfrt_server_cancel_starts(job, 0, job->closing.reason);
  tfrt_job_closing_tell(job, TFRT_OWNER_JOB_CLOSED);
  tfrt_job_closing_go_on(job);
}
