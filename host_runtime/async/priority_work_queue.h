// SPDX-License-Identifier: Apache-2.0
//
// Work queues that share the threads of another one by priority: one for each level, handed to
// requests (request_context.h) so that the tasks of an urgent one don't wait behind those of
// others.
//
//   queue of level 0 (first)  --\                          thread takes the first task
//   queue of level 1          ---+--> lists by level  <--  of the highest level that has one
//   queue of level 2          ---+       |
//   queue of level 3 (last)   --/        +--> as many turns in the base queue as there are tasks
//
// A task is taken when a thread of the base queue has nothing else to do: tasks that run are not
// interrupted, and tasks that were added to the base queue itself are no part of this. While there
// are tasks of higher levels, lower ones wait, however long. Blocking tasks go to the base queue as
// they are, since they may not be held up by each other anyway.
//
// Life:
//  1. All four are created at once over a base queue, at +1 each.
//  2. Quiesced, as any queue; that is to say, the base queue is.
//  3. Released; with the last of the four goes their reference to the base queue.
//
// Thread rule: thread-safe.
// Failure rule: creation fails with RESOURCE_EXHAUSTED. A task for which memory is out runs in the
// caller, as with any queue that is full.
#ifndef TFRT_HOST_RUNTIME_ASYNC_PRIORITY_WORK_QUEUE_H_
#define TFRT_HOST_RUNTIME_ASYNC_PRIORITY_WORK_QUEUE_H_

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"

TFRT_API_BEGIN

// The levels, the most urgent first.
typedef enum tfrt_priority_e {
  TFRT_PRIORITY_CRITICAL = 0,
  TFRT_PRIORITY_HIGH = 1,
  TFRT_PRIORITY_DEFAULT = 2,
  TFRT_PRIORITY_LOW = 3,
  TFRT_PRIORITY_COUNT = 4,
} tfrt_priority_t;

// Sets |out_queues|, by priority, to new queues (+1 each) over |base| (retained). Thread-safe.
tfrt_status_t tfrt_priority_work_queues_create(tfrt_work_queue_t* base, tfrt_allocator_t allocator,
                                               tfrt_work_queue_t* out_queues[TFRT_PRIORITY_COUNT])
    TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_PRIORITY_WORK_QUEUE_H_
