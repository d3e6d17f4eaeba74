// SPDX-License-Identifier: Apache-2.0
//
// A kernel library that brings a work queue of its own, from the first function to the last: one
// thread, which runs the newest task first.
#include "embedding/kernel_library.h"

typedef struct newest_first_s {
  tfrt_work_queue_t base;
  tfrt_allocator_t allocator;
  tfrt_mutex_t mutex;          // guards what follows
  tfrt_condition_t condition;  // a task came, the last one has ended, or it is time to go
  tfrt_task_t* newest;
  bool is_running;
  bool is_ending;
  tfrt_thread_t thread;
} newest_first_t;

static _Thread_local const newest_first_t* queue_of_this_thread;

static void run_tasks(void* argument) {
  newest_first_t* queue = argument;
  queue_of_this_thread = queue;
  tfrt_mutex_lock(&queue->mutex);
  while (queue->newest || !queue->is_ending) {
    tfrt_task_t* task = queue->newest;
    if (task) {
      queue->newest = task->next;
      queue->is_running = true;
      tfrt_mutex_unlock(&queue->mutex);
      task->run(task);
      tfrt_mutex_lock(&queue->mutex);
      queue->is_running = false;
      tfrt_condition_broadcast(&queue->condition);
    } else {
      tfrt_condition_wait(&queue->condition, &queue->mutex);
    }
  }
  tfrt_mutex_unlock(&queue->mutex);
}

static void destroy(tfrt_work_queue_t* base) {
  newest_first_t* queue = (newest_first_t*)base;
  tfrt_mutex_lock(&queue->mutex);
  queue->is_ending = true;
  tfrt_condition_broadcast(&queue->condition);
  tfrt_mutex_unlock(&queue->mutex);
  tfrt_thread_join(&queue->thread);
  tfrt_condition_deinitialize(&queue->condition);
  tfrt_mutex_deinitialize(&queue->mutex);
  tfrt_allocator_free(queue->allocator, queue, sizeof(*queue));
}

static void add_task(tfrt_work_queue_t* base, tfrt_task_t* task) {
  newest_first_t* queue = (newest_first_t*)base;
  tfrt_mutex_lock(&queue->mutex);
  task->next = queue->newest;
  queue->newest = task;
  tfrt_condition_broadcast(&queue->condition);
  tfrt_mutex_unlock(&queue->mutex);
}

static bool add_blocking_task(tfrt_work_queue_t* base, tfrt_task_t* task, bool allow_queuing) {
  if (!allow_queuing) return false;
  add_task(base, task);
  return true;
}

static void await(tfrt_work_queue_t* base, tfrt_async_value_t* const* values, size_t count) {
  (void)base;
  tfrt_blocking_wait(values, count);
}

static void quiesce(tfrt_work_queue_t* base) {
  newest_first_t* queue = (newest_first_t*)base;
  tfrt_mutex_lock(&queue->mutex);
  while (queue->newest || queue->is_running) tfrt_condition_wait(&queue->condition, &queue->mutex);
  tfrt_mutex_unlock(&queue->mutex);
}

static int parallelism(const tfrt_work_queue_t* base) {
  (void)base;
  return 1;
}

static bool is_in_worker_thread(const tfrt_work_queue_t* base) {
  return queue_of_this_thread == (const newest_first_t*)base;
}

static const char* name(const tfrt_work_queue_t* base) {
  (void)base;
  return "newest-first";
}

static const tfrt_work_queue_vtable_t vtable = {
    .destroy = destroy,
    .add_task = add_task,
    .add_blocking_task = add_blocking_task,
    .await = await,
    .quiesce = quiesce,
    .parallelism = parallelism,
    .is_in_worker_thread = is_in_worker_thread,
    .name = name,
};

static tfrt_status_t create(const char* arguments, const tfrt_work_queue_settings_t* settings,
                            tfrt_allocator_t allocator, tfrt_work_queue_t** out_queue) {
  (void)arguments, (void)settings;
  newest_first_t* queue = tfrt_allocator_allocate_zeroed(allocator, sizeof(*queue));
  if (!queue) return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a queue");
  queue->base.vtable = &vtable;
  tfrt_ref_count_initialize(&queue->base.ref_count);
  queue->allocator = allocator;
  tfrt_mutex_initialize(&queue->mutex);
  tfrt_condition_initialize(&queue->condition);
  tfrt_status_t status = tfrt_thread_create("newest", run_tasks, queue, &queue->thread);
  if (status) {
    tfrt_allocator_free(allocator, queue, sizeof(*queue));
  } else {
    *out_queue = &queue->base;
  }
  return status;
}

static tfrt_status_t set_up(void) {
  static const tfrt_work_queue_type_t type = {{"newest", ""}, create};
  return tfrt_work_queue_type_register(&type);
}

const tfrt_kernel_library_t tfrt_kernel_library = {TFRT_KERNEL_LIBRARY_HEADER("newest"),
                                                   .set_up = set_up};
