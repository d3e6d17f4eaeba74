// SPDX-License-Identifier: Apache-2.0
//
// A first-in first-out list of tasks, linked through their own |next|.
//
// Thread rule: thread-compatible (caller synchronises). Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_ASYNC_TASK_LIST_H_
#define TFRT_HOST_RUNTIME_ASYNC_TASK_LIST_H_

#include <stdbool.h>
#include <stddef.h>

#include "host_runtime/async/task.h"

// All zero is an empty list.
typedef struct tfrt_task_list_s {
  tfrt_task_t* first;
  tfrt_task_t* last;  // only valid while |first| is not NULL
} tfrt_task_list_t;

// Returns true if |list| has no task. Thread-compatible.
static inline bool tfrt_task_list_is_empty(const tfrt_task_list_t* list) { return !list->first; }

// Puts the tasks from |first| to |last|, which are linked and end there, behind those of |list|.
// Thread-compatible.
static inline void tfrt_task_list_append(tfrt_task_list_t* list, tfrt_task_t* first,
                                         tfrt_task_t* last) {
  if (list->first) {
    list->last->next = first;
  } else {
    list->first = first;
  }
  list->last = last;
}

// Makes |task| the last one of |list|. Thread-compatible.
static inline void tfrt_task_list_push_back(tfrt_task_list_t* list, tfrt_task_t* task) {
  task->next = NULL;
  tfrt_task_list_append(list, task, task);
}

// Takes out and returns the first task of |list|, or NULL. Thread-compatible.
static inline tfrt_task_t* tfrt_task_list_pop_front(tfrt_task_list_t* list) {
  tfrt_task_t* task = list->first;
  if (task) list->first = task->next;
  return task;
}

#endif  // TFRT_HOST_RUNTIME_ASYNC_TASK_LIST_H_
