// SPDX-License-Identifier: Apache-2.0
//
// The memory of a program that makes one thing and ends: one piece of address space that is
// filled from its beginning, of huge pages from where it is worth one. Touching a small page for
// the first time costs more than filling it with data, and such a program touches most of its
// memory once.
//
//   begin            huge page boundary                        position                end
//   | small pages ... | huge pages, each touched once ... free ...| not touched so far ... |
//
// The small pages are for small blocks only: who asks for a big one will touch a huge page anyway,
// and needs no small ones before it.
//
// Life:
//  1. Initialised; address space is reserved, and no memory is used yet.
//  2. Allocates. Big blocks that were freed are used again, neighbours as one, and the last freed
//     block always is;
//     other small ones stay until the end. When the region is full, or there is no address space,
//     blocks come from the system's allocator.
//  3. Deinitialised: all its blocks are gone. A process may as well just end.
//
// Thread rule: its allocator is thread-safe, like every allocator; the rest is thread-compatible.
// Failure rule: none but the allocator's.
#ifndef TFRT_HOST_RUNTIME_BASE_REGION_H_
#define TFRT_HOST_RUNTIME_BASE_REGION_H_

#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/sync.h"

// A big block that was given back; this is written into it.
typedef struct tfrt_region_free_s tfrt_region_free_t;

// Blocks are taken from |position| on, up to |end|.
typedef struct tfrt_region_part_s {
  uintptr_t position;
  uintptr_t end;
} tfrt_region_part_t;

typedef struct tfrt_region_s {
  void* mapping;  // NULL: none
  size_t mapping_size;
  uintptr_t begin;
  uintptr_t end;
  tfrt_mutex_t mutex;
  tfrt_region_part_t small;  // what was never used of the small pages; guarded by |mutex|
  tfrt_region_part_t huge;   // and of the huge ones; likewise
  tfrt_region_free_t* free;  // likewise
} tfrt_region_t;

// Makes |region| an empty one with room for |size| bytes at least. Thread-compatible.
void tfrt_region_initialize(tfrt_region_t* region, size_t size);

// Frees the address space of |region|, whose blocks are all unused, but not blocks that came from
// the system's allocator. Thread-compatible.
void tfrt_region_deinitialize(tfrt_region_t* region);

// The allocator whose blocks come from |region|, which outlives it. Thread-safe.
tfrt_allocator_t tfrt_region_allocator(tfrt_region_t* region);

#endif  // TFRT_HOST_RUNTIME_BASE_REGION_H_
