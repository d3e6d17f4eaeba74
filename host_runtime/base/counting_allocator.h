// SPDX-License-Identifier: Apache-2.0
//
// An allocator that keeps books over another one: how many blocks and bytes are
// alive, were at most, and came in all; and, if wanted, a limit. It tells leaks,
// prints profiles, and holds a job to its budget.
//
// Life:
//  1. Initialised around a base allocator, in the owner's storage.
//  2. Its tfrt_allocator_t is handed around; the books may be read at any time.
//  3. It holds nothing: when all blocks are back, or are known to be leaks, its
//     storage is just given up.
//
// Thread rule: thread-safe after initialisation. Each number is exact; several read
// together are a picture of one moment only when nobody allocates meanwhile.
// Failure rule: as the base allocator's; a request above the limit gives NULL and
// leaves the books as they were.
#ifndef TFRT_HOST_RUNTIME_BASE_COUNTING_ALLOCATOR_H_
#define TFRT_HOST_RUNTIME_BASE_COUNTING_ALLOCATOR_H_

#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/atomic.h"
#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

// The counts of an allocator.
typedef struct tfrt_allocation_counts_s {
  int64_t current_count;  // blocks that are alive
  int64_t max_count;      // the most that ever were at once
  int64_t total_count;    // blocks that were ever allocated
  int64_t current_bytes;  // bytes in blocks that are alive
  int64_t max_bytes;      // the most that ever were at once
} tfrt_allocation_counts_t;

typedef struct tfrt_counting_allocator_s {
  tfrt_allocator_t base;
  int64_t limit_bytes;
  TFRT_ATOMIC(int64_t) current_count;
  TFRT_ATOMIC(int64_t) max_count;
  TFRT_ATOMIC(int64_t) total_count;
  TFRT_ATOMIC(int64_t) current_bytes;
  TFRT_ATOMIC(int64_t) max_bytes;
} tfrt_counting_allocator_t;

// For |limit_bytes|: no limit.
#define TFRT_COUNTING_ALLOCATOR_UNLIMITED INT64_MAX

// Makes |allocator| count its blocks of |base|; at most |limit_bytes| bytes may be alive at once.
// Thread-compatible.
void tfrt_counting_allocator_initialize(tfrt_counting_allocator_t* allocator, tfrt_allocator_t base,
                                        int64_t limit_bytes);

// The interface to |allocator|, which must outlive all blocks. Thread-safe.
tfrt_allocator_t tfrt_counting_allocator_interface(tfrt_counting_allocator_t* allocator);

// The counts of |allocator| now. Thread-safe.
tfrt_allocation_counts_t tfrt_counting_allocator_counts(const tfrt_counting_allocator_t* allocator);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BASE_COUNTING_ALLOCATOR_H_
