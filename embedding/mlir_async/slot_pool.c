// SPDX-License-Identifier: Apache-2.0
#include "embedding/mlir_async/slot_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/sync.h"

typedef tfrt_mlir_slot_t slot_t;
typedef tfrt_mlir_slot_cache_t cache_t;

#define LIST_LENGTH TFRT_MLIR_SLOT_LIST_LENGTH
#define SLAB_SIZE ((size_t)64 * 1024)
// More than a line: the allocator keeps no such blocks, so a slab is found by its own address.
#define ALIGNMENT 128

_Static_assert(sizeof(slot_t) == 64 && sizeof(void*) == 8, "a slot is a line of 64-bit machines");

// The first bytes of a slab; slots follow, from the first multiple of their size on.
typedef struct slab_s {
  struct slab_s* next;
  size_t used;  // bytes, of the whole slab
} slab_t;

typedef struct depot_s {
  tfrt_mutex_t mutex;
  slot_t* lists;  // guarded by |mutex|, as all below
  slab_t* slabs;  // the newest first: the only one with unused slots
} depot_t;

static depot_t depots[TFRT_MLIR_SLOT_SIZE_COUNT] = {{.mutex = TFRT_MUTEX_INITIALIZER},
                                                    {.mutex = TFRT_MUTEX_INITIALIZER}};

_Thread_local cache_t tfrt_mlir_slot_caches[TFRT_MLIR_SLOT_SIZE_COUNT]
    __attribute__((tls_model("initial-exec")));

static _Thread_local struct {
  bool is_set;
  tfrt_thread_exit_hook_t hook;
} exit_hook;

static size_t size_of(tfrt_mlir_slot_size_t size) { return sizeof(slot_t) << size; }

// --- The depot ---------------------------------------------------------------

static TFRT_COLD void end_without_memory(void) {
  fputs("tfrt: MLIR's async runtime: memory is out\n", stderr);
  abort();
}

static void add_slab_locked(depot_t* depot, tfrt_mlir_slot_size_t size) {
  slab_t* slab = tfrt_allocator_allocate_aligned(tfrt_allocator_system(), SLAB_SIZE, ALIGNMENT);
  // A handle has no room for a longer address.
  if (!slab || (uintptr_t)slab >> TFRT_MLIR_GENERATION_SHIFT) end_without_memory();
  memset(slab, 0, SLAB_SIZE);
  slab->next = depot->slabs;
  slab->used = size_of(size);
  depot->slabs = slab;
}

// A list of slots that were never used.
static slot_t* cut_list_locked(depot_t* depot, tfrt_mlir_slot_size_t size, uint32_t* out_count) {
  if (!depot->slabs || depot->slabs->used + size_of(size) > SLAB_SIZE) add_slab_locked(depot, size);
  slab_t* slab = depot->slabs;
  slot_t* list = NULL;
  for (*out_count = 0; *out_count < LIST_LENGTH && slab->used + size_of(size) <= SLAB_SIZE;
       ++*out_count) {
    slot_t* slot = (slot_t*)(void*)((char*)slab + slab->used);
    slab->used += size_of(size);
    slot->free.next = list;
    list = slot;
  }
  return list;
}

static void give_list(tfrt_mlir_slot_size_t size, slot_t* list, uint32_t length) {
  depot_t* depot = &depots[size];
  tfrt_mutex_lock(&depot->mutex);
  list->free.next_list = depot->lists;
  list->free.length = length;
  depot->lists = list;
  tfrt_mutex_unlock(&depot->mutex);
}

// --- What a thread keeps -----------------------------------------------------

// Runs when the thread ends; lists in the depot may be shorter than others for it.
static void give_back_all(tfrt_thread_exit_hook_t* hook) {
  (void)hook;
  exit_hook.is_set = false;
  for (int size = 0; size < TFRT_MLIR_SLOT_SIZE_COUNT; ++size) {
    cache_t* cache = &tfrt_mlir_slot_caches[size];
    if (cache->active) give_list((tfrt_mlir_slot_size_t)size, cache->active, cache->active_count);
    if (cache->spare) give_list((tfrt_mlir_slot_size_t)size, cache->spare, LIST_LENGTH);
    *cache = (cache_t){.active = NULL};
  }
}

// Without the hook, what the thread keeps is lost to others at its end.
static void hook_thread(void) {
  if (exit_hook.is_set) return;
  exit_hook.hook.run = give_back_all;
  exit_hook.is_set = tfrt_thread_at_exit(&exit_hook.hook);
}

static void fetch_list(tfrt_mlir_slot_size_t size, cache_t* cache) {
  depot_t* depot = &depots[size];
  tfrt_mutex_lock(&depot->mutex);
  if (depot->lists) {
    cache->active = depot->lists;
    cache->active_count = depot->lists->free.length;
    depot->lists = depot->lists->free.next_list;
  } else {
    cache->active = cut_list_locked(depot, size, &cache->active_count);
  }
  tfrt_mutex_unlock(&depot->mutex);
}

void tfrt_mlir_slot_cache_fill(tfrt_mlir_slot_size_t size) {
  cache_t* cache = &tfrt_mlir_slot_caches[size];
  hook_thread();
  if (!cache->spare) {
    fetch_list(size, cache);
    return;
  }
  cache->active = cache->spare;
  cache->active_count = LIST_LENGTH;
  cache->spare = NULL;
}

void tfrt_mlir_slot_cache_empty(tfrt_mlir_slot_size_t size) {
  cache_t* cache = &tfrt_mlir_slot_caches[size];
  hook_thread();
  if (cache->active_count == 0) return;
  if (cache->spare) give_list(size, cache->spare, LIST_LENGTH);
  cache->spare = cache->active;
  cache->active = NULL;
  cache->active_count = 0;
}

void tfrt_mlir_slot_visit_all(void (*visit)(slot_t* slot, void* context), void* context) {
  for (int size = 0; size < TFRT_MLIR_SLOT_SIZE_COUNT; ++size) {
    const size_t step = size_of((tfrt_mlir_slot_size_t)size);
    for (slab_t* slab = depots[size].slabs; slab; slab = slab->next) {
      for (size_t at = step; at < slab->used; at += step) {
        visit((slot_t*)(void*)((char*)slab + at), context);
      }
    }
  }
}
