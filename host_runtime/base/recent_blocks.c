// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/recent_blocks.h"

#include <stdbool.h>
#include <stdint.h>

#include "host_runtime/base/sync.h"

// The blocks that a thread keeps. It has a hook once it keeps anything.
typedef struct recent_blocks_s {
  uint32_t sizes[TFRT_RECENT_BLOCKS_COUNT];  // 0: no block
  void* blocks[TFRT_RECENT_BLOCKS_COUNT];
  uint32_t next;  // the place whose turn it is to give way, round and round
  bool is_hooked;
  tfrt_recent_blocks_free_fn_t free_block;
  tfrt_thread_exit_hook_t hook;
} recent_blocks_t;

static _Thread_local recent_blocks_t kept;

static bool is_kept_size(size_t size) {
  return size >= TFRT_RECENT_BLOCKS_MIN_SIZE && size <= TFRT_RECENT_BLOCKS_MAX_SIZE;
}

// Runs when the thread ends. A block that comes even later is hooked anew.
static void give_back_all(tfrt_thread_exit_hook_t* hook) {
  (void)hook;
  kept.is_hooked = false;
  for (uint32_t i = 0; i < TFRT_RECENT_BLOCKS_COUNT; ++i) {
    if (kept.sizes[i] > 0) kept.free_block(kept.blocks[i]);
    kept.sizes[i] = 0;
  }
}

// The place of a block of |size| bytes, or, with 0, of none; TFRT_RECENT_BLOCKS_COUNT: there is
// none.
static uint32_t find(size_t size) {
  uint32_t i = 0;
  while (i < TFRT_RECENT_BLOCKS_COUNT && kept.sizes[i] != size) ++i;
  return i;
}

void* tfrt_recent_blocks_take(size_t size) {
  if (!is_kept_size(size)) return NULL;
  uint32_t place = find(size);
  if (place == TFRT_RECENT_BLOCKS_COUNT) return NULL;
  kept.sizes[place] = 0;
  return kept.blocks[place];
}

// Sees to it that what this thread keeps is given back at its end; false if that can't be.
static bool hook_thread(tfrt_recent_blocks_free_fn_t free_block) {
  kept.free_block = free_block;
  kept.hook.run = give_back_all;
  kept.is_hooked = tfrt_thread_at_exit(&kept.hook);
  return kept.is_hooked;
}

void tfrt_recent_blocks_put(void* block, size_t size, tfrt_recent_blocks_free_fn_t free_block) {
  if (!is_kept_size(size) || !(kept.is_hooked || hook_thread(free_block))) {
    free_block(block);
    return;
  }
  uint32_t place = find(0);
  if (place == TFRT_RECENT_BLOCKS_COUNT) {
    place = kept.next++ % TFRT_RECENT_BLOCKS_COUNT;
    free_block(kept.blocks[place]);
  }
  kept.sizes[place] = (uint32_t)size;
  kept.blocks[place] = block;
}
