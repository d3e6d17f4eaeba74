// SPDX-License-Identifier: Apache-2.0
//
// Threads that are none of a pool's and run calls on it, and the tasks that these make. Each such
// guest has a ring, which the pool's workers take from. A guest makes tasks faster than a wake of
// a worker takes; so one worker that finds nothing naps for a moment instead of sleeping, and wakes
// by itself.
//
//   guests -> [ ring | is_taken ] -> [ ring | is_taken ] -> NULL       the newest first
//   napper -> a worker's parker, or NULL
//
// Life of a guest:
//  1. A thread enters: it gets a ring that no other thread has, or a new one.
//  2. It puts tasks there, for workers and for itself.
//  3. It leaves. The workers take the tasks that are left, and another thread may get the ring.
//
// Why no wake-up is lost: the napper announces itself, and then looks for tasks once more; a thread
// that adds a task makes it visible, and then looks for a napper. All of that is sequentially
// consistent.
//
// Thread rule: thread-safe, but for initialize and deinitialize (thread-compatible).
// Failure rule: enter returns NULL when memory is out.
#ifndef TFRT_HOST_RUNTIME_ASYNC_GUESTS_H_
#define TFRT_HOST_RUNTIME_ASYNC_GUESTS_H_

#include "host_runtime/async/task_ring.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/parker.h"

typedef struct tfrt_guests_s tfrt_guests_t;

typedef struct tfrt_guest_s {
  tfrt_task_ring_t ring;
  const tfrt_guests_t* guests;
  struct tfrt_guest_s* next;  // doesn't change once the guest is in the list
  _Atomic bool is_taken;      // a thread has it
} tfrt_guest_t;

struct tfrt_guests_s {
  tfrt_allocator_t allocator;
  // Grows only, until the pool ends: as long as the most threads that ran calls at once.
  _Atomic(tfrt_guest_t*) first;
  _Atomic int count;               // those that are taken
  _Atomic(tfrt_parker_t*) napper;  // of a worker that looks again after a nap; or NULL
};

// Makes |guests| empty. Thread-compatible.
void tfrt_guests_initialize(tfrt_guests_t* guests, tfrt_allocator_t allocator);

// Gives back the rings, which are empty. Thread-compatible.
void tfrt_guests_deinitialize(tfrt_guests_t* guests);

// Makes the calling thread a guest until it leaves, or returns NULL when memory is out.
// Thread-safe.
tfrt_guest_t* tfrt_guests_enter(tfrt_guests_t* guests);
void tfrt_guests_leave(tfrt_guests_t* guests, tfrt_guest_t* guest);

// Returns true if any guest has tasks; none that was put before is overlooked. Thread-safe.
bool tfrt_guests_have_tasks(const tfrt_guests_t* guests);

// Takes tasks of the first guest that has some, as tfrt_task_ring_take(). Thread-safe.
size_t tfrt_guests_take(const tfrt_guests_t* guests, size_t parts, size_t most,
                        tfrt_task_t** tasks);

// Lets a worker, which sleeps at |parker|, nap if a guest may make tasks right away, unless
// |has_work| says of |pool| that there are some. Returns false if it hasn't napped. Worker's thread
// only.
bool tfrt_guests_nap(tfrt_guests_t* guests, tfrt_parker_t* parker, bool (*has_work)(void* pool),
                     void* pool);

// Ends the nap of the worker that naps, if one does. Thread-safe.
void tfrt_guests_wake_napper(tfrt_guests_t* guests);

#endif  // TFRT_HOST_RUNTIME_ASYNC_GUESTS_H_
