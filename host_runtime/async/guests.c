// SPDX-License-Identifier: Apache-2.0

#include "host_runtime/async/guests.h"

// How long a worker naps. A nap costs as much as some 20 wakes, and a worker that is awake shares
// the lines of the caches with the guest: the longer it naps, the less both cost. Without naps, a
// guest that makes tasks faster than they are run would pay for a wake every few tasks. A task that
// waits for the end of a nap loses no more than what makes it worth another thread.
#define NAP_NS 200000

void tfrt_guests_initialize(tfrt_guests_t* guests, tfrt_allocator_t allocator) {
  guests->allocator = allocator;
  atomic_init(&guests->first, NULL);
  atomic_init(&guests->count, 0);
  atomic_init(&guests->napper, NULL);
}

static tfrt_guest_t* first_guest(const tfrt_guests_t* guests) {
  // Acquire: the guest; partner of the exchange in take_guest().
  return atomic_load_explicit(&((tfrt_guests_t*)guests)->first, memory_order_acquire);
}

void tfrt_guests_deinitialize(tfrt_guests_t* guests) {
  for (tfrt_guest_t* guest = first_guest(guests); guest;) {
    tfrt_guest_t* next = guest->next;
    tfrt_allocator_free_aligned(guests->allocator, guest, sizeof(*guest), _Alignof(tfrt_guest_t));
    guest = next;
  }
}

// Takes a guest that no thread has, or returns NULL when memory is out.
static tfrt_guest_t* take_guest(tfrt_guests_t* guests) {
  for (tfrt_guest_t* guest = first_guest(guests); guest; guest = guest->next) {
    // Acquire: the ring; partner of the release in tfrt_guests_leave().
    if (!atomic_exchange_explicit(&guest->is_taken, true, memory_order_acquire)) return guest;
  }
  tfrt_guest_t* guest =
      tfrt_allocator_allocate_aligned(guests->allocator, sizeof(*guest), _Alignof(tfrt_guest_t));
  if (!guest) return NULL;
  tfrt_task_ring_initialize(&guest->ring);
  guest->guests = guests;
  atomic_init(&guest->is_taken, true);
  // Relaxed: the exchange below decides whether this is still the first one.
  guest->next = atomic_load_explicit(&guests->first, memory_order_relaxed);
  // Release: the guest; partner of first_guest(). Acquire: those behind it, for that partner.
  while (!atomic_compare_exchange_weak_explicit(&guests->first, &guest->next, guest,
                                                memory_order_acq_rel, memory_order_relaxed)) {
  }
  return guest;
}

tfrt_guest_t* tfrt_guests_enter(tfrt_guests_t* guests) {
  tfrt_guest_t* guest = take_guest(guests);
  // Relaxed: see tfrt_guests_nap().
  if (guest) atomic_fetch_add_explicit(&guests->count, 1, memory_order_relaxed);
  return guest;
}

void tfrt_guests_leave(tfrt_guests_t* guests, tfrt_guest_t* guest) {
  // Release: the ring; partner of the exchange in take_guest().
  atomic_store_explicit(&guest->is_taken, false, memory_order_release);
  atomic_fetch_sub_explicit(&guests->count, 1, memory_order_relaxed);
}

bool tfrt_guests_have_tasks(const tfrt_guests_t* guests) {
  for (const tfrt_guest_t* guest = first_guest(guests); guest; guest = guest->next) {
    if (!tfrt_task_ring_is_empty(&guest->ring)) return true;
  }
  return false;
}

size_t tfrt_guests_take(const tfrt_guests_t* guests, size_t parts, size_t most,
                        tfrt_task_t** tasks) {
  size_t taken = 0;
  for (tfrt_guest_t* guest = first_guest(guests); guest && taken == 0; guest = guest->next) {
    taken = tfrt_task_ring_take(&guest->ring, parts, most, tasks);
  }
  return taken;
}

void tfrt_guests_wake_napper(tfrt_guests_t* guests) {
  // Sequentially consistent: after the task is visible; partner of the exchange in
  // tfrt_guests_nap(). Acquire: the parker, which is the worker's own until then.
  if (!atomic_load_explicit(&guests->napper, memory_order_seq_cst)) return;
  tfrt_parker_t* parker = atomic_exchange_explicit(&guests->napper, NULL, memory_order_acq_rel);
  if (parker) tfrt_parker_wake(parker);
}

bool tfrt_guests_nap(tfrt_guests_t* guests, tfrt_parker_t* parker, bool (*has_work)(void* pool),
                     void* pool) {
  // Relaxed: a guest that comes now finds this worker searching or idle.
  if (atomic_load_explicit(&guests->count, memory_order_relaxed) == 0) return false;
  tfrt_parker_t* napper = NULL;
  // Sequentially consistent: before the last look; partner of the load in
  // tfrt_guests_wake_napper(). Release: the parker; partner of the exchange there.
  if (!atomic_compare_exchange_strong_explicit(&guests->napper, &napper, parker,
                                               memory_order_seq_cst, memory_order_relaxed)) {
    return false;
  }
  const bool is_woken = !has_work(pool) && tfrt_parker_wait_for(parker, NAP_NS);
  napper = parker;
  // Relaxed: if another thread was faster, its wake comes, and orders all.
  if (!is_woken &&
      !atomic_compare_exchange_strong_explicit(&guests->napper, &napper, NULL, memory_order_relaxed,
                                               memory_order_relaxed)) {
    tfrt_parker_wait(parker);
  }
  return true;
}
