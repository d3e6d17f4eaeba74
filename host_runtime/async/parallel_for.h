// SPDX-License-Identifier: Apache-2.0
//
// A loop over a range in parallel, for code in C; what programs have is tfrt.parallel_for.i32.
//
//   [0, total) --> blocks --> f(start, end) on threads of the queue --> chain when all have ended
//
// The range is halved again and again, each upper half being a task, so that threads find work
// before the caller has seen all blocks; the caller runs the first block itself.
//
// How large blocks are:
//
//   fixed(n)   n, the last one less. For work whose cost is known.
//   min(n)     so large that each thread gets about 4 blocks, but at least n: enough to even out
//              blocks that differ, and none so small that handing it over costs more than it.
//
// Thread rule: thread-safe; the blocks run at the same time, the caller's among them.
// Failure rule: RESOURCE_EXHAUSTED when memory is out; no block has run then. The chain is the
// error of the first block that was seen to fail; the other blocks still run.
#ifndef TFRT_HOST_RUNTIME_ASYNC_PARALLEL_FOR_H_
#define TFRT_HOST_RUNTIME_ASYNC_PARALLEL_FOR_H_

#include <stdbool.h>
#include <stddef.h>

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

// Blocks for each thread, where nobody says how large they are.
#define TFRT_PARALLEL_FOR_BLOCKS_PER_THREAD 4

typedef struct tfrt_block_sizes_s {
  bool is_fixed;
  size_t size;  // at least 1
} tfrt_block_sizes_t;

// Blocks of |size|, or of at least |size|; 0 counts as 1. Thread-safe.
static inline tfrt_block_sizes_t tfrt_block_sizes_fixed(size_t size) {
  tfrt_block_sizes_t sizes = {true, size ? size : 1};
  return sizes;
}
static inline tfrt_block_sizes_t tfrt_block_sizes_min(size_t size) {
  tfrt_block_sizes_t sizes = {false, size ? size : 1};
  return sizes;
}

// The size of blocks of a range of |total| > 0 for |parallelism| > 0 threads: from 1 to |total|.
// Thread-safe.
size_t tfrt_block_sizes_choose(tfrt_block_sizes_t sizes, size_t total, int parallelism);

// Does the part [|start|, |end|) of the work that |argument| stands for. Returns NULL, or a value
// (+1) that is resolved when the part has ended, as an error if it failed.
typedef tfrt_async_value_t* (*tfrt_parallel_for_fn_t)(void* argument, size_t start, size_t end);

// Calls |function| with |argument| for each block of [0, |total|) and sets |*out_done| (+1) to a
// chain that is there when all have ended; what |argument| points to, |queue| and |allocator| stay
// that long. One block runs in the caller alone, and nothing is allocated for it. Thread-safe.
tfrt_status_t tfrt_parallel_for(tfrt_work_queue_t* queue, size_t total, tfrt_block_sizes_t sizes,
                                tfrt_parallel_for_fn_t function, void* argument,
                                tfrt_allocator_t allocator, tfrt_async_value_t** out_done)
    TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_ASYNC_PARALLEL_FOR_H_
