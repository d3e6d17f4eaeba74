// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/outside_blocks.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Powers of two. Only pages that are used become memory.
#define MAX_BLOCKS ((size_t)1 << 20)
#define MAX_ORIGINS ((size_t)1 << 14)

// Where blocks were allocated.
typedef struct origin_s {
  uintptr_t places[OUTSIDE_BLOCKS_DEPTH];  // the rest is 0
  int64_t count;                           // blocks that live
} origin_t;

// Its place in the table is near the hash of |block|; the first free one ends a search.
typedef struct entry_s {
  const void* block;  // NULL: free
  origin_t* origin;
} entry_t;

static atomic_flag is_locked = ATOMIC_FLAG_INIT;
static entry_t entries[MAX_BLOCKS];
static size_t entry_count;
static origin_t origins[MAX_ORIGINS];
static size_t origin_count;

// Acquire: its partner is the release in unlock().
static void lock(void) {
  while (atomic_flag_test_and_set_explicit(&is_locked, memory_order_acquire)) continue;
}

static void unlock(void) { atomic_flag_clear_explicit(&is_locked, memory_order_release); }

static size_t home_of(const void* block) {
  return (size_t)(((uintptr_t)block >> 4) * 0x9E3779B97F4A7C15u) & (MAX_BLOCKS - 1);
}

// The place in the table that has |block|, or the free one where it belongs.
static size_t find(const void* block) {
  size_t place = home_of(block);
  while (entries[place].block && entries[place].block != block) {
    place = (place + 1) & (MAX_BLOCKS - 1);
  }
  return place;
}

// The record of |places|; NULL if there is no room for it.
static origin_t* find_origin(const uintptr_t places[OUTSIDE_BLOCKS_DEPTH]) {
  uintptr_t hash = 0;
  for (int i = 0; i < OUTSIDE_BLOCKS_DEPTH; ++i) hash = (hash ^ places[i]) * 0x9E3779B97F4A7C15u;
  size_t at = (size_t)(hash >> 32) & (MAX_ORIGINS - 1);
  const size_t size = OUTSIDE_BLOCKS_DEPTH * sizeof(places[0]);
  while (origins[at].places[0] && memcmp(origins[at].places, places, size) != 0) {
    at = (at + 1) & (MAX_ORIGINS - 1);
  }
  if (origins[at].places[0]) return &origins[at];
  if (origin_count == MAX_ORIGINS - 1) return NULL;
  ++origin_count;
  memcpy(origins[at].places, places, size);
  return &origins[at];
}

// Empties the place |hole| of the table, and moves those behind it that a search would miss.
static void take_out(size_t hole) {
  --entries[hole].origin->count;
  --entry_count;
  for (size_t at = hole;;) {
    entries[hole].block = NULL;
    do {
      at = (at + 1) & (MAX_BLOCKS - 1);
      if (!entries[at].block) return;
    } while (((at - home_of(entries[at].block)) & (MAX_BLOCKS - 1)) <
             ((at - hole) & (MAX_BLOCKS - 1)));
    entries[hole] = entries[at];
    hole = at;
  }
}

void outside_blocks_add(const void* block, const uintptr_t* places, int count) {
  uintptr_t padded[OUTSIDE_BLOCKS_DEPTH] = {0};
  for (int i = 0; i < count && i < OUTSIDE_BLOCKS_DEPTH; ++i) padded[i] = places[i];
  lock();
  origin_t* origin = entry_count < MAX_BLOCKS / 2 ? find_origin(padded) : NULL;
  if (origin) {
    const size_t place = find(block);
    entries[place].block = block;
    entries[place].origin = origin;
    ++entry_count;
    ++origin->count;
  }
  unlock();
}

void outside_blocks_remove(const void* block) {
  lock();
  const size_t place = find(block);
  if (entries[place].block) take_out(place);
  unlock();
}

void outside_blocks_write(int descriptor, const char* name) {
  lock();
  for (size_t i = 0; i < MAX_ORIGINS; ++i) {
    if (origins[i].count <= 0) continue;
    char line[512];
    int size = snprintf(line, sizeof(line), "%s %jd", name, (intmax_t)origins[i].count);
    for (int k = 0; k < OUTSIDE_BLOCKS_DEPTH && origins[i].places[k]; ++k) {
      size += snprintf(line + size, sizeof(line) - (size_t)size, " 0x%jx",
                       (uintmax_t)origins[i].places[k]);
    }
    line[size++] = '\n';
    ssize_t written = write(descriptor, line, (size_t)size);
    (void)written;
  }
  unlock();
}
