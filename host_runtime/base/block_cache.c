// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/block_cache.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

// Takes the entry |index| out. With the mutex held.
static void* remove_entry(tfrt_block_cache_t* cache, size_t index) {
  tfrt_block_cache_entry_t* entry = &cache->entries[index];
  void* block = entry->block;
  cache->bytes -= entry->size;
  --cache->count;
  memmove(entry, entry + 1, (cache->count - index) * sizeof(*entry));
  return block;
}

void* tfrt_block_cache_take(tfrt_block_cache_t* cache, size_t size) {
  void* block = NULL;
  tfrt_mutex_lock(&cache->mutex);
  for (size_t i = cache->count; i-- > 0 && !block;) {
    if (cache->entries[i].size == size) block = remove_entry(cache, i);
  }
  tfrt_mutex_unlock(&cache->mutex);
  return block;
}

// Lets the system have the whole pages of |block| when it needs them. One that can't do that keeps
// them.
static void offer(void* block, size_t size) {
#ifdef MADV_FREE
  const size_t page = 4096;
  char* begin = (char*)block + (page - (uintptr_t)block % page) % page;
  size_t skipped = (size_t)(begin - (char*)block);
  if (size >= skipped + page) (void)madvise(begin, (size - skipped) / page * page, MADV_FREE);
#else
  (void)block, (void)size;
#endif
}

void tfrt_block_cache_put(tfrt_block_cache_t* cache, void* block, size_t size,
                          void (*give_back)(void* block)) {
  if (size > TFRT_BLOCK_CACHE_MAX_BYTES) {
    give_back(block);
    return;
  }
  offer(block, size);
  void* old[TFRT_BLOCK_CACHE_MAX_BLOCKS];
  size_t old_count = 0;
  tfrt_mutex_lock(&cache->mutex);
  while (cache->count == TFRT_BLOCK_CACHE_MAX_BLOCKS ||
         cache->bytes > TFRT_BLOCK_CACHE_MAX_BYTES - size) {
    old[old_count++] = remove_entry(cache, 0);
  }
  cache->entries[cache->count++] = (tfrt_block_cache_entry_t){block, size};
  cache->bytes += size;
  tfrt_mutex_unlock(&cache->mutex);
  while (old_count > 0) give_back(old[--old_count]);
}
