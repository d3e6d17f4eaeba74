// SPDX-License-Identifier: Apache-2.0
//
// One task that waits for many values.
//
//   value 0 --waiter--+
//   value 1 --waiter--+--> counter --0--> task
//   value 2 --waiter--+
//
// Life:
//  1. tfrt_join_and_then() asks for all values. Values that are pending then get a waiter each, in
//     one block; with one pending value or none, nothing is allocated.
//  2. The last waiter frees the block and runs the task, on its own thread.
//
// Thread rule: thread-safe.
// Failure rule: RESOURCE_EXHAUSTED when memory is out; the task was not taken then.
#ifndef TFRT_HOST_RUNTIME_ASYNC_JOIN_H_
#define TFRT_HOST_RUNTIME_ASYNC_JOIN_H_

#include <stddef.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

// Runs |task| when all |count| values at |values| are resolved (an error counts):
// at once, if they are. Demands their payloads. The array may go after the call; the
// caller keeps the values alive until |task| runs. |allocator| must outlive that.
// Thread-safe.
tfrt_status_t tfrt_join_and_then(tfrt_async_value_t* const* values, size_t count, tfrt_task_t* task,
                                 tfrt_allocator_t allocator) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_JOIN_H_
