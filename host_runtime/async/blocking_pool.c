// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/blocking_pool.h"

#include <assert.h>

#include "host_runtime/base/log.h"

tfrt_status_t tfrt_blocking_pool_initialize(tfrt_blocking_pool_t* pool, size_t max_thread_count,
                                            const tfrt_blocking_pool_callbacks_t* callbacks,
                                            void* owner, tfrt_allocator_t allocator) {
  *pool = (tfrt_blocking_pool_t){
      .callbacks = callbacks,
      .owner = owner,
      .allocator = allocator,
      .max_thread_count = max_thread_count,
  };
  pool->threads = tfrt_allocator_allocate_array(allocator, max_thread_count, sizeof(tfrt_thread_t));
  if (!pool->threads) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "memory for a pool of %zu threads is out", max_thread_count);
  }
  tfrt_mutex_initialize(&pool->mutex);
  tfrt_condition_initialize(&pool->condition);
  return NULL;
}

void tfrt_blocking_pool_deinitialize(tfrt_blocking_pool_t* pool) {
  tfrt_mutex_lock(&pool->mutex);
  assert(pool->queued_count == 0);
  pool->is_stopping = true;
  tfrt_condition_broadcast(&pool->condition);
  tfrt_mutex_unlock(&pool->mutex);
  for (size_t i = 0; i < pool->thread_count; ++i) tfrt_thread_join(&pool->threads[i]);
  tfrt_condition_deinitialize(&pool->condition);
  tfrt_mutex_deinitialize(&pool->mutex);
  tfrt_allocator_free(pool->allocator, pool->threads,
                      pool->max_thread_count * sizeof(tfrt_thread_t));
}

// Runs the first task, with the lock held before and after, but not meanwhile.
static void run_first_locked(tfrt_blocking_pool_t* pool) {
  tfrt_task_t* task = tfrt_task_list_pop_front(&pool->tasks);
  --pool->queued_count;
  ++pool->running_count;
  tfrt_mutex_unlock(&pool->mutex);
  task->run(task);
  tfrt_mutex_lock(&pool->mutex);
  --pool->running_count;
  tfrt_mutex_unlock(&pool->mutex);
  pool->callbacks->on_task_done(pool->owner);
  tfrt_mutex_lock(&pool->mutex);
}

static void run_thread(void* argument) {
  tfrt_blocking_pool_t* pool = argument;
  pool->callbacks->on_thread_start(pool->owner);
  tfrt_mutex_lock(&pool->mutex);
  for (;;) {
    if (pool->queued_count > 0) {
      run_first_locked(pool);
    } else if (pool->is_stopping) {
      break;
    } else {
      tfrt_condition_wait(&pool->condition, &pool->mutex);
    }
  }
  tfrt_mutex_unlock(&pool->mutex);
}

static bool start_thread_locked(tfrt_blocking_pool_t* pool) {
  if (pool->thread_count == pool->max_thread_count) return false;
  tfrt_status_t status =
      tfrt_thread_create("tfrt-blocking", run_thread, pool, &pool->threads[pool->thread_count]);
  if (!tfrt_status_is_ok(status)) {
    // Once for each thread that is missing: tasks may come often.
    if (pool->refused_at_count != pool->thread_count + 1) {
      tfrt_log(TFRT_LOG_WARNING, NULL, "thread %zu for tasks that block: %s",
               pool->thread_count + 1, tfrt_status_message(status));
    }
    pool->refused_at_count = pool->thread_count + 1;
    tfrt_status_release(status);
    return false;
  }
  ++pool->thread_count;
  return true;
}

// Sees to it that there is a thread for one more task. A thread that was started, or
// woken, for a task that it has not fetched yet is spoken for by that task.
static bool find_thread_locked(tfrt_blocking_pool_t* pool, bool allow_queuing) {
  size_t spoken_for = pool->running_count + pool->queued_count;
  if (spoken_for < pool->thread_count) return true;
  if (start_thread_locked(pool)) return true;
  return allow_queuing && pool->thread_count > 0;
}

bool tfrt_blocking_pool_add(tfrt_blocking_pool_t* pool, tfrt_task_t* task, bool allow_queuing) {
  tfrt_mutex_lock(&pool->mutex);
  bool is_taken = find_thread_locked(pool, allow_queuing);
  if (is_taken) {
    tfrt_task_list_push_back(&pool->tasks, task);
    ++pool->queued_count;
    tfrt_condition_signal(&pool->condition);
  }
  tfrt_mutex_unlock(&pool->mutex);
  return is_taken;
}
