// SPDX-License-Identifier: Apache-2.0
#include "embedding/mlir_async/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "embedding/exact_allocator.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/sync.h"

#define THREADS_VARIABLE "TFRT_MLIR_ASYNC_THREADS"

TFRT_ATOMIC(tfrt_work_queue_t*) tfrt_mlir_pool;

static tfrt_mutex_t mutex = TFRT_MUTEX_INITIALIZER;
static pid_t process;                // that made the queue; guarded by |mutex|
static void (*exit_function)(void);  // not called yet for any queue; likewise

// The number in the environment; 0: one thread per processor.
static int thread_count(void) {
  const char* text = getenv(THREADS_VARIABLE);
  if (!text || !*text) return 0;
  int64_t count = 0;
  const bool is_number = tfrt_number_text_parse_i64(tfrt_string_view_of(text), &count);
  if (is_number && count >= 1 && count <= TFRT_THREAD_POOL_MAX_THREADS) return (int)count;
  tfrt_log(TFRT_LOG_ERROR, NULL,
           THREADS_VARIABLE "=%s: want a number from 1 to %d; taking one thread per processor",
           text, TFRT_THREAD_POOL_MAX_THREADS);
  return 0;
}

static tfrt_work_queue_t* create_locked(void) {
  const tfrt_thread_pool_options_t options = {.thread_count = thread_count(),
                                              .blocking_thread_count = 1};
  tfrt_work_queue_t* queue = NULL;
  tfrt_status_t status =
      tfrt_thread_pool_work_queue_create(&options, tfrt_exact_allocator(), &queue);
  if (status) {
    fprintf(stderr, "tfrt: MLIR's async runtime: %s\n", tfrt_status_message(status));
    abort();
  }
  process = getpid();
  if (exit_function) (void)atexit(exit_function);
  exit_function = NULL;
  return queue;
}

void tfrt_mlir_pool_at_exit(void (*run)(void)) { exit_function = run; }

TFRT_COLD tfrt_work_queue_t* tfrt_mlir_pool_create(void) {
  tfrt_mutex_lock(&mutex);
  // Relaxed: with the mutex held, nobody writes it.
  tfrt_work_queue_t* queue = atomic_load_explicit(&tfrt_mlir_pool, memory_order_relaxed);
  if (!queue) {
    queue = create_locked();
    // Release: the queue; partner of the load in tfrt_mlir_pool_queue().
    atomic_store_explicit(&tfrt_mlir_pool, queue, memory_order_release);
  }
  tfrt_mutex_unlock(&mutex);
  return queue;
}

void tfrt_mlir_pool_end(void) {
  tfrt_work_queue_t* queue = atomic_load_explicit(&tfrt_mlir_pool, memory_order_acquire);
  if (!queue || process != getpid() || tfrt_work_queue_is_in_worker_thread(queue)) return;
  tfrt_work_queue_quiesce(queue);
  // Relaxed: no other thread calls anything now.
  atomic_store_explicit(&tfrt_mlir_pool, NULL, memory_order_relaxed);
  tfrt_work_queue_release(queue);
}
