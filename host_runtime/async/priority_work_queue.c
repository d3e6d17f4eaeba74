// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/priority_work_queue.h"

#include "host_runtime/async/task_list.h"
#include "host_runtime/base/sync.h"

typedef struct group_s group_t;

// The queue of one level.
typedef struct level_queue_s {
  tfrt_work_queue_t base;
  group_t* group;
  tfrt_priority_t priority;
} level_queue_t;

struct group_s {
  tfrt_ref_count_t ref_count;  // one for each level queue that is still there
  tfrt_allocator_t allocator;
  tfrt_work_queue_t* base;  // +1
  tfrt_mutex_t mutex;       // guards |tasks|
  tfrt_task_list_t tasks[TFRT_PRIORITY_COUNT];
  level_queue_t queues[TFRT_PRIORITY_COUNT];
};

// A task of the base queue that runs the first task of the lists. There is one for each task in
// them, so that none of either is left over.
typedef struct turn_s {
  tfrt_task_t task;
  group_t* group;
} turn_t;

static level_queue_t* cast(tfrt_work_queue_t* queue) { return (level_queue_t*)queue; }

static tfrt_work_queue_t* base_of(const tfrt_work_queue_t* queue) {
  return ((const level_queue_t*)queue)->group->base;
}

static void level_destroy(tfrt_work_queue_t* queue) {
  group_t* group = cast(queue)->group;
  if (!tfrt_ref_count_decrement(&group->ref_count)) return;
  tfrt_work_queue_t* base = group->base;
  tfrt_mutex_deinitialize(&group->mutex);
  tfrt_allocator_free(group->allocator, group, sizeof(*group));
  tfrt_work_queue_release(base);
}

static tfrt_task_t* take_first(group_t* group) {
  tfrt_task_t* task = NULL;
  tfrt_mutex_lock(&group->mutex);
  for (int level = 0; level < TFRT_PRIORITY_COUNT && !task; ++level) {
    task = tfrt_task_list_pop_front(&group->tasks[level]);
  }
  tfrt_mutex_unlock(&group->mutex);
  return task;
}

static void take_turn(tfrt_task_t* task) {
  turn_t* turn = TFRT_CONTAINER_OF(task, turn_t, task);
  group_t* group = turn->group;
  tfrt_task_t* first = take_first(group);
  tfrt_allocator_free(group->allocator, turn, sizeof(*turn));
  // The group's waiter may free the group while this runs.
  first->run(first);
}

static void level_add_task(tfrt_work_queue_t* queue, tfrt_task_t* task) {
  group_t* group = cast(queue)->group;
  turn_t* turn = tfrt_allocator_allocate(group->allocator, sizeof(*turn));
  if (!turn) {
    task->run(task);
    return;
  }
  turn->group = group;
  tfrt_task_initialize(&turn->task, take_turn);
  tfrt_mutex_lock(&group->mutex);
  tfrt_task_list_push_back(&group->tasks[cast(queue)->priority], task);
  tfrt_mutex_unlock(&group->mutex);
  tfrt_work_queue_add_task(group->base, &turn->task);
}

static bool level_add_blocking_task(tfrt_work_queue_t* queue, tfrt_task_t* task,
                                    bool allow_queuing) {
  return tfrt_work_queue_add_blocking_task(base_of(queue), task, allow_queuing);
}

static void level_run_here(tfrt_work_queue_t* queue, tfrt_task_t* task) {
  tfrt_work_queue_run_here(base_of(queue), task);
}

// A task that has a thread already waits for no turn.
static void level_run_or_add(tfrt_work_queue_t* queue, tfrt_task_t* task) {
  tfrt_work_queue_run_or_add(base_of(queue), task);
}

static void level_note_backlog(tfrt_work_queue_t* queue) {
  tfrt_work_queue_note_backlog(base_of(queue));
}

static void level_await(tfrt_work_queue_t* queue, tfrt_async_value_t* const* values, size_t count) {
  tfrt_work_queue_await(base_of(queue), values, count);
}

static void level_quiesce(tfrt_work_queue_t* queue) { tfrt_work_queue_quiesce(base_of(queue)); }

static int level_parallelism(const tfrt_work_queue_t* queue) {
  return tfrt_work_queue_parallelism(base_of(queue));
}

static bool level_is_in_worker_thread(const tfrt_work_queue_t* queue) {
  return tfrt_work_queue_is_in_worker_thread(base_of(queue));
}

static const char* level_name(const tfrt_work_queue_t* queue) {
  return tfrt_work_queue_name(base_of(queue));
}

static const tfrt_work_queue_vtable_t vtable = {
    .destroy = level_destroy,
    .add_task = level_add_task,
    .add_blocking_task = level_add_blocking_task,
    .await = level_await,
    .quiesce = level_quiesce,
    .parallelism = level_parallelism,
    .is_in_worker_thread = level_is_in_worker_thread,
    .name = level_name,
    .run_here = level_run_here,
    .run_or_add = level_run_or_add,
    .note_backlog = level_note_backlog,
};

tfrt_status_t tfrt_priority_work_queues_create(tfrt_work_queue_t* base, tfrt_allocator_t allocator,
                                               tfrt_work_queue_t* out_queues[TFRT_PRIORITY_COUNT]) {
  for (int level = 0; level < TFRT_PRIORITY_COUNT; ++level) out_queues[level] = NULL;
  group_t* group = tfrt_allocator_allocate_zeroed(allocator, sizeof(*group));
  if (!group) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for work queues");
  }
  tfrt_ref_count_initialize(&group->ref_count);
  group->allocator = allocator;
  group->base = tfrt_work_queue_retain(base);
  tfrt_mutex_initialize(&group->mutex);
  for (int level = 0; level < TFRT_PRIORITY_COUNT; ++level) {
    level_queue_t* queue = &group->queues[level];
    *queue =
        (level_queue_t){.base.vtable = &vtable, .group = group, .priority = (tfrt_priority_t)level};
    tfrt_ref_count_initialize(&queue->base.ref_count);
    if (level > 0) tfrt_ref_count_increment(&group->ref_count);
    out_queues[level] = &queue->base;
  }
  return NULL;
}
