// SPDX-License-Identifier: Apache-2.0
//
// Tasks that a thread has made faster than others run them. A thread that runs a call for somebody
// who waits for it (tfrt_work_queue_run_here()) may make any number of tasks. When its queue has
// many of them left, it asks the thread to run some itself, between two kernels: so the memory that
// they take is bounded, and what they use is still in the cache.
//
//   add_task --many are left--> note ... the next place where the thread may run tasks: work_off
//
// Not in add_task itself, whose caller may hold locks or be in the middle of something.
//
// Thread rule: of the calling thread only. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_ASYNC_BACKLOG_H_
#define TFRT_HOST_RUNTIME_ASYNC_BACKLOG_H_

#include <stdbool.h>

#include "host_runtime/async/work_queue.h"
#include "host_runtime/base/macros.h"

// More tasks than this of one call are a backlog.
#define TFRT_BACKLOG_LIMIT 768

// One run takes this many tasks, or all if there are less.
#define TFRT_BACKLOG_PIECE 64

// Runs up to TFRT_BACKLOG_PIECE tasks of |queue|.
typedef void (*tfrt_backlog_fn_t)(tfrt_work_queue_t* queue);

typedef struct tfrt_backlog_s {
  tfrt_backlog_fn_t run;  // NULL: there is no backlog
  tfrt_work_queue_t* queue;
  bool is_running;  // a task of the backlog: it has none of its own
} tfrt_backlog_t;

// This thread's.
extern _Thread_local tfrt_backlog_t tfrt_backlog;

// Notes that |run| should be called with |queue|, which lives until then or until this thread
// forgets it. Thread-compatible.
static inline void tfrt_backlog_note(tfrt_work_queue_t* queue, tfrt_backlog_fn_t run) {
  if (tfrt_backlog.is_running) return;
  tfrt_backlog.queue = queue;
  tfrt_backlog.run = run;
}

// Forgets what was noted of |queue|. Thread-compatible.
static inline void tfrt_backlog_forget(const tfrt_work_queue_t* queue) {
  if (tfrt_backlog.queue == queue) tfrt_backlog.run = NULL;
}

// Runs what was noted. Thread-compatible.
void tfrt_backlog_run(void);

// Runs tasks if this thread has a backlog. Called with no lock held, where any task may run.
// Thread-compatible.
static inline void tfrt_backlog_work_off(void) {
  if (TFRT_UNLIKELY(tfrt_backlog.run)) tfrt_backlog_run();
}

#endif  // TFRT_HOST_RUNTIME_ASYNC_BACKLOG_H_
