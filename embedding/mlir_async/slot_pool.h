// SPDX-License-Identifier: Apache-2.0
//
// Where tokens, values, groups and waiters lie: slots of two sizes whose memory is never anything
// else, nor given back. So a handle whose object is gone can still be looked at. Its *generation*
// differs from that of the object that has the slot now: the slot counts one more each time it is
// freed:
//
//   handle   63 ... 48         47 ................................ 0
//            generation        address of the slot
//
// (Addresses of processes have 47 bits on x86-64 and 48 on AArch64, unless one asks for more.)
//
// Programs make tokens on one thread and drop them on others. Each thread keeps two short lists of
// free slots; whole lists go to and come from the *depot*, which all threads share:
//
//   thread   active: slot -> slot -> ...     at most 64
//            spare:  64 slots, or none
//   depot    list -> list -> ...             and slabs with slots that were never used
//
// Thread rule: thread-safe. Failure rule: the process ends with a message when memory is out.
#ifndef TFRT_EMBEDDING_MLIR_ASYNC_SLOT_POOL_H_
#define TFRT_EMBEDDING_MLIR_ASYNC_SLOT_POOL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/base/atomic.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"

// A coroutine that waits, or is to be run.
typedef struct tfrt_mlir_waiter_s {
  tfrt_task_t task;
  void* frame;
  void (*resume)(void* frame);
} tfrt_mlir_waiter_t;

// A token's place in a group, whose count it raises when the token is settled.
typedef struct tfrt_mlir_membership_s {
  tfrt_task_t task;
  struct tfrt_mlir_slot_s* group;
  struct tfrt_mlir_slot_s* token;
} tfrt_mlir_membership_t;

// Where the payload of a value is.
typedef struct tfrt_mlir_payload_s {
  void* storage;
  size_t separate_size;  // 0: in the slot
} tfrt_mlir_payload_t;

// A free slot, in a list.
typedef struct tfrt_mlir_free_slot_s {
  struct tfrt_mlir_slot_s* next;
  struct tfrt_mlir_slot_s* next_list;  // of the first one in a list, in the depot
  uint32_t length;                     // likewise, of the list
} tfrt_mlir_free_slot_t;

// The beginning of each slot. A slot that only holds a waiter leaves the rest as it is, and so does
// one that is free.
typedef struct tfrt_mlir_slot_s {
  tfrt_async_value_t base;
  tfrt_status_t error;         // the place of an error of |base|
  TFRT_ATOMIC(uint64_t) life;  // the slot's generation; the rest is the object's (object.c)
  union {
    tfrt_mlir_waiter_t waiter;
    tfrt_mlir_membership_t membership;  // of a token, in its first group
    tfrt_mlir_payload_t payload;        // of a value
    TFRT_ATOMIC(int64_t) members;       // of a group: how many were added
    tfrt_mlir_free_slot_t free;
  };
} tfrt_mlir_slot_t;

typedef enum tfrt_mlir_slot_size_e {
  TFRT_MLIR_SLOT_64 = 0,
  TFRT_MLIR_SLOT_128 = 1,
  TFRT_MLIR_SLOT_SIZE_COUNT,
} tfrt_mlir_slot_size_t;

#define TFRT_MLIR_GENERATION_SHIFT 48
#define TFRT_MLIR_GENERATION_MASK (UINT64_MAX << TFRT_MLIR_GENERATION_SHIFT)

// Slots in a list that goes to the depot.
#define TFRT_MLIR_SLOT_LIST_LENGTH 64

// The free slots of one size that a thread keeps.
typedef struct tfrt_mlir_slot_cache_s {
  tfrt_mlir_slot_t* active;
  tfrt_mlir_slot_t* spare;  // a full list, or NULL
  uint32_t active_count;
} tfrt_mlir_slot_cache_t;

// This thread's, by size. In the memory that each thread has from its start: no call is needed to
// find it.
extern _Thread_local tfrt_mlir_slot_cache_t tfrt_mlir_slot_caches[TFRT_MLIR_SLOT_SIZE_COUNT]
    __attribute__((tls_model("initial-exec")));

// Fills, or makes room in, this thread's active list. For the functions below.
void tfrt_mlir_slot_cache_fill(tfrt_mlir_slot_size_t size);
void tfrt_mlir_slot_cache_empty(tfrt_mlir_slot_size_t size);

// Returns a slot of |size|; its content is what it was, zero at first. Thread-safe.
static inline tfrt_mlir_slot_t* tfrt_mlir_slot_allocate(tfrt_mlir_slot_size_t size) {
  tfrt_mlir_slot_cache_t* cache = &tfrt_mlir_slot_caches[size];
  if (TFRT_UNLIKELY(!cache->active)) tfrt_mlir_slot_cache_fill(size);
  tfrt_mlir_slot_t* slot = cache->active;
  cache->active = slot->free.next;
  --cache->active_count;
  return slot;
}

// Gives |slot| back. Its generation is as it was: an object that gave out handles counts it on
// first.
// Thread-safe.
static inline void tfrt_mlir_slot_free(tfrt_mlir_slot_size_t size, tfrt_mlir_slot_t* slot) {
  tfrt_mlir_slot_cache_t* cache = &tfrt_mlir_slot_caches[size];
  // The first one of a thread finds no room, so that the thread is known.
  if (TFRT_UNLIKELY(cache->active_count % TFRT_MLIR_SLOT_LIST_LENGTH == 0)) {
    tfrt_mlir_slot_cache_empty(size);
  }
  slot->free.next = cache->active;
  cache->active = slot;
  ++cache->active_count;
}

// Calls |visit| for each slot that was ever given out, of both sizes. Only while no other thread
// calls any of these.
void tfrt_mlir_slot_visit_all(void (*visit)(tfrt_mlir_slot_t* slot, void* context), void* context);

#endif  // TFRT_EMBEDDING_MLIR_ASYNC_SLOT_POOL_H_
