// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/blocking_wait.h"

#include "host_runtime/base/sync.h"

// Lives on the waiting thread's stack, once for all of its values.
typedef struct blocking_waiter_s {
  tfrt_task_t task;
  tfrt_mutex_t mutex;  // guards |is_done|
  tfrt_condition_t condition;
  bool is_done;
} blocking_waiter_t;

static void wake(tfrt_task_t* task) {
  blocking_waiter_t* waiter = TFRT_CONTAINER_OF(task, blocking_waiter_t, task);
  tfrt_mutex_lock(&waiter->mutex);
  waiter->is_done = true;
  // Signalled with the lock held: without, the waiting thread could have returned, and
  // its stack be gone, before the signal.
  tfrt_condition_signal(&waiter->condition);
  tfrt_mutex_unlock(&waiter->mutex);
}

static void wait_for_one(blocking_waiter_t* waiter, tfrt_async_value_t* value) {
  waiter->is_done = false;
  tfrt_task_initialize(&waiter->task, wake);
  tfrt_async_value_and_then(value, &waiter->task);
  tfrt_mutex_lock(&waiter->mutex);
  while (!waiter->is_done) tfrt_condition_wait(&waiter->condition, &waiter->mutex);
  tfrt_mutex_unlock(&waiter->mutex);
}

void tfrt_blocking_wait(tfrt_async_value_t* const* values, size_t count) {
  for (size_t i = 0; i < count; ++i) tfrt_async_value_demand(values[i]);
  blocking_waiter_t waiter;
  tfrt_mutex_initialize(&waiter.mutex);
  tfrt_condition_initialize(&waiter.condition);
  // One after the other: all are being worked on, so this takes as long as the slowest,
  // and needs no memory for a waiter per value.
  for (size_t i = 0; i < count; ++i) {
    if (!tfrt_async_value_is_available(values[i])) wait_for_one(&waiter, values[i]);
  }
  tfrt_condition_deinitialize(&waiter.condition);
  tfrt_mutex_deinitialize(&waiter.mutex);
}
