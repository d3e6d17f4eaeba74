// SPDX-License-Identifier: Apache-2.0
//
// A function that runs in a work queue, and a value that stands for its result until then: tasks
// (task.h) for callers that don't want to keep a node.
//
//   tfrt_work_queue_run(queue, f, argument) --> value (+1), unresolved
//                         \--task--> f(argument) --> its value, to which the first one forwards
//
// Life:
//  1. Started: at once, or when another value is resolved. One block is allocated.
//  2. The function is called exactly once, on a thread of the queue.
//  3. The value is resolved as what the function returned, now or later.
//
// Thread rule: thread-safe.
// Failure rule: RESOURCE_EXHAUSTED when memory is out, or when a queue does not take a blocking
// task; the function is not called then, and what |argument| points to is still the caller's.
#ifndef TFRT_HOST_RUNTIME_ASYNC_QUEUED_WORK_H_
#define TFRT_HOST_RUNTIME_ASYNC_QUEUED_WORK_H_

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

// Does the work that |argument| stands for and returns its result (+1), which may be unresolved; an
// error is an error value.
typedef tfrt_async_value_t* (*tfrt_queued_work_fn_t)(void* argument);

// Runs |work| with |argument| in |queue| and sets |*out_result| (+1) to what it will return.
// |allocator| outlives that. Thread-safe.
tfrt_status_t tfrt_work_queue_run(tfrt_work_queue_t* queue, tfrt_queued_work_fn_t work,
                                  void* argument, tfrt_allocator_t allocator,
                                  tfrt_async_value_t** out_result) TFRT_MUST_USE;

// The same for work that may block; see tfrt_work_queue_add_blocking_task(). Thread-safe.
tfrt_status_t tfrt_work_queue_run_blocking(tfrt_work_queue_t* queue, bool allow_queuing,
                                           tfrt_queued_work_fn_t work, void* argument,
                                           tfrt_allocator_t allocator,
                                           tfrt_async_value_t** out_result) TFRT_MUST_USE;

// The same as tfrt_work_queue_run(), once |value| (+0; retained until then) is resolved, as an
// error too. Demands its payload. The queue outlives that. Thread-safe.
tfrt_status_t tfrt_work_queue_run_after(tfrt_work_queue_t* queue, tfrt_async_value_t* value,
                                        tfrt_queued_work_fn_t work, void* argument,
                                        tfrt_allocator_t allocator, tfrt_async_value_t** out_result)
    TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_QUEUED_WORK_H_
