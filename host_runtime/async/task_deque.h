// SPDX-License-Identifier: Apache-2.0
//
// The tasks of one worker thread: the owner pushes and pops at the bottom, newest
// first, because what it made last is still in its cache; thieves steal at the top,
// oldest first. Lock-free, after Chase and Lev (2005), with a ring of fixed size: what
// doesn't fit goes elsewhere.
//
//          top                     bottom
//           v                         v
//   [ ... ][ oldest | ... | newest ][ free ... ]        indices only grow
//     steal ^              pop, push ^
//
// Thread rule: push and pop only by the owner; the rest is thread-safe.
// Failure rule: push says no when the ring is full.
#ifndef TFRT_HOST_RUNTIME_ASYNC_TASK_DEQUE_H_
#define TFRT_HOST_RUNTIME_ASYNC_TASK_DEQUE_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/async/task.h"

#define TFRT_TASK_DEQUE_CAPACITY 1024

// |top| is written by all, |bottom| by the owner alone: on lines of their own.
typedef struct tfrt_task_deque_s {
  _Alignas(64) _Atomic int64_t top;
  _Alignas(64) _Atomic int64_t bottom;
  _Atomic(tfrt_task_t*) ring[TFRT_TASK_DEQUE_CAPACITY];
} tfrt_task_deque_t;

// Makes |deque| empty. Thread-compatible.
void tfrt_task_deque_initialize(tfrt_task_deque_t* deque);

// Puts |task| at the bottom, or returns false if there is no room. Owner only.
bool tfrt_task_deque_push(tfrt_task_deque_t* deque, tfrt_task_t* task);

// Takes the newest task, or returns NULL if there is none. Owner only.
tfrt_task_t* tfrt_task_deque_pop(tfrt_task_deque_t* deque);

// Takes the oldest task; NULL if there is none, or if another thread was faster.
// Thread-safe.
tfrt_task_t* tfrt_task_deque_steal(tfrt_task_deque_t* deque);

// Returns true if there is no task. A push before this, in the one order of sequential
// consistency, is seen. Thread-safe.
bool tfrt_task_deque_is_empty(const tfrt_task_deque_t* deque);

#endif  // TFRT_HOST_RUNTIME_ASYNC_TASK_DEQUE_H_
