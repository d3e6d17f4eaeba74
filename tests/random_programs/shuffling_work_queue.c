// SPDX-License-Identifier: Apache-2.0
#include "tests/random_programs/shuffling_work_queue.h"

#include <stdio.h>
#include <stdlib.h>

#include "host_runtime/async/task_list.h"
#include "host_runtime/base/random.h"

// Tasks run inside of others, and so on the C stack, up to this depth.
#define TFRT_SHUFFLING_MAX_DEPTH 6

typedef struct tfrt_shuffling_work_queue_s {
  tfrt_work_queue_t base;
  tfrt_allocator_t allocator;
  tfrt_random_t random;
  tfrt_task_list_t tasks;
  uint32_t task_count;
  int depth;  // of tasks that are being run
} tfrt_shuffling_work_queue_t;

static tfrt_shuffling_work_queue_t* shuffling_cast(tfrt_work_queue_t* queue) {
  return (tfrt_shuffling_work_queue_t*)queue;
}

static void shuffling_destroy(tfrt_work_queue_t* base) {
  tfrt_shuffling_work_queue_t* queue = shuffling_cast(base);
  tfrt_allocator_free(queue->allocator, queue, sizeof(*queue));
}

// Runs any one of the tasks; returns false if there is none.
static bool shuffling_run_one(tfrt_shuffling_work_queue_t* queue) {
  if (queue->task_count == 0) return false;
  // The list is turned until the one that is wanted is the first.
  for (uint64_t i = tfrt_random_below(&queue->random, queue->task_count); i > 0; --i) {
    tfrt_task_list_push_back(&queue->tasks, tfrt_task_list_pop_front(&queue->tasks));
  }
  tfrt_task_t* task = tfrt_task_list_pop_front(&queue->tasks);
  --queue->task_count;
  ++queue->depth;
  task->run(task);
  --queue->depth;
  return true;
}

static void shuffling_add_task(tfrt_work_queue_t* base, tfrt_task_t* task) {
  tfrt_shuffling_work_queue_t* queue = shuffling_cast(base);
  tfrt_task_list_push_back(&queue->tasks, task);
  ++queue->task_count;
  while (queue->depth < TFRT_SHUFFLING_MAX_DEPTH && tfrt_random_below(&queue->random, 3) == 0 &&
         shuffling_run_one(queue)) {
  }
}

static bool shuffling_add_blocking_task(tfrt_work_queue_t* queue, tfrt_task_t* task,
                                        bool allow_queuing) {
  if (!allow_queuing) return false;
  shuffling_add_task(queue, task);
  return true;
}

static void shuffling_await(tfrt_work_queue_t* base, tfrt_async_value_t* const* values,
                            size_t count) {
  tfrt_shuffling_work_queue_t* queue = shuffling_cast(base);
  for (size_t i = 0; i < count; ++i) tfrt_async_value_demand(values[i]);
  for (size_t i = 0; i < count; ++i) {
    while (!tfrt_async_value_is_available(values[i])) {
      if (shuffling_run_one(queue)) continue;
      printf("value %zu of %zu is not resolved, and no task is left that could\n", i, count);
      fflush(stdout);
      abort();
    }
  }
}

static void shuffling_quiesce(tfrt_work_queue_t* queue) {
  while (shuffling_run_one(shuffling_cast(queue))) {
  }
}

static int shuffling_parallelism(const tfrt_work_queue_t* queue) {
  (void)queue;
  return 2;
}

static bool shuffling_is_in_worker_thread(const tfrt_work_queue_t* queue) {
  return ((const tfrt_shuffling_work_queue_t*)queue)->depth > 0;
}

static const char* shuffling_name(const tfrt_work_queue_t* queue) {
  (void)queue;
  return "shuffling";
}

tfrt_work_queue_t* tfrt_shuffling_work_queue_create(tfrt_allocator_t allocator) {
  static const tfrt_work_queue_vtable_t vtable = {
      .destroy = shuffling_destroy,
      .add_task = shuffling_add_task,
      .add_blocking_task = shuffling_add_blocking_task,
      .await = shuffling_await,
      .quiesce = shuffling_quiesce,
      .parallelism = shuffling_parallelism,
      .is_in_worker_thread = shuffling_is_in_worker_thread,
      .name = shuffling_name,
  };
  tfrt_shuffling_work_queue_t* queue = tfrt_allocator_allocate_zeroed(allocator, sizeof(*queue));
  if (!queue) return NULL;
  queue->base.vtable = &vtable;
  tfrt_ref_count_initialize(&queue->base.ref_count);
  queue->allocator = allocator;
  tfrt_random_initialize(&queue->random, 0);
  return &queue->base;
}

void tfrt_shuffling_work_queue_set_seed(tfrt_work_queue_t* queue, uint64_t seed) {
  tfrt_random_initialize(&shuffling_cast(queue)->random, seed);
}
