// SPDX-License-Identifier: Apache-2.0
//
// Where AsyncValues lie, and the small tasks that make them. Programs make and drop small values
// far more often than anything else, so each thread keeps some of those that it has dropped, by
// size, for the next ones:
//
//   this thread:  24 bytes -> block -> block -> NULL
//                 40 bytes -> NULL                        at most 1024 in a list, and as many
//                 56 bytes -> block -> NULL               in a second one
//                 ...
//                152 bytes -> NULL                        a tensor
//
// A list has no lock and no atomic operation. A value that is dropped by another thread than the
// one that made it moves there. If one thread makes values and another drops them, whole lists go
// back: a full list goes to the depot, which is everybody's, by one atomic operation, and a thread
// that has no block takes a list from there. If the depot is full, blocks go back to the system's
// allocator. A thread that ends gives its blocks back to that, too.
//
// With a sanitizer, and under valgrind, every value is a block of the system's: it sees each use
// after the end. A main that wants to count values names an allocator, which then has each of them.
// In builds with assertions a block waits behind TFRT_VALUE_STORAGE_QUARANTINE others before it is
// used again, so that a value that was freed too early is found marked as freed (async_value.h) by
// what uses it.
//
// Thread rule: thread-safe. Failure rule: NULL when memory is out.
#ifndef TFRT_HOST_RUNTIME_ASYNC_VALUE_STORAGE_H_
#define TFRT_HOST_RUNTIME_ASYNC_VALUE_STORAGE_H_

#include <stddef.h>

#include "host_runtime/base/allocator.h"

// Values of up to this many bytes, header and all, are kept.
#define TFRT_VALUE_STORAGE_MAX_SIZE 152

// At most this many blocks are in a list; a thread has two of each size.
#define TFRT_VALUE_STORAGE_LIST_SIZE 1024

// At most this many full lists of each size are in the depot.
#define TFRT_VALUE_STORAGE_DEPOT_LISTS 4

// In builds with assertions a thread keeps this many blocks of a size unused.
#define TFRT_VALUE_STORAGE_QUARANTINE 64

// The size of the smallest blocks: a header and a scalar.
#define TFRT_VALUE_STORAGE_SMALL_SIZE 24

// The blocks of one size that a thread keeps. The lists' and the functions' below.
typedef struct tfrt_value_storage_list_s {
  struct tfrt_value_storage_block_s* first;
  struct tfrt_value_storage_block_s* last;  // in builds with assertions, where blocks queue
  size_t room;  // blocks more that may be kept; 0 before the thread keeps any of any size
} tfrt_value_storage_list_t;

// A block that is kept. The link lies behind a value's header, whose marks stay readable.
typedef struct tfrt_value_storage_block_s {
  char header[16];
  struct tfrt_value_storage_block_s* next;
} tfrt_value_storage_block_t;

// The smallest blocks of this thread; NULL with a sanitizer, always.
extern _Thread_local tfrt_value_storage_list_t tfrt_value_storage_small;

// Returns |size| > 0 zeroed bytes with the default alignment of allocators, or NULL.
// Thread-safe.
void* tfrt_value_storage_allocate(size_t size) TFRT_MUST_USE;

// Gives back |storage|, which was allocated with |size|. Thread-safe.
void tfrt_value_storage_free(void* storage, size_t size);

// The same for TFRT_VALUE_STORAGE_SMALL_SIZE bytes, whose content is undefined, or NULL.
// Thread-safe.
static inline void* tfrt_value_storage_allocate_small(void) {
#ifdef NDEBUG
  tfrt_value_storage_block_t* block = tfrt_value_storage_small.first;
  if (TFRT_LIKELY(block)) {
    tfrt_value_storage_small.first = block->next;
    ++tfrt_value_storage_small.room;
    return block;
  }
#endif
  return tfrt_value_storage_allocate(TFRT_VALUE_STORAGE_SMALL_SIZE);
}

// Gives back |storage|, of TFRT_VALUE_STORAGE_SMALL_SIZE bytes. Thread-safe.
static inline void tfrt_value_storage_free_small(void* storage) {
#ifdef NDEBUG
  if (TFRT_LIKELY(tfrt_value_storage_small.room > 0)) {
    tfrt_value_storage_block_t* block = (tfrt_value_storage_block_t*)storage;
    block->next = tfrt_value_storage_small.first;
    tfrt_value_storage_small.first = block;
    --tfrt_value_storage_small.room;
    return;
  }
#endif
  tfrt_value_storage_free(storage, TFRT_VALUE_STORAGE_SMALL_SIZE);
}

// From now on each value, each small task, and what a call needs beside them, is a block of
// |allocator|, which outlives all of them, and no thread keeps any. Once per process, before the
// first value is made. Thread-compatible.
void tfrt_value_storage_use(tfrt_allocator_t allocator);

// The allocator for what a call needs beside its values: its slab, loops, activations. It is the
// one that a main has named, else the system's. Thread-safe.
tfrt_allocator_t tfrt_value_storage_allocator(void);

// The number of blocks that this thread keeps; 0 with a sanitizer. Thread-safe.
size_t tfrt_value_storage_kept(void);

#endif  // TFRT_HOST_RUNTIME_ASYNC_VALUE_STORAGE_H_
