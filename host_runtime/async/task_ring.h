// SPDX-License-Identifier: Apache-2.0
//
// Tasks from one thread for many: the owner puts them in at the bottom, all others take several at
// once from the top, and so does the owner. First in, first out; lock-free. Several can be taken by
// one exchange because nobody, not even the owner, takes from the bottom (task_deque.h has that).
//
//          top                     bottom
//           v                         v
//   [ ... ][ oldest | ... | newest ][ free ... ]        indices only grow
//      take ^                         ^ put
//
// Thread rule: put only by the owner, which may change while nobody puts; the rest is thread-safe.
// Failure rule: put says no when the ring is full.
#ifndef TFRT_HOST_RUNTIME_ASYNC_TASK_RING_H_
#define TFRT_HOST_RUNTIME_ASYNC_TASK_RING_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/async/task.h"

#define TFRT_TASK_RING_CAPACITY 1024

// |top| is written by all, |bottom| by the owner alone: on lines of their own.
typedef struct tfrt_task_ring_s {
  _Alignas(64) _Atomic uint64_t top;
  _Alignas(64) _Atomic uint64_t bottom;
  uint64_t seen_top;  // the owner's: |top| is this or later
  _Atomic(tfrt_task_t*) slots[TFRT_TASK_RING_CAPACITY];
} tfrt_task_ring_t;

// Makes |ring| empty. Thread-compatible.
void tfrt_task_ring_initialize(tfrt_task_ring_t* ring);

// Puts |task| behind the others, or returns false if there is no room. Owner only.
bool tfrt_task_ring_put(tfrt_task_ring_t* ring, tfrt_task_t* task);

// Returns true if there are more than |limit| tasks. Owner only.
bool tfrt_task_ring_is_long(tfrt_task_ring_t* ring, size_t limit);

// Takes the oldest tasks into |tasks|, one in |parts| of all, but at least one if there is any, and
// at most |most|. Returns their number. Thread-safe.
size_t tfrt_task_ring_take(tfrt_task_ring_t* ring, size_t parts, size_t most, tfrt_task_t** tasks);

// Returns true if there is no task. A put before this, in the one order of sequential consistency,
// is seen. Thread-safe.
bool tfrt_task_ring_is_empty(const tfrt_task_ring_t* ring);

#endif  // TFRT_HOST_RUNTIME_ASYNC_TASK_RING_H_
