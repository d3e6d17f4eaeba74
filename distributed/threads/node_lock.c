// SPDX-License-Identifier: Apache-2.0
#include "distributed/threads/node_lock.h"

#include <assert.h>

// One run of deferred tasks on the calling thread. Runs of different locks may be nested.
typedef struct tfrt_node_lock_run_s {
  const tfrt_node_lock_t* lock;
  tfrt_task_list_t tasks;
  struct tfrt_node_lock_run_s* outer;
} tfrt_node_lock_run_t;

static _Thread_local tfrt_node_lock_run_t* current_run;

void tfrt_node_lock_initialize(tfrt_node_lock_t* lock) {
  // Mostly held for some thousand instructions, and wanted by each thread that makes calls.
  tfrt_mutex_initialize_spinning(&lock->mutex);
  lock->deferred = (tfrt_task_list_t){0};
}

void tfrt_node_lock_deinitialize(tfrt_node_lock_t* lock) {
  assert(tfrt_task_list_is_empty(&lock->deferred));
  tfrt_mutex_deinitialize(&lock->mutex);
}

void tfrt_node_lock_lock(tfrt_node_lock_t* lock) { tfrt_mutex_lock(&lock->mutex); }

void tfrt_node_lock_defer(tfrt_node_lock_t* lock, tfrt_task_t* task) {
  tfrt_task_list_push_back(&lock->deferred, task);
}

static tfrt_node_lock_run_t* find_run(const tfrt_node_lock_t* lock) {
  for (tfrt_node_lock_run_t* run = current_run; run; run = run->outer) {
    if (run->lock == lock) return run;
  }
  return NULL;
}

static void move_tasks(tfrt_task_list_t* from, tfrt_task_list_t* to) {
  for (tfrt_task_t* task; (task = tfrt_task_list_pop_front(from));) {
    tfrt_task_list_push_back(to, task);
  }
}

void tfrt_node_lock_unlock_and_run(tfrt_node_lock_t* lock) {
  tfrt_task_list_t tasks = lock->deferred;
  lock->deferred = (tfrt_task_list_t){0};
  tfrt_mutex_unlock(&lock->mutex);
  if (tfrt_task_list_is_empty(&tasks)) return;
  tfrt_node_lock_run_t* outer = find_run(lock);
  if (outer) {
    move_tasks(&tasks, &outer->tasks);
    return;
  }
  tfrt_node_lock_run_t run = {.lock = lock, .tasks = tasks, .outer = current_run};
  current_run = &run;
  for (tfrt_task_t* task; (task = tfrt_task_list_pop_front(&run.tasks));) task->run(task);
  current_run = run.outer;
}
