// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/value_storage.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <valgrind/valgrind.h>

#include "host_runtime/base/sync.h"

_Thread_local tfrt_value_storage_list_t tfrt_value_storage_small;

// Set before other threads are started. Without a vtable: the system's, and threads keep blocks.
static tfrt_allocator_t named;

void tfrt_value_storage_use(tfrt_allocator_t allocator) { named = allocator; }

tfrt_allocator_t tfrt_value_storage_allocator(void) {
  return named.vtable ? named : tfrt_allocator_system();
}

#ifdef TFRT_SANITIZED

void* tfrt_value_storage_allocate(size_t size) {
  return tfrt_allocator_allocate_zeroed(tfrt_value_storage_allocator(), size);
}

void tfrt_value_storage_free(void* storage, size_t size) {
  tfrt_allocator_free(tfrt_value_storage_allocator(), storage, size);
}

size_t tfrt_value_storage_kept(void) { return 0; }

#else

// Blocks have the sizes that the system's heap wastes nothing of: 8 bytes, which it needs
// itself, less than a multiple of 16. The first one is that of most scalars with their header.
#define UNIT 16
#define FIRST_SIZE TFRT_VALUE_STORAGE_SMALL_SIZE
#define LIST_COUNT ((TFRT_VALUE_STORAGE_MAX_SIZE - FIRST_SIZE) / UNIT + 1)

typedef tfrt_value_storage_block_t block_t;
typedef tfrt_value_storage_list_t list_t;

// The blocks that a thread keeps. It has a hook once it keeps anything.
typedef struct thread_storage_s {
  list_t bigger_lists[LIST_COUNT - 1];  // by size, behind the smallest
  list_t spares[LIST_COUNT];            // a second list of each size
  bool is_hooked;
  tfrt_thread_exit_hook_t hook;
} thread_storage_t;

static _Thread_local thread_storage_t kept;

// The list for blocks of |size| bytes, or one that doesn't exist.
static size_t list_of(size_t size) {
  return size <= FIRST_SIZE ? 0 : (size - FIRST_SIZE + UNIT - 1) / UNIT;
}

static list_t* list_at(size_t index) {
  return index == 0 ? &tfrt_value_storage_small : &kept.bigger_lists[index - 1];
}

static size_t size_of_list(size_t index) { return FIRST_SIZE + index * UNIT; }

static void give_back(list_t* list, size_t size) {
  while (list->first) {
    block_t* block = list->first;
    list->first = block->next;
    tfrt_allocator_free(tfrt_allocator_system(), block, size);
  }
  list->room = 0;
}

// Runs when the thread ends. A value that is dropped even later is hooked anew.
static void give_back_all(tfrt_thread_exit_hook_t* hook) {
  (void)hook;
  kept.is_hooked = false;
  for (size_t i = 0; i < LIST_COUNT; ++i) {
    give_back(list_at(i), size_of_list(i));
    give_back(&kept.spares[i], size_of_list(i));
  }
}

// Sees to it that what this thread keeps is given back at its end; false if that can't be, or if
// valgrind, or an allocator that was named, is to see each block.
static bool hook_thread(void) {
  if (RUNNING_ON_VALGRIND || named.vtable) return false;
  kept.hook.run = give_back_all;
  kept.is_hooked = tfrt_thread_at_exit(&kept.hook);
  for (size_t i = 0; i < LIST_COUNT && kept.is_hooked; ++i) {
    list_at(i)->room = TFRT_VALUE_STORAGE_LIST_SIZE;
    kept.spares[i].room = TFRT_VALUE_STORAGE_LIST_SIZE;
  }
  return kept.is_hooked;
}

// A list with more room than this gives no blocks.
#ifdef NDEBUG
#define MOST_ROOM TFRT_VALUE_STORAGE_LIST_SIZE
#else
#define MOST_ROOM (TFRT_VALUE_STORAGE_LIST_SIZE - TFRT_VALUE_STORAGE_QUARANTINE)
#endif

#ifdef NDEBUG

static block_t* take_block(list_t* list) {
  block_t* block = list->first;
  if (!block) return NULL;
  list->first = block->next;
  // The one after this was mostly written by another processor, which has dropped the value.
  __builtin_prefetch(list->first, 1);
  ++list->room;
  return block;
}

static void keep_block(list_t* list, block_t* block, size_t size) {
  (void)size;
  block->next = list->first;
  list->first = block;
  --list->room;
}

#else

// The one that has waited longest, unless all are in quarantine.
static block_t* take_block(list_t* list) {
  block_t* block = list->first;
  if (!block || list->room >= MOST_ROOM) return NULL;
  list->first = block->next;
  ++list->room;
  return block;
}

// Freed payloads are filled with it.
#define FREED_BYTE 0xdd

static void keep_block(list_t* list, block_t* block, size_t size) {
  if (size > sizeof(*block)) memset(block + 1, FREED_BYTE, size - sizeof(*block));
  block->next = NULL;
  if (list->first) {
    list->last->next = block;
  } else {
    list->first = block;
  }
  list->last = block;
  --list->room;
}

#endif

// --- Full lists on their way from one thread to another ------------------------

static _Atomic(block_t*) depot[LIST_COUNT][TFRT_VALUE_STORAGE_DEPOT_LISTS];

// Puts the full |list| there and empties it, or returns false if there is no room.
static bool put_into_depot(size_t index, list_t* list) {
  for (size_t i = 0; i < TFRT_VALUE_STORAGE_DEPOT_LISTS; ++i) {
    block_t* none = NULL;
    // Release: the blocks; partner of the exchange in take_from_depot().
    if (!atomic_compare_exchange_strong_explicit(&depot[index][i], &none, list->first,
                                                 memory_order_release, memory_order_relaxed)) {
      continue;
    }
    *list = (list_t){.room = TFRT_VALUE_STORAGE_LIST_SIZE};
    return true;
  }
  return false;
}

// Fills the empty |list| with a full one from there, or returns false if there is none.
static bool take_from_depot(size_t index, list_t* list) {
  block_t* first = NULL;
  for (size_t i = 0; i < TFRT_VALUE_STORAGE_DEPOT_LISTS && !first; ++i) {
    // Relaxed: the exchange decides.
    if (!atomic_load_explicit(&depot[index][i], memory_order_relaxed)) continue;
    // Acquire: the blocks; partner of the exchange in put_into_depot().
    first = atomic_exchange_explicit(&depot[index][i], NULL, memory_order_acquire);
  }
  if (!first) return false;
  *list = (list_t){.first = first};
#ifndef NDEBUG
  for (list->last = first; list->last->next;) list->last = list->last->next;
#endif
  return true;
}

static void swap_lists(list_t* a, list_t* b) {
  const list_t other = *a;
  *a = *b;
  *b = other;
}

// Makes the list of this thread one that gives a block, or returns false if there is none.
static bool refill(size_t index) {
  if (!(kept.is_hooked || hook_thread())) return false;
  list_t* spare = &kept.spares[index];
  if (spare->room >= MOST_ROOM) {
    // In quarantine, if it has any.
    if (spare->first || !take_from_depot(index, spare)) return false;
  }
  swap_lists(list_at(index), spare);
  return true;
}

// Makes the full list of this thread one that takes a block, or returns false: it is to be given
// back.
static bool make_room(size_t index) {
  if (!(kept.is_hooked || hook_thread())) return false;
  if (list_at(index)->room > 0) return true;
  list_t* spare = &kept.spares[index];
  if (spare->room == 0 && !put_into_depot(index, spare)) return false;
  swap_lists(list_at(index), spare);
  return true;
}

void* tfrt_value_storage_allocate(size_t size) {
  size_t index = list_of(size);
  if (TFRT_UNLIKELY(index >= LIST_COUNT)) {
    return tfrt_allocator_allocate_zeroed(tfrt_value_storage_allocator(), size);
  }
  block_t* block = take_block(list_at(index));
  if (TFRT_UNLIKELY(!block) && refill(index)) block = take_block(list_at(index));
  if (TFRT_UNLIKELY(!block)) {
    block = tfrt_allocator_allocate(tfrt_value_storage_allocator(), size_of_list(index));
    if (!block) return NULL;
  }
  return memset(block, 0, size);
}

void tfrt_value_storage_free(void* storage, size_t size) {
  size_t index = list_of(size);
  if (TFRT_UNLIKELY(index >= LIST_COUNT)) {
    tfrt_allocator_free(tfrt_value_storage_allocator(), storage, size);
    return;
  }
  list_t* list = list_at(index);
  if (TFRT_UNLIKELY(list->room == 0) && !make_room(index)) {
    tfrt_allocator_free(tfrt_value_storage_allocator(), storage, size_of_list(index));
    return;
  }
  keep_block(list, storage, size_of_list(index));
}

size_t tfrt_value_storage_kept(void) {
  size_t count = 0;
  for (size_t i = 0; i < LIST_COUNT && kept.is_hooked; ++i) {
    count += 2 * TFRT_VALUE_STORAGE_LIST_SIZE - list_at(i)->room - kept.spares[i].room;
  }
  return count;
}

#endif
