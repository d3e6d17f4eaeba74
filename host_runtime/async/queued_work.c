// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/queued_work.h"

typedef struct queued_work_s {
  tfrt_task_t task;  // first to wait for |awaited|, if there is one, then to be queued
  tfrt_work_queue_t* queue;
  tfrt_async_value_t* awaited;  // +1, or NULL
  tfrt_queued_work_fn_t work;
  void* argument;
  tfrt_allocator_t allocator;
  tfrt_indirect_value_t* result;  // +1
} queued_work_t;

static void free_work(queued_work_t* queued) {
  tfrt_async_value_release(queued->awaited);
  tfrt_async_value_release(&queued->result->base);
  tfrt_allocator_free(queued->allocator, queued, sizeof(*queued));
}

static void run_work(tfrt_task_t* task) {
  queued_work_t* queued = TFRT_CONTAINER_OF(task, queued_work_t, task);
  tfrt_indirect_value_forward_take(queued->result, queued->work(queued->argument));
  free_work(queued);
}

static void enqueue(tfrt_task_t* task) {
  queued_work_t* queued = TFRT_CONTAINER_OF(task, queued_work_t, task);
  tfrt_task_initialize(&queued->task, run_work);
  tfrt_work_queue_add_task(queued->queue, &queued->task);
}

static tfrt_status_t create(tfrt_work_queue_t* queue, tfrt_queued_work_fn_t work, void* argument,
                            tfrt_allocator_t allocator, queued_work_t** out_queued) {
  *out_queued = NULL;
  queued_work_t* queued = tfrt_allocator_allocate(allocator, sizeof(*queued));
  tfrt_indirect_value_t* result = queued ? tfrt_indirect_value_create() : NULL;
  if (!result) {
    tfrt_allocator_free(allocator, queued, sizeof(*queued));
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to queue work");
  }
  *queued = (queued_work_t){
      .queue = queue, .work = work, .argument = argument, .allocator = allocator, .result = result};
  tfrt_task_initialize(&queued->task, run_work);
  *out_queued = queued;
  return NULL;
}

tfrt_status_t tfrt_work_queue_run(tfrt_work_queue_t* queue, tfrt_queued_work_fn_t work,
                                  void* argument, tfrt_allocator_t allocator,
                                  tfrt_async_value_t** out_result) {
  *out_result = NULL;
  queued_work_t* queued;
  TFRT_RETURN_IF_ERROR(create(queue, work, argument, allocator, &queued));
  *out_result = tfrt_async_value_retain(&queued->result->base);
  tfrt_work_queue_add_task(queue, &queued->task);
  return NULL;
}

tfrt_status_t tfrt_work_queue_run_blocking(tfrt_work_queue_t* queue, bool allow_queuing,
                                           tfrt_queued_work_fn_t work, void* argument,
                                           tfrt_allocator_t allocator,
                                           tfrt_async_value_t** out_result) {
  *out_result = NULL;
  queued_work_t* queued;
  TFRT_RETURN_IF_ERROR(create(queue, work, argument, allocator, &queued));
  // Retained before, because a task that was taken may be over already.
  tfrt_async_value_t* result = tfrt_async_value_retain(&queued->result->base);
  if (tfrt_work_queue_add_blocking_task(queue, &queued->task, allow_queuing)) {
    *out_result = result;
    return NULL;
  }
  tfrt_async_value_release(result);
  free_work(queued);
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "the %s work queue takes no more blocking tasks",
                            tfrt_work_queue_name(queue));
}

tfrt_status_t tfrt_work_queue_run_after(tfrt_work_queue_t* queue, tfrt_async_value_t* value,
                                        tfrt_queued_work_fn_t work, void* argument,
                                        tfrt_allocator_t allocator,
                                        tfrt_async_value_t** out_result) {
  *out_result = NULL;
  queued_work_t* queued;
  TFRT_RETURN_IF_ERROR(create(queue, work, argument, allocator, &queued));
  queued->awaited = tfrt_async_value_retain(value);
  tfrt_task_initialize(&queued->task, enqueue);
  *out_result = tfrt_async_value_retain(&queued->result->base);
  tfrt_async_value_and_then(value, &queued->task);
  return NULL;
}
