// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/join.h"

#include <stdatomic.h>

typedef struct join_s join_t;

typedef struct join_waiter_s {
  tfrt_task_t task;
  join_t* join;
} join_waiter_t;

struct join_s {
  _Atomic size_t remaining;  // waiters that have not run, plus one while these are made
  tfrt_task_t* task;
  tfrt_allocator_t allocator;
  size_t block_size;
  join_waiter_t waiters[];
};

static void count_down(join_t* join) {
  // Release: what this thread saw resolved; acquire, for the last one: what the others
  // did. Both sides are this operation in other threads.
  if (atomic_fetch_sub_explicit(&join->remaining, 1, memory_order_acq_rel) != 1) return;
  tfrt_task_t* task = join->task;
  tfrt_allocator_free(join->allocator, join, join->block_size);
  task->run(task);
}

static void run_waiter(tfrt_task_t* task) {
  count_down(TFRT_CONTAINER_OF(task, join_waiter_t, task)->join);
}

// Makes a join with room for |count| waiters, or returns NULL when memory is out.
static join_t* create_join(size_t count, tfrt_task_t* task, tfrt_allocator_t allocator) {
  size_t size = 0;
  if (!tfrt_size_multiply(count, sizeof(join_waiter_t), &size) ||
      !tfrt_size_add(size, sizeof(join_t), &size)) {
    return NULL;
  }
  join_t* join = tfrt_allocator_allocate(allocator, size);
  if (!join) return NULL;
  atomic_init(&join->remaining, count + 1);
  join->task = task;
  join->allocator = allocator;
  join->block_size = size;
  return join;
}

tfrt_status_t tfrt_join_and_then(tfrt_async_value_t* const* values, size_t count, tfrt_task_t* task,
                                 tfrt_allocator_t allocator) {
  size_t pending_count = 0;
  tfrt_async_value_t* pending = NULL;
  for (size_t i = 0; i < count; ++i) {
    if (tfrt_async_value_is_available(values[i])) continue;
    pending = values[i];
    ++pending_count;
  }
  if (pending_count <= 1) {
    // The ready chain stands for "all are there": its waiter runs at once.
    tfrt_async_value_and_then(pending ? pending : tfrt_async_value_ready_chain(), task);
    return NULL;
  }
  join_t* join = create_join(pending_count, task, allocator);
  if (!join) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "memory for waiting for %zu values is out", pending_count);
  }
  // Values only become resolved: there are never more pending than were counted. The
  // waiters that are not needed any more are counted down together with the extra one.
  size_t used = 0;
  for (size_t i = 0; i < count && used < pending_count; ++i) {
    if (tfrt_async_value_is_available(values[i])) continue;
    join_waiter_t* waiter = &join->waiters[used++];
    waiter->join = join;
    tfrt_task_initialize(&waiter->task, run_waiter);
    tfrt_async_value_and_then(values[i], &waiter->task);
  }
  // Relaxed: this thread still holds the extra count, so it is not the last yet.
  atomic_fetch_sub_explicit(&join->remaining, pending_count - used, memory_order_relaxed);
  count_down(join);
  return NULL;
}
