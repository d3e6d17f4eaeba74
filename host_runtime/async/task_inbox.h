// SPDX-License-Identifier: Apache-2.0
//
// Tasks on their way to a work queue from threads that are none of its own: any number of threads
// put tasks in, one operation each, and the thread that serves the queue takes all of them at once.
//
//   put:   newest -> ... -> oldest      a stack, linked through the tasks
//   take:  oldest -> ... -> newest      turned round by the taker
//
// Nothing is ever taken from the middle, so that it doesn't matter that a task may leave and come
// back while another one is being put in front of it.
//
// Thread rule: thread-safe. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_ASYNC_TASK_INBOX_H_
#define TFRT_HOST_RUNTIME_ASYNC_TASK_INBOX_H_

#include <stdatomic.h>
#include <stdbool.h>

#include "host_runtime/async/task_list.h"

// Zeroed, it is empty.
typedef struct tfrt_task_inbox_s {
  _Atomic(tfrt_task_t*) newest;
} tfrt_task_inbox_t;

// Puts |task| behind all that are in |inbox|. Thread-safe.
static inline void tfrt_task_inbox_put(tfrt_task_inbox_t* inbox, tfrt_task_t* task) {
  tfrt_task_t* newest = atomic_load_explicit(&inbox->newest, memory_order_relaxed);
  do {
    task->next = newest;
    // Sequentially consistent: as a release, it hands over the task and its link; partner of the
    // exchange in take. And it comes before the adder's look at who sleeps; partner of is_empty.
  } while (!atomic_compare_exchange_weak_explicit(&inbox->newest, &newest, task,
                                                  memory_order_seq_cst, memory_order_relaxed));
}

// Returns true if nothing is in |inbox|. A put before this, in the one order of sequential
// consistency, is seen. Thread-safe.
static inline bool tfrt_task_inbox_is_empty(const tfrt_task_inbox_t* inbox) {
  // Sequentially consistent: partner of the exchange in put.
  return !atomic_load_explicit(&((tfrt_task_inbox_t*)inbox)->newest, memory_order_seq_cst);
}

// Moves all that is in |inbox| to the end of |list|, in the order in which it came, and returns the
// number of tasks. Thread-safe for |inbox|; |list| is the caller's.
static inline size_t tfrt_task_inbox_take(tfrt_task_inbox_t* inbox, tfrt_task_list_t* list) {
  // Acquire: the tasks; partner of the exchange in put.
  tfrt_task_t* last = atomic_exchange_explicit(&inbox->newest, NULL, memory_order_acquire);
  tfrt_task_t* first = NULL;
  size_t count = 0;
  for (tfrt_task_t* task = last; task;) {
    tfrt_task_t* older = task->next;
    task->next = first;
    first = task;
    task = older;
    ++count;
  }
  if (first) tfrt_task_list_append(list, first, last);
  return count;
}

#endif  // TFRT_HOST_RUNTIME_ASYNC_TASK_INBOX_H_
