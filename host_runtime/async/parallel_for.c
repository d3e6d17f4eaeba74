// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/parallel_for.h"

#include <stdatomic.h>

typedef struct parallel_for_s parallel_for_t;

// A block, and before it runs the task for it and those behind it, up to |end_block|: each range of
// blocks begins with another one, so one node for each block is enough.
typedef struct parallel_block_s {
  tfrt_task_t task;  // first to run, then to wait for |ended|
  parallel_for_t* loop;
  size_t end_block;
  tfrt_async_value_t* ended;  // +1, or NULL
} parallel_block_t;

struct parallel_for_s {
  tfrt_work_queue_t* queue;
  tfrt_parallel_for_fn_t function;
  void* argument;
  tfrt_allocator_t allocator;
  size_t size;  // of this block of memory
  size_t total;
  size_t block_size;
  _Atomic size_t pending;              // blocks that have not ended
  _Atomic(tfrt_async_value_t*) error;  // +1, of the first block that failed
  tfrt_indirect_value_t* done;         // +1
  parallel_block_t blocks[];
};

size_t tfrt_block_sizes_choose(tfrt_block_sizes_t sizes, size_t total, int parallelism) {
  size_t size = sizes.size;
  if (!sizes.is_fixed) {
    size_t even = total / ((size_t)parallelism * TFRT_PARALLEL_FOR_BLOCKS_PER_THREAD);
    if (even > size) size = even;
  }
  return size < total ? size : total;
}

static void finish(parallel_for_t* loop) {
  // Relaxed: the last decrement of |pending| has acquired what other blocks wrote.
  tfrt_async_value_t* error = atomic_load_explicit(&loop->error, memory_order_relaxed);
  tfrt_indirect_value_t* done = loop->done;
  tfrt_allocator_free(loop->allocator, loop, loop->size);
  tfrt_indirect_value_forward_take(done, error ? error : tfrt_async_value_ready_chain());
  tfrt_async_value_release(&done->base);
}

static void block_ended(tfrt_task_t* task) {
  parallel_block_t* block = TFRT_CONTAINER_OF(task, parallel_block_t, task);
  parallel_for_t* loop = block->loop;
  if (block->ended && tfrt_async_value_is_error(block->ended)) {
    tfrt_async_value_t* none = NULL;
    tfrt_async_value_t* error = tfrt_async_value_retain(tfrt_async_value_resolved(block->ended));
    // Relaxed: read only by the last one to decrement |pending|.
    if (!atomic_compare_exchange_strong_explicit(&loop->error, &none, error, memory_order_relaxed,
                                                 memory_order_relaxed)) {
      tfrt_async_value_release(error);
    }
  }
  tfrt_async_value_release(block->ended);
  // Release: this block's error, and what its function wrote; acquire, for the last one: those of
  // all others. The partners are this operation in other threads.
  if (atomic_fetch_sub_explicit(&loop->pending, 1, memory_order_acq_rel) == 1) finish(loop);
}

static void run_blocks(tfrt_task_t* task) {
  parallel_block_t* block = TFRT_CONTAINER_OF(task, parallel_block_t, task);
  parallel_for_t* loop = block->loop;
  size_t index = (size_t)(block - loop->blocks);
  while (block->end_block - index > 1) {
    size_t middle = index + (block->end_block - index) / 2;
    parallel_block_t* upper = &loop->blocks[middle];
    upper->loop = loop;
    upper->end_block = block->end_block;
    block->end_block = middle;
    tfrt_task_initialize(&upper->task, run_blocks);
    tfrt_work_queue_add_task(loop->queue, &upper->task);
  }
  size_t start = index * loop->block_size;
  size_t left = loop->total - start;
  block->ended = loop->function(loop->argument, start,
                                start + (left < loop->block_size ? left : loop->block_size));
  tfrt_task_initialize(&block->task, block_ended);
  if (block->ended) {
    tfrt_async_value_and_then(block->ended, &block->task);
  } else {
    block_ended(&block->task);
  }
}

static parallel_for_t* create(size_t block_count, tfrt_allocator_t allocator) {
  size_t size;
  if (!tfrt_size_multiply(block_count, sizeof(parallel_block_t), &size) ||
      !tfrt_size_add(size, sizeof(parallel_for_t), &size)) {
    return NULL;
  }
  parallel_for_t* loop = tfrt_allocator_allocate_zeroed(allocator, size);
  if (!loop) return NULL;
  loop->done = tfrt_indirect_value_create();
  if (!loop->done) {
    tfrt_allocator_free(allocator, loop, size);
    return NULL;
  }
  loop->allocator = allocator;
  loop->size = size;
  atomic_init(&loop->pending, block_count);
  atomic_init(&loop->error, NULL);
  return loop;
}

// Blocks that are over leave nothing to wait for: their chain is the ready one.
static tfrt_async_value_t* run_one(tfrt_parallel_for_fn_t function, void* argument, size_t total) {
  tfrt_async_value_t* ended = total > 0 ? function(argument, 0, total) : NULL;
  return ended ? ended : tfrt_async_value_ready_chain();
}

tfrt_status_t tfrt_parallel_for(tfrt_work_queue_t* queue, size_t total, tfrt_block_sizes_t sizes,
                                tfrt_parallel_for_fn_t function, void* argument,
                                tfrt_allocator_t allocator, tfrt_async_value_t** out_done) {
  *out_done = NULL;
  size_t block_size = 0;
  if (total > 0) {
    block_size = tfrt_block_sizes_choose(sizes, total, tfrt_work_queue_parallelism(queue));
  }
  if (total == block_size) {
    *out_done = run_one(function, argument, total);
    return NULL;
  }
  size_t block_count = total / block_size + (total % block_size != 0);
  parallel_for_t* loop = create(block_count, allocator);
  if (!loop) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for %zu blocks",
                              block_count);
  }
  loop->queue = queue;
  loop->function = function;
  loop->argument = argument;
  loop->total = total;
  loop->block_size = block_size;
  *out_done = tfrt_async_value_retain(&loop->done->base);
  loop->blocks[0].loop = loop;
  loop->blocks[0].end_block = block_count;
  run_blocks(&loop->blocks[0].task);
  return NULL;
}
