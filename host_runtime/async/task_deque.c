// SPDX-License-Identifier: Apache-2.0
//
// Usual versions of this deque order with fences; here the order is on the operations
// on |top| and |bottom|, so that tools can check it.
#include "host_runtime/async/task_deque.h"

#include <stddef.h>

static _Atomic(tfrt_task_t*)* slot(tfrt_task_deque_t* deque, int64_t index) {
  return &deque->ring[index & (TFRT_TASK_DEQUE_CAPACITY - 1)];
}

_Static_assert((TFRT_TASK_DEQUE_CAPACITY & (TFRT_TASK_DEQUE_CAPACITY - 1)) == 0,
               "the capacity is a power of two");

void tfrt_task_deque_initialize(tfrt_task_deque_t* deque) {
  atomic_init(&deque->top, 0);
  atomic_init(&deque->bottom, 0);
  for (int64_t i = 0; i < TFRT_TASK_DEQUE_CAPACITY; ++i) atomic_init(slot(deque, i), NULL);
}

bool tfrt_task_deque_push(tfrt_task_deque_t* deque, tfrt_task_t* task) {
  // Relaxed: only this thread writes |bottom|.
  int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
  // Acquire: pairs with the thief's exchange, whose read of the slot comes before; the
  // slot may be overwritten then.
  int64_t top = atomic_load_explicit(&deque->top, memory_order_acquire);
  if (bottom - top >= TFRT_TASK_DEQUE_CAPACITY) return false;
  // Relaxed: the store of |bottom| publishes it.
  atomic_store_explicit(slot(deque, bottom), task, memory_order_relaxed);
  // Sequentially consistent, for two reasons. As a release, the store hands the task to a thief's
  // load of |bottom|. It also comes before the pool looks for awake workers, so that a worker that
  // goes to sleep sees the task, or is seen (thread_pool_work_queue.c).
  atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_seq_cst);
  return true;
}

tfrt_task_t* tfrt_task_deque_pop(tfrt_task_deque_t* deque) {
  // Relaxed: only this thread writes |bottom|.
  int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed) - 1;
  // Sequentially consistent, both: the owner takes the slot away, then looks for
  // thieves; a thief raises |top|, having looked at |bottom|. For the last task at
  // least one of them sees the other, and the exchange below decides.
  atomic_store_explicit(&deque->bottom, bottom, memory_order_seq_cst);
  int64_t top = atomic_load_explicit(&deque->top, memory_order_seq_cst);
  if (top > bottom) {
    // Release, here and below: thieves that read this |bottom| must see the slots that
    // earlier pushes filled.
    atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_release);
    return NULL;
  }
  tfrt_task_t* task = atomic_load_explicit(slot(deque, bottom), memory_order_relaxed);
  if (top < bottom) return task;
  // Sequentially consistent: its partner is the thief's exchange of |top|.
  if (!atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1, memory_order_seq_cst,
                                               memory_order_relaxed)) {
    task = NULL;
  }
  atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_release);
  return task;
}

tfrt_task_t* tfrt_task_deque_steal(tfrt_task_deque_t* deque) {
  // Sequentially consistent: in this order, and against those in the owner's pop.
  int64_t top = atomic_load_explicit(&deque->top, memory_order_seq_cst);
  int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_seq_cst);
  if (top >= bottom) return NULL;
  // Relaxed: may be a newer task that overwrote the slot after |top| went on; then the
  // exchange fails and it is not used.
  tfrt_task_t* task = atomic_load_explicit(slot(deque, top), memory_order_relaxed);
  // Sequentially consistent: its partners are itself in other thieves and the
  // exchange in the owner's pop. As a release, it pairs with the acquire in push.
  if (!atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1, memory_order_seq_cst,
                                               memory_order_relaxed)) {
    return NULL;
  }
  return task;
}

bool tfrt_task_deque_is_empty(const tfrt_task_deque_t* deque) {
  tfrt_task_deque_t* mutable_deque = (tfrt_task_deque_t*)deque;
  // Sequentially consistent: partner of the store of |bottom| in push. |top| first: it
  // only grows, so a task that is there all the time is not overlooked.
  int64_t top = atomic_load_explicit(&mutable_deque->top, memory_order_seq_cst);
  int64_t bottom = atomic_load_explicit(&mutable_deque->bottom, memory_order_seq_cst);
  return top >= bottom;
}
