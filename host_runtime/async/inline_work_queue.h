// SPDX-License-Identifier: Apache-2.0
//
// The work queue without threads ("single-threaded"): a list of tasks, which the thread that calls
// await or quiesce (usually the main thread) runs in first-in first-out order. Each run of a
// program with it is the same as the one before, which makes it the queue of tests, and of
// bef_executor unless told otherwise.
//
// Life:
//  1. Created.
//  2. Tasks are added, from any thread. They wait.
//  3. await runs tasks until its values are resolved, quiesce until there are none.
//     With nothing to run, both sleep; a task that another thread adds, or a value
//     that it resolves, wakes them.
//     One thread runs at a time, the *runner*; others who call in meanwhile sleep, and
//     one of them goes on when the runner leaves.
//  4. Released, when no task is left.
//
// Blocking tasks share the list, if they may be queued, and hold up all others; the
// ones that must start at once on a thread of their own are refused.
//
// The list is the runner's own: what its tasks add takes no lock and no atomic operation.
// Tasks of other threads come by an inbox, which is emptied before anything is put behind it, so
// that tasks run in the order in which they were added.
//
// Thread rule: thread-safe. Several threads may be in await at once.
// Failure rule: only creation fails, when memory is out.
#ifndef TFRT_HOST_RUNTIME_ASYNC_INLINE_WORK_QUEUE_H_
#define TFRT_HOST_RUNTIME_ASYNC_INLINE_WORK_QUEUE_H_

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

// Sets |*out_queue| to a new queue (+1). RESOURCE_EXHAUSTED when memory is out.
// Thread-safe.
tfrt_status_t tfrt_inline_work_queue_create(tfrt_allocator_t allocator,
                                            tfrt_work_queue_t** out_queue) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_INLINE_WORK_QUEUE_H_
