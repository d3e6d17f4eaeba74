// SPDX-License-Identifier: Apache-2.0
//
// The work queue of the process's compiled programs: made when it is first needed, ended on demand,
// and made anew after that.
//
// How many tasks it runs at once is the number of processors, or what the environment variable
// TFRT_MLIR_ASYNC_THREADS says.
//
// Thread rule: see the functions.
// Failure rule: the process ends with a message if the queue can't be made. A number of threads
// that is none is reported and not followed.
#ifndef TFRT_EMBEDDING_MLIR_ASYNC_POOL_H_
#define TFRT_EMBEDDING_MLIR_ASYNC_POOL_H_

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/atomic.h"
#include "host_runtime/base/macros.h"

// The queue; NULL until it is needed. For the function below.
extern TFRT_ATOMIC(tfrt_work_queue_t*) tfrt_mlir_pool;

// Makes the queue, unless another thread has. Thread-safe.
tfrt_work_queue_t* tfrt_mlir_pool_create(void);

// The queue (+0), which lives until tfrt_mlir_pool_end(). Thread-safe.
static inline tfrt_work_queue_t* tfrt_mlir_pool_queue(void) {
  // Acquire: the queue; partner of the store in tfrt_mlir_pool_create().
  tfrt_work_queue_t* queue = atomic_load_explicit(&tfrt_mlir_pool, memory_order_acquire);
  return TFRT_LIKELY(queue) ? queue : tfrt_mlir_pool_create();
}

// Lets |run| be called at the end of the process if there ever is a queue, before what was set up
// earlier ends, such as devices that tasks use. Thread-compatible.
void tfrt_mlir_pool_at_exit(void (*run)(void));

// Waits until no task is queued or running, and ends the threads. Does nothing in a task of the
// queue, or in a process that was forked from the one that made it. Thread-compatible.
void tfrt_mlir_pool_end(void);

#endif  // TFRT_EMBEDDING_MLIR_ASYNC_POOL_H_
