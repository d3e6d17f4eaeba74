// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/inline_work_queue.h"

#include <assert.h>

#include "host_runtime/async/task_list.h"
#include "host_runtime/base/sync.h"

typedef struct inline_work_queue_s {
  tfrt_work_queue_t base;
  tfrt_allocator_t allocator;
  tfrt_mutex_t mutex;          // guards all below
  tfrt_condition_t condition;  // of await and quiesce: a task, a value, or quiet
  tfrt_task_list_t tasks;
  size_t running_count;  // tasks that are being run
  size_t sleeping_count;
} inline_work_queue_t;

// The queue whose task this thread runs.
static _Thread_local const tfrt_work_queue_t* current_queue;

static inline_work_queue_t* cast(tfrt_work_queue_t* queue) { return (inline_work_queue_t*)queue; }

static void wake_all_locked(inline_work_queue_t* queue) {
  if (queue->sleeping_count) tfrt_condition_broadcast(&queue->condition);
}

static void inline_destroy(tfrt_work_queue_t* base) {
  inline_work_queue_t* queue = cast(base);
  assert(tfrt_task_list_is_empty(&queue->tasks));
  tfrt_condition_deinitialize(&queue->condition);
  tfrt_mutex_deinitialize(&queue->mutex);
  tfrt_allocator_free(queue->allocator, queue, sizeof *queue);
}

static void inline_add_task(tfrt_work_queue_t* base, tfrt_task_t* task) {
  inline_work_queue_t* queue = cast(base);
  tfrt_mutex_lock(&queue->mutex);
  tfrt_task_list_push_back(&queue->tasks, task);
  wake_all_locked(queue);
  tfrt_mutex_unlock(&queue->mutex);
}

static bool inline_add_blocking_task(tfrt_work_queue_t* base, tfrt_task_t* task,
                                     bool allow_queuing) {
  if (!allow_queuing) return false;
  inline_add_task(base, task);
  return true;
}

static void sleep_locked(inline_work_queue_t* queue) {
  ++queue->sleeping_count;
  tfrt_condition_wait(&queue->condition, &queue->mutex);
  --queue->sleeping_count;
}

// Runs the first task, if there is one, without the lock, which is held before and
// after. Returns false if there is none.
static bool run_one_locked(inline_work_queue_t* queue) {
  tfrt_task_t* task = tfrt_task_list_pop_front(&queue->tasks);
  if (!task) return false;
  ++queue->running_count;
  tfrt_mutex_unlock(&queue->mutex);
  const tfrt_work_queue_t* outer_queue = current_queue;
  current_queue = &queue->base;
  task->run(task);
  current_queue = outer_queue;
  tfrt_mutex_lock(&queue->mutex);
  --queue->running_count;
  if (queue->running_count == 0) wake_all_locked(queue);
  return true;
}

// Waits for one value, on the stack of who awaits.
typedef struct inline_waiter_s {
  tfrt_task_t task;
  inline_work_queue_t* queue;
  bool is_done;  // guarded by the queue's mutex
} inline_waiter_t;

static void note_resolved(tfrt_task_t* task) {
  inline_waiter_t* waiter = TFRT_CONTAINER_OF(task, inline_waiter_t, task);
  inline_work_queue_t* queue = waiter->queue;
  tfrt_mutex_lock(&queue->mutex);
  waiter->is_done = true;
  wake_all_locked(queue);
  tfrt_mutex_unlock(&queue->mutex);
}

static void await_one(inline_work_queue_t* queue, tfrt_async_value_t* value) {
  inline_waiter_t waiter = {.queue = queue};
  tfrt_task_initialize(&waiter.task, note_resolved);
  tfrt_async_value_and_then(value, &waiter.task);
  tfrt_mutex_lock(&queue->mutex);
  while (!waiter.is_done) {
    if (!run_one_locked(queue)) sleep_locked(queue);
  }
  tfrt_mutex_unlock(&queue->mutex);
}

static void inline_await(tfrt_work_queue_t* base, tfrt_async_value_t* const* values, size_t count) {
  // All are asked for first, so that what they need of others goes on side by side.
  for (size_t i = 0; i < count; ++i) tfrt_async_value_demand(values[i]);
  for (size_t i = 0; i < count; ++i) {
    if (!tfrt_async_value_is_available(values[i])) await_one(cast(base), values[i]);
  }
}

static void inline_quiesce(tfrt_work_queue_t* base) {
  inline_work_queue_t* queue = cast(base);
  tfrt_mutex_lock(&queue->mutex);
  // A task that another thread is running may still add others.
  while (run_one_locked(queue) || queue->running_count > 0) {
    if (tfrt_task_list_is_empty(&queue->tasks) && queue->running_count > 0) sleep_locked(queue);
  }
  tfrt_mutex_unlock(&queue->mutex);
}

static int inline_parallelism(const tfrt_work_queue_t* queue) {
  (void)queue;
  return 1;
}

static bool inline_is_in_worker_thread(const tfrt_work_queue_t* queue) {
  return current_queue == queue;
}

static const char* inline_name(const tfrt_work_queue_t* queue) {
  (void)queue;
  return "single-threaded";
}

tfrt_status_t tfrt_inline_work_queue_create(tfrt_allocator_t allocator,
                                            tfrt_work_queue_t** out_queue) {
  static const tfrt_work_queue_vtable_t vtable = {
      .destroy = inline_destroy,
      .add_task = inline_add_task,
      .add_blocking_task = inline_add_blocking_task,
      .await = inline_await,
      .quiesce = inline_quiesce,
      .parallelism = inline_parallelism,
      .is_in_worker_thread = inline_is_in_worker_thread,
      .name = inline_name,
  };
  *out_queue = NULL;
  inline_work_queue_t* queue = tfrt_allocator_allocate_zeroed(allocator, sizeof *queue);
  if (!queue) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "memory for a work queue is out");
  }
  queue->base.vtable = &vtable;
  tfrt_ref_count_initialize(&queue->base.ref_count);
  queue->allocator = allocator;
  tfrt_mutex_initialize(&queue->mutex);
  tfrt_condition_initialize(&queue->condition);
  *out_queue = &queue->base;
  return NULL;
}
