// SPDX-License-Identifier: Apache-2.0
//
// Threads for tasks that may block: reading files, waiting for a device. Each task has
// a thread for itself while it runs. Threads are started when there is a task and none
// is idle, up to a limit, and then kept for the next tasks.
//
//   add --> idle thread?        --> it runs the task
//       --> fewer than the max? --> a new thread runs it
//       --> may be queued?      --> waits, first in first out, for a thread
//       --> refused
//
// Life:
//  1. Initialised in the owner's storage; no thread is started.
//  2. Tasks are added.
//  3. Deinitialised, when nothing is queued: the threads are ended and joined.
//
// Thread rule: thread-safe after initialisation.
// Failure rule: adding a task may be refused; then it was not taken.
#ifndef TFRT_HOST_RUNTIME_ASYNC_BLOCKING_POOL_H_
#define TFRT_HOST_RUNTIME_ASYNC_BLOCKING_POOL_H_

#include <stdbool.h>
#include <stddef.h>

#include "host_runtime/async/task_list.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/sync.h"

// Callbacks to the owner. Called with no lock held.
typedef struct tfrt_blocking_pool_callbacks_s {
  // Called once by each thread, before its first task.
  void (*on_thread_start)(void* owner);
  // Called after each task, which the pool has no account of any more.
  void (*on_task_done)(void* owner);
} tfrt_blocking_pool_callbacks_t;

typedef struct tfrt_blocking_pool_s {
  const tfrt_blocking_pool_callbacks_t* callbacks;
  void* owner;
  tfrt_allocator_t allocator;
  size_t max_thread_count;
  tfrt_thread_t* threads;  // room for the maximum
  tfrt_mutex_t mutex;      // guards all below, and |threads|
  tfrt_condition_t condition;
  tfrt_task_list_t tasks;
  size_t queued_count;
  size_t running_count;
  size_t thread_count;
  size_t refused_at_count;  // the number of the thread that the system refused last; 0: none
  bool is_stopping;
} tfrt_blocking_pool_t;

// Makes |pool| one of at most |max_thread_count| threads. |callbacks| is static.
// RESOURCE_EXHAUSTED when memory is out. Thread-compatible.
tfrt_status_t tfrt_blocking_pool_initialize(tfrt_blocking_pool_t* pool, size_t max_thread_count,
                                            const tfrt_blocking_pool_callbacks_t* callbacks,
                                            void* owner, tfrt_allocator_t allocator) TFRT_MUST_USE;

// Ends and joins the threads of |pool|, where no task is queued and those that run are about to
// end. Thread-compatible.
void tfrt_blocking_pool_deinitialize(tfrt_blocking_pool_t* pool);

// Runs |task| on a thread of its own: at once, or, with |allow_queuing|, when one is
// free. Returns false, and has not taken the task, if there is none. Thread-safe.
bool tfrt_blocking_pool_add(tfrt_blocking_pool_t* pool, tfrt_task_t* task, bool allow_queuing)
    TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_ASYNC_BLOCKING_POOL_H_
