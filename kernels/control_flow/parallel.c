// SPDX-License-Identifier: Apache-2.0
#include "kernels/control_flow/parallel.h"
#include "host_runtime/async/value_storage.h"

#include <stdatomic.h>

#include "host_runtime/executor/program/program.h"
#include "host_runtime/executor/request/call_scope.h"
#include "host_runtime/executor/request/request_context.h"

typedef struct tfrt_parallel_s tfrt_parallel_t;

typedef struct tfrt_parallel_block_s {
  tfrt_task_t task;  // first to run the block, then to wait for its chain
  tfrt_parallel_t* parallel;
  int32_t start;
  int32_t end;
  tfrt_async_value_t* chain;  // +1, what the function gave, if anything
} tfrt_parallel_block_t;

struct tfrt_parallel_s {
  size_t size;
  tfrt_execution_context_t context;    // its request is retained, its scope entered
  const tfrt_function_t* function;     // its program is retained
  _Atomic uint32_t pending;            // blocks that have not ended
  _Atomic(tfrt_async_value_t*) error;  // +1, of the first block that failed
  tfrt_indirect_value_t* done;         // +1, the chain of all
  tfrt_async_value_t** extras;         // +1 each
  uint32_t extra_count;
  uint32_t block_count;
  tfrt_parallel_block_t blocks[];
};

static void parallel_finish(tfrt_parallel_t* parallel) {
  // Relaxed: the last decrement of |pending| has acquired what other blocks wrote.
  tfrt_async_value_t* error = atomic_load_explicit(&parallel->error, memory_order_relaxed);
  tfrt_indirect_value_forward_take(parallel->done, error ? error : tfrt_async_value_ready_chain());
  tfrt_async_value_release(&parallel->done->base);
  for (uint32_t i = 0; i < parallel->extra_count; ++i) {
    tfrt_async_value_release(parallel->extras[i]);
  }
  tfrt_execution_context_t context = parallel->context;
  tfrt_program_t* program = (tfrt_program_t*)parallel->function->program;
  tfrt_allocator_free(tfrt_value_storage_allocator(), parallel, parallel->size);
  tfrt_request_context_release(context.request);
  tfrt_program_release(program);
  tfrt_call_scope_leave(context.scope);
}

// The block's chain, if it had one, is resolved.
static void parallel_on_block_done(tfrt_task_t* task) {
  tfrt_parallel_block_t* block = TFRT_CONTAINER_OF(task, tfrt_parallel_block_t, task);
  tfrt_parallel_t* parallel = block->parallel;
  if (block->chain && tfrt_async_value_is_error(block->chain)) {
    tfrt_async_value_t* none = NULL;
    tfrt_async_value_t* error = tfrt_async_value_retain(tfrt_async_value_resolved(block->chain));
    // Relaxed: read only by the last one to decrement |pending|.
    if (!atomic_compare_exchange_strong_explicit(&parallel->error, &none, error,
                                                 memory_order_relaxed, memory_order_relaxed)) {
      tfrt_async_value_release(error);
    }
  }
  tfrt_async_value_release(block->chain);
  // Release: this block's error; acquire, for the last one: those of all others. The
  // partners are this operation in other threads.
  if (atomic_fetch_sub_explicit(&parallel->pending, 1, memory_order_acq_rel) == 1) {
    parallel_finish(parallel);
  }
}

// Calls the function for one block.
static void parallel_call(tfrt_parallel_block_t* block, tfrt_async_value_t** arguments) {
  tfrt_parallel_t* parallel = block->parallel;
  arguments[0] = tfrt_async_value_create_i32(block->start);
  arguments[1] = tfrt_async_value_create_i32(block->end);
  for (uint32_t i = 0; i < parallel->extra_count; ++i) arguments[i + 2] = parallel->extras[i];
  tfrt_function_execute(parallel->function, &parallel->context, arguments, &block->chain);
  tfrt_async_value_release(arguments[0]);
  tfrt_async_value_release(arguments[1]);
}

static void parallel_run_block(tfrt_task_t* task) {
  tfrt_parallel_block_t* block = TFRT_CONTAINER_OF(task, tfrt_parallel_block_t, task);
  tfrt_parallel_t* parallel = block->parallel;
  size_t count = (size_t)parallel->extra_count + 2;
  tfrt_async_value_t* cancelled = tfrt_request_context_cancelled(parallel->context.request);
  tfrt_async_value_t** arguments =
      tfrt_allocator_allocate_array(tfrt_value_storage_allocator(), count, sizeof(*arguments));
  if (cancelled) {
    block->chain = tfrt_async_value_retain(cancelled);
  } else if (!arguments) {
    block->chain = tfrt_async_value_out_of_memory();
  } else {
    parallel_call(block, arguments);
  }
  tfrt_allocator_free(tfrt_value_storage_allocator(), arguments, count * sizeof(*arguments));
  tfrt_task_initialize(&block->task, parallel_on_block_done);
  if (block->chain) {
    tfrt_async_value_and_then(block->chain, &block->task);
  } else {
    block->task.run(&block->task);
  }
}

static bool parallel_fits(tfrt_kernel_frame_t* frame) {
  const tfrt_function_t* function = frame->functions[0];
  int32_t block_size = tfrt_kernel_frame_i32(frame, 2);
  if (block_size <= 0) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "the block size is %d; it must be at least 1", block_size);
    return false;
  }
  if (function->argument_count != frame->argument_count - 1 || function->result_count > 1) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_INVALID_ARGUMENT,
                           "function '%s' must take %u arguments (two i32 and the extras) and "
                           "give nothing or a chain",
                           function->name, frame->argument_count - 1);
    return false;
  }
  return true;
}

static tfrt_parallel_t* parallel_allocate(tfrt_kernel_frame_t* frame, size_t block_count) {
  uint32_t extra_count = frame->argument_count - 3;
  size_t blocks_size = 0;
  size_t size = sizeof(tfrt_parallel_t) + extra_count * sizeof(tfrt_async_value_t*);
  if (!tfrt_size_multiply(block_count, sizeof(tfrt_parallel_block_t), &blocks_size) ||
      !tfrt_size_add(size, blocks_size, &size)) {
    return NULL;
  }
  tfrt_parallel_t* parallel = tfrt_allocator_allocate_zeroed(tfrt_value_storage_allocator(), size);
  tfrt_indirect_value_t* done = parallel ? tfrt_indirect_value_create() : NULL;
  if (!done) {
    tfrt_allocator_free(tfrt_value_storage_allocator(), parallel, size);
    return NULL;
  }
  parallel->size = size;
  parallel->done = done;
  parallel->context = *frame->context;
  parallel->function = frame->functions[0];
  parallel->extras = (tfrt_async_value_t**)(parallel->blocks + block_count);
  parallel->extra_count = extra_count;
  parallel->block_count = (uint32_t)block_count;
  atomic_init(&parallel->pending, (uint32_t)block_count);
  for (uint32_t i = 0; i < extra_count; ++i) {
    parallel->extras[i] = tfrt_async_value_retain(frame->arguments[i + 3]);
  }
  tfrt_request_context_retain(parallel->context.request);
  tfrt_program_retain((tfrt_program_t*)parallel->function->program);
  tfrt_call_scope_enter(parallel->context.scope);
  return parallel;
}

void tfrt_parallel_run(tfrt_kernel_frame_t* frame) {
  if (!parallel_fits(frame)) return;
  int64_t start = tfrt_kernel_frame_i32(frame, 0);
  int64_t end = tfrt_kernel_frame_i32(frame, 1);
  int64_t block_size = tfrt_kernel_frame_i32(frame, 2);
  if (start >= end) {
    tfrt_kernel_frame_set_ready_chain(frame, 0);
    return;
  }
  size_t block_count = (size_t)((end - start + block_size - 1) / block_size);
  tfrt_parallel_t* parallel = parallel_allocate(frame, block_count);
  if (!parallel) {
    tfrt_kernel_frame_fail(frame, TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for %zu blocks",
                           block_count);
    return;
  }
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(&parallel->done->base));
  tfrt_work_queue_t* queue = parallel->context.work_queue;
  for (size_t i = 0; i < block_count; ++i) {
    tfrt_parallel_block_t* block = &parallel->blocks[i];
    int64_t block_start = start + (int64_t)i * block_size;
    int64_t block_end = block_start + block_size;
    block->parallel = parallel;
    block->start = (int32_t)block_start;
    block->end = (int32_t)(block_end < end ? block_end : end);
    tfrt_task_initialize(&block->task, parallel_run_block);
    // The last block may finish everything before this returns.
    tfrt_work_queue_add_task(queue, &block->task);
  }
}
