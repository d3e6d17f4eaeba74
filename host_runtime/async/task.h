// SPDX-License-Identifier: Apache-2.0
//
// A piece of work that runs once: the node of every waiter list and of every work
// queue. A task is embedded in the object that the work is about, so that waiting and queueing
// never allocate; the same node may wait for a value first and be queued afterwards.
//
// Life:
//  1. Initialised by its owner, in the owner's storage.
//  2. Given to exactly one list (an AsyncValue's waiters, or a work queue), which
//     owns the node, not the storage, until it calls |run|.
//  3. |run| is called exactly once. From then on the storage is the owner's again:
//     it may be freed or given away inside of |run|.
//
// |run| MAY block only in a blocking queue. It MUST NOT assume a thread, and is
// called with no lock held.
//
// Thread rule: thread-compatible; the list it is given to does the hand-over.
#ifndef TFRT_HOST_RUNTIME_ASYNC_TASK_H_
#define TFRT_HOST_RUNTIME_ASYNC_TASK_H_

#include <stdalign.h>

#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

typedef struct tfrt_task_s tfrt_task_t;

typedef void (*tfrt_task_fn_t)(tfrt_task_t* task);

// Aligned so that an AsyncValue's state fits into the low bits of a pointer to it.
struct tfrt_task_s {
  alignas(8) tfrt_task_t* next;  // owned by the list that the task is in
  tfrt_task_fn_t run;
};

// Makes |task| call |run|. Thread-compatible (caller synchronises).
static inline void tfrt_task_initialize(tfrt_task_t* task, tfrt_task_fn_t run) {
  task->next = 0;
  task->run = run;
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_TASK_H_
