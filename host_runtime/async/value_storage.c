// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/value_storage.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <valgrind/valgrind.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/sync.h"

_Thread_local tfrt_value_storage_list_t tfrt_value_storage_small;

#ifdef TFRT_SANITIZED

void* tfrt_value_storage_allocate(size_t size) {
  return tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), size);
}

void tfrt_value_storage_free(void* storage, size_t size) {
  tfrt_allocator_free(tfrt_allocator_system(), storage, size);
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

// Runs when the thread ends. A value that is dropped even later is hooked anew.
static void give_back_all(tfrt_thread_exit_hook_t* hook) {
  (void)hook;
  kept.is_hooked = false;
  for (size_t i = 0; i < LIST_COUNT; ++i) {
    list_t* list = list_at(i);
    while (list->first) {
      block_t* block = list->first;
      list->first = block->next;
      tfrt_allocator_free(tfrt_allocator_system(), block, size_of_list(i));
    }
    list->room = 0;
  }
}

// Sees to it that what this thread keeps is given back at its end; false if that can't be, or if
// valgrind is to see each block.
static bool hook_thread(void) {
  if (RUNNING_ON_VALGRIND) return false;
  kept.hook.run = give_back_all;
  kept.is_hooked = tfrt_thread_at_exit(&kept.hook);
  for (size_t i = 0; i < LIST_COUNT && kept.is_hooked; ++i) {
    list_at(i)->room = TFRT_VALUE_STORAGE_MAX_KEPT;
  }
  return kept.is_hooked;
}

#ifdef NDEBUG

static block_t* take_block(list_t* list) {
  block_t* block = list->first;
  if (!block) return NULL;
  list->first = block->next;
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
  const size_t most_room = TFRT_VALUE_STORAGE_MAX_KEPT - TFRT_VALUE_STORAGE_QUARANTINE;
  block_t* block = list->first;
  if (!block || list->room >= most_room) return NULL;
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

void* tfrt_value_storage_allocate(size_t size) {
  size_t index = list_of(size);
  if (TFRT_UNLIKELY(index >= LIST_COUNT)) {
    return tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), size);
  }
  block_t* block = take_block(list_at(index));
  if (TFRT_UNLIKELY(!block)) {
    block = tfrt_allocator_allocate(tfrt_allocator_system(), size_of_list(index));
    if (!block) return NULL;
  }
  return memset(block, 0, size);
}

void tfrt_value_storage_free(void* storage, size_t size) {
  size_t index = list_of(size);
  if (TFRT_UNLIKELY(index >= LIST_COUNT)) {
    tfrt_allocator_free(tfrt_allocator_system(), storage, size);
    return;
  }
  list_t* list = list_at(index);
  if (!(kept.is_hooked || hook_thread()) || list->room == 0) {
    tfrt_allocator_free(tfrt_allocator_system(), storage, size_of_list(index));
    return;
  }
  keep_block(list, storage, size_of_list(index));
}

size_t tfrt_value_storage_kept(void) {
  size_t count = 0;
  for (size_t i = 0; i < LIST_COUNT && kept.is_hooked; ++i) {
    count += TFRT_VALUE_STORAGE_MAX_KEPT - list_at(i)->room;
  }
  return count;
}

#endif
