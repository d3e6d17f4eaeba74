// SPDX-License-Identifier: Apache-2.0
//
// The reference count that a shared object embeds. It starts at 1, which belongs to the caller of
// the object's create function.
//
// Thread rule: thread-safe. Failure rule: none fails; more than 2^32 - 1
// references is a defect of the caller.
#ifndef TFRT_HOST_RUNTIME_BASE_REF_COUNT_H_
#define TFRT_HOST_RUNTIME_BASE_REF_COUNT_H_

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/atomic.h"
#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

typedef struct tfrt_ref_count_s {
  TFRT_ATOMIC(uint32_t) count;
} tfrt_ref_count_t;

// Sets the count to 1. Thread-compatible (the object is not shared yet).
static inline void tfrt_ref_count_initialize(tfrt_ref_count_t* ref_count) {
  atomic_store_explicit(&ref_count->count, 1, memory_order_relaxed);
}

// Adds one reference. The caller must hold one already. Thread-safe.
static inline void tfrt_ref_count_increment(tfrt_ref_count_t* ref_count) {
  atomic_fetch_add_explicit(&ref_count->count, 1, memory_order_relaxed);
}

// Drops one reference and returns true if it was the last: then the caller must
// destroy the object. Thread-safe.
static inline bool tfrt_ref_count_decrement(tfrt_ref_count_t* ref_count) {
  // Release: what this thread did to the object; acquire, for the last one: what
  // all others did. Both sides are this very operation in other threads. A thread that reads that
  // it has the only reference need not write: no other thread can make one (but see below).
  return atomic_load_explicit(&ref_count->count, memory_order_acquire) == 1 ||
         atomic_fetch_sub_explicit(&ref_count->count, 1, memory_order_acq_rel) == 1;
}

// The same for an object that others find without a reference of theirs: it writes always, so that
// tfrt_ref_count_try_increment() sees that the last one has gone. Thread-safe.
static inline bool tfrt_ref_count_decrement_findable(tfrt_ref_count_t* ref_count) {
  // Both, as above.
  return atomic_fetch_sub_explicit(&ref_count->count, 1, memory_order_acq_rel) == 1;
}

// Adds one reference, unless there is none any more: then it returns false. For callers that know
// by other means that the object's storage still exists; all of the object's references are dropped
// by tfrt_ref_count_decrement_findable(). Thread-safe.
static inline bool tfrt_ref_count_try_increment(tfrt_ref_count_t* ref_count) {
  uint32_t count = atomic_load_explicit(&ref_count->count, memory_order_relaxed);
  while (count != 0) {
    if (atomic_compare_exchange_weak_explicit(&ref_count->count, &count, count + 1,
                                              memory_order_relaxed, memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

// Returns true if the caller's reference is the only one. Thread-safe.
static inline bool tfrt_ref_count_is_one(const tfrt_ref_count_t* ref_count) {
  // Acquire: pairs with the release half of tfrt_ref_count_decrement().
  return atomic_load_explicit(&((tfrt_ref_count_t*)ref_count)->count, memory_order_acquire) == 1;
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_REF_COUNT_H_
