// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/work_queue.h"

tfrt_work_queue_t* tfrt_work_queue_retain(tfrt_work_queue_t* queue) {
  tfrt_ref_count_increment(&queue->ref_count);
  return queue;
}

void tfrt_work_queue_release(tfrt_work_queue_t* queue) {
  if (queue && tfrt_ref_count_decrement(&queue->ref_count)) queue->vtable->destroy(queue);
}

void tfrt_work_queue_add_task(tfrt_work_queue_t* queue, tfrt_task_t* task) {
  queue->vtable->add_task(queue, task);
}

bool tfrt_work_queue_add_blocking_task(tfrt_work_queue_t* queue, tfrt_task_t* task,
                                       bool allow_queuing) {
  return queue->vtable->add_blocking_task(queue, task, allow_queuing);
}

void tfrt_work_queue_run_here(tfrt_work_queue_t* queue, tfrt_task_t* task) {
  if (queue->vtable->run_here) {
    queue->vtable->run_here(queue, task);
  } else {
    task->run(task);
  }
}

void tfrt_work_queue_run_or_add(tfrt_work_queue_t* queue, tfrt_task_t* task) {
  if (queue->vtable->run_or_add) {
    queue->vtable->run_or_add(queue, task);
  } else {
    tfrt_work_queue_add_task(queue, task);
  }
}

void tfrt_work_queue_note_backlog(tfrt_work_queue_t* queue) {
  if (queue->vtable->note_backlog) queue->vtable->note_backlog(queue);
}

void tfrt_work_queue_await(tfrt_work_queue_t* queue, tfrt_async_value_t* const* values,
                           size_t count) {
  queue->vtable->await(queue, values, count);
}

void tfrt_work_queue_quiesce(tfrt_work_queue_t* queue) { queue->vtable->quiesce(queue); }

int tfrt_work_queue_parallelism(const tfrt_work_queue_t* queue) {
  return queue->vtable->parallelism(queue);
}

bool tfrt_work_queue_is_in_worker_thread(const tfrt_work_queue_t* queue) {
  return queue->vtable->is_in_worker_thread(queue);
}

const char* tfrt_work_queue_name(const tfrt_work_queue_t* queue) {
  return queue->vtable->name(queue);
}
