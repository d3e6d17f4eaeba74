// SPDX-License-Identifier: Apache-2.0
//
// Where tasks run. One interface, several implementations:
//  - inline_work_queue.h: no threads; the host thread runs tasks in first-in
//    first-out order inside of await and quiesce (TFRT's "single-threaded");
//  - thread_pool_work_queue.h: work-stealing compute threads, and a separate pool
//    for tasks that block (TFRT's "mstd").
//
// Life:
//  1. Created at +1 by an implementation.
//  2. Tasks are added from any thread, also from tasks.
//  3. quiesce: no task is left.
//  4. Released: the last release waits for running tasks and ends the threads. A
//     queue must be quiescent then.
//
// Thread rule: thread-safe unless a function says otherwise.
// Failure rule: adding a task to the compute queue never fails (a full queue runs
// it in the caller); adding a blocking one may, see there.
#ifndef TFRT_HOST_RUNTIME_ASYNC_WORK_QUEUE_H_
#define TFRT_HOST_RUNTIME_ASYNC_WORK_QUEUE_H_

#include <stdbool.h>
#include <stddef.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/async/task.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/ref_count.h"

TFRT_API_BEGIN

typedef struct tfrt_work_queue_s tfrt_work_queue_t;

typedef struct tfrt_work_queue_vtable_s {
  void (*destroy)(tfrt_work_queue_t* queue);
  void (*add_task)(tfrt_work_queue_t* queue, tfrt_task_t* task);
  bool (*add_blocking_task)(tfrt_work_queue_t* queue, tfrt_task_t* task, bool allow_queuing);
  void (*await)(tfrt_work_queue_t* queue, tfrt_async_value_t* const* values, size_t count);
  void (*quiesce)(tfrt_work_queue_t* queue);
  int (*parallelism)(const tfrt_work_queue_t* queue);
  bool (*is_in_worker_thread)(const tfrt_work_queue_t* queue);
  const char* (*name)(const tfrt_work_queue_t* queue);
  void (*run_here)(tfrt_work_queue_t* queue, tfrt_task_t* task);    // NULL: nothing but the task
  void (*run_or_add)(tfrt_work_queue_t* queue, tfrt_task_t* task);  // NULL: as add_task
  void (*note_backlog)(tfrt_work_queue_t* queue);                   // NULL: nothing
} tfrt_work_queue_vtable_t;

// Embedded first in every implementation.
struct tfrt_work_queue_s {
  const tfrt_work_queue_vtable_t* vtable;
  tfrt_ref_count_t ref_count;
};

// Adds one reference to |queue| and returns it. Thread-safe.
tfrt_work_queue_t* tfrt_work_queue_retain(tfrt_work_queue_t* queue);

// Drops one reference; NULL is allowed. The last one must not be dropped by one of
// the queue's own tasks. Thread-safe.
void tfrt_work_queue_release(tfrt_work_queue_t* queue);

// Runs |task| some time, on some thread of the queue. Thread-safe.
void tfrt_work_queue_add_task(tfrt_work_queue_t* queue, tfrt_task_t* task);

// Runs |task|, which may block, on a thread kept for such tasks. With
// |allow_queuing| it may have to wait for others to end; without, it starts at once
// on a thread of its own. Returns false, and has not taken the task, if that is
// impossible (limit reached, or a queue without threads). Thread-safe.
bool tfrt_work_queue_add_blocking_task(tfrt_work_queue_t* queue, tfrt_task_t* task,
                                       bool allow_queuing) TFRT_MUST_USE;

// Runs |task| before it returns, on the calling thread. If the queue has no threads and no other
// thread runs its tasks, the calling thread is the queue's own meanwhile. So work that |task|
// starts may take long there, and need not be a task for that. For callers that would wait for it
// anyway, so not for a thread that has something else to do, such as to read messages. Thread-safe.
void tfrt_work_queue_run_here(tfrt_work_queue_t* queue, tfrt_task_t* task);

// Runs |task|, which is no long one, some time: before it returns, on the calling thread, which is
// none of the queue's, or, where tasks may only run on the queue's own threads, as
// tfrt_work_queue_add_task() does. For a thread that has learnt something that the task waits for,
// as what wakes another one takes longer than many a task. Thread-safe.
void tfrt_work_queue_run_or_add(tfrt_work_queue_t* queue, tfrt_task_t* task);

// Says that this thread has made much that waits for tasks of |queue|. If it runs a call by
// tfrt_work_queue_run_here(), it runs some of the tasks that it has added, at the next place where
// it may (backlog.h). Thread-safe.
void tfrt_work_queue_note_backlog(tfrt_work_queue_t* queue);

// Returns when all |values| are resolved; demands them. A task of the queue may call it only if the
// queue has threads (thread_pool_work_queue.h). Thread-safe.
void tfrt_work_queue_await(tfrt_work_queue_t* queue, tfrt_async_value_t* const* values,
                           size_t count);

// Returns when no task is queued or running. Not to be called by a task of the queue.
// Thread-safe.
void tfrt_work_queue_quiesce(tfrt_work_queue_t* queue);

// The number of tasks that can run at once; at least 1. Thread-safe.
int tfrt_work_queue_parallelism(const tfrt_work_queue_t* queue);

// Returns true on a thread that runs tasks of |queue|. Thread-safe.
bool tfrt_work_queue_is_in_worker_thread(const tfrt_work_queue_t* queue);

// The name as bef_executor prints it, e.g. "single-threaded". Lives as long as the
// queue. Thread-safe.
const char* tfrt_work_queue_name(const tfrt_work_queue_t* queue);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_WORK_QUEUE_H_
