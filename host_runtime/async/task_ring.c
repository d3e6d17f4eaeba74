// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/task_ring.h"

_Static_assert((TFRT_TASK_RING_CAPACITY & (TFRT_TASK_RING_CAPACITY - 1)) == 0,
               "the capacity is a power of two");

static _Atomic(tfrt_task_t*)* slot(tfrt_task_ring_t* ring, uint64_t index) {
  return &ring->slots[index & (TFRT_TASK_RING_CAPACITY - 1)];
}

void tfrt_task_ring_initialize(tfrt_task_ring_t* ring) {
  atomic_init(&ring->top, 0);
  atomic_init(&ring->bottom, 0);
  ring->seen_top = 0;
  // A slot is read only behind the put that filled it.
}

bool tfrt_task_ring_put(tfrt_task_ring_t* ring, tfrt_task_t* task) {
  // Relaxed: only the owner writes |bottom|.
  uint64_t bottom = atomic_load_explicit(&ring->bottom, memory_order_relaxed);
  if (TFRT_UNLIKELY(bottom - ring->seen_top == TFRT_TASK_RING_CAPACITY)) {
    // Acquire: partner of the exchange in take, before which the slot was read. It may be
    // overwritten then.
    ring->seen_top = atomic_load_explicit(&ring->top, memory_order_acquire);
    if (bottom - ring->seen_top == TFRT_TASK_RING_CAPACITY) return false;
  }
  // Relaxed: the store of |bottom| publishes it.
  atomic_store_explicit(slot(ring, bottom), task, memory_order_relaxed);
  // Sequentially consistent: as a release, it hands the task over; partner of the load of |bottom|
  // in take. And it comes before the owner's look at who sleeps; partner of is_empty.
  atomic_store_explicit(&ring->bottom, bottom + 1, memory_order_seq_cst);
  return true;
}

bool tfrt_task_ring_is_long(tfrt_task_ring_t* ring, size_t limit) {
  // Relaxed: only the owner writes |bottom|.
  uint64_t bottom = atomic_load_explicit(&ring->bottom, memory_order_relaxed);
  // The top that was seen last may be too early, never too late.
  if (TFRT_LIKELY(bottom - ring->seen_top <= limit)) return false;
  // Acquire: as in put.
  ring->seen_top = atomic_load_explicit(&ring->top, memory_order_acquire);
  return bottom - ring->seen_top > limit;
}

size_t tfrt_task_ring_take(tfrt_task_ring_t* ring, size_t parts, size_t most, tfrt_task_t** tasks) {
  // Relaxed: the exchange below decides whether this is still the top.
  uint64_t top = atomic_load_explicit(&ring->top, memory_order_relaxed);
  for (;;) {
    // Acquire: the slots; partner of the store in put.
    uint64_t bottom = atomic_load_explicit(&ring->bottom, memory_order_acquire);
    // Signed: |top| may be newer than this |bottom|.
    int64_t there = (int64_t)(bottom - top);
    if (there <= 0) return 0;
    size_t count = (size_t)there / parts;
    if (count == 0) count = 1;
    if (count > most) count = most;
    // Relaxed: may be newer tasks that overwrote the slots after |top| went on; then the exchange
    // fails.
    for (size_t i = 0; i < count; ++i) {
      tasks[i] = atomic_load_explicit(slot(ring, top + i), memory_order_relaxed);
    }
    // Release: the reads above; partner of the acquire in put. Its other partners are itself in
    // other threads.
    if (atomic_compare_exchange_weak_explicit(&ring->top, &top, top + count, memory_order_acq_rel,
                                              memory_order_relaxed)) {
      return count;
    }
  }
}

bool tfrt_task_ring_is_empty(const tfrt_task_ring_t* ring) {
  tfrt_task_ring_t* mutable_ring = (tfrt_task_ring_t*)ring;
  // Sequentially consistent: partner of the store of |bottom| in put. |top| first: it only grows,
  // so a task that is there all the time is not overlooked.
  uint64_t top = atomic_load_explicit(&mutable_ring->top, memory_order_seq_cst);
  uint64_t bottom = atomic_load_explicit(&mutable_ring->bottom, memory_order_seq_cst);
  return top >= bottom;
}
