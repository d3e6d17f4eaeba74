// SPDX-License-Identifier: Apache-2.0
//
// The work queue of real machines: compute threads that steal work from each other, and
// other threads for tasks that block.
//
//   a worker adds a task ---> its own deque --pop, newest first--> runs it
//                                   |
//                                   +--steal, oldest first--> another worker runs it
//   anyone else adds one --> shared list ---> the next worker that has nothing
//
// Life:
//  1. Created; no thread is started.
//  2. Tasks are added. Threads are started when there is work and nobody idle for it,
//     and sleep when there is nothing to do.
//  3. quiesce, then released: the last release joins the threads.
//
// Waking: a worker that has found nothing *searches* for a moment before it sleeps.
// While somebody searches, an added task wakes nobody; the searcher that finds one
// wakes the next if there is more. So a burst of tasks does not wake a thread for each
// of them: as many as it can feed are woken, one by one.
//
// Waiting: a compute task may wait for values with tfrt_work_queue_await(). Another thread does its
// worker's work meanwhile, so that tasks that wait for others never keep these from running. There
// are threads for 1024 such waits at once; in one beyond that the task runs others while it waits.
//
// Order: none is promised, but no task waits for ever: each worker looks now and then
// at the shared list, and at the oldest end of its own deque, first.
//
// Thread rule: thread-safe.
// Failure rule: creation fails for bad numbers (INVALID_ARGUMENT) and when memory is
// out. If the system gives no thread at all, compute tasks run in who adds them.
#ifndef TFRT_HOST_RUNTIME_ASYNC_THREAD_POOL_WORK_QUEUE_H_
#define TFRT_HOST_RUNTIME_ASYNC_THREAD_POOL_WORK_QUEUE_H_

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

#define TFRT_THREAD_POOL_DEFAULT_BLOCKING_THREADS 256
#define TFRT_THREAD_POOL_MAX_THREADS 4096

// The most threads of each sort that a queue has.
typedef struct tfrt_thread_pool_options_s {
  int thread_count;  // of compute threads; 0: one per processor
  // Threads for blocking tasks that may be queued, and as many again for those that must
  // start at once; 0: TFRT_THREAD_POOL_DEFAULT_BLOCKING_THREADS.
  int blocking_thread_count;
  // Binds compute thread i to processor i of those that the process may use, round and
  // round: for machines that run nothing else. Blocking threads are never bound.
  bool pin_threads;
} tfrt_thread_pool_options_t;

// Sets |*out_queue| to a new queue (+1). Thread-safe.
tfrt_status_t tfrt_thread_pool_work_queue_create(const tfrt_thread_pool_options_t* options,
                                                 tfrt_allocator_t allocator,
                                                 tfrt_work_queue_t** out_queue) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_THREAD_POOL_WORK_QUEUE_H_
