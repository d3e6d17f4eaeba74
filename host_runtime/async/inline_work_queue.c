// SPDX-License-Identifier: Apache-2.0
//
// Why no wake-up is lost. A thread that adds a task puts it into the inbox and then reads
// |sleeper_count|; a thread that goes to sleep raises |sleeper_count| and then looks into the
// inbox. All four are sequentially consistent: at least one of the two sees the other. The adding
// thread takes the mutex before it wakes a sleeper, so a thread that it saw counting is asleep by
// then.
#include "host_runtime/async/inline_work_queue.h"

#include <assert.h>

#include "host_runtime/async/backlog.h"
#include "host_runtime/async/task_inbox.h"
#include "host_runtime/base/sync.h"

typedef struct inline_work_queue_s {
  tfrt_work_queue_t base;
  tfrt_allocator_t allocator;
  tfrt_task_inbox_t inbox;  // tasks added by others than the runner
  // The |this_thread| of the thread that runs tasks; NULL: none does. Written with the mutex held.
  _Atomic(const char*) runner;
  tfrt_task_list_t tasks;  // the runner's; without one guarded by the mutex
  // The runner's, like the next one: it runs a call (inline_run_here()), and no task of the list.
  bool is_in_call;
  size_t call_task_count;     // tasks that the call has added, less those that were run since
  _Atomic int sleeper_count;  // written with the mutex held
  tfrt_mutex_t mutex;
  tfrt_condition_t condition;  // a task came, a value is there, the runner has left
} inline_work_queue_t;

// Its address tells threads apart.
static _Thread_local const char this_thread;

static inline_work_queue_t* cast(tfrt_work_queue_t* queue) { return (inline_work_queue_t*)queue; }

static bool is_runner(const inline_work_queue_t* queue) {
  // Relaxed: a thread finds its own address only if it has put it there itself.
  return atomic_load_explicit(&((inline_work_queue_t*)queue)->runner, memory_order_relaxed) ==
         &this_thread;
}

static void inline_destroy(tfrt_work_queue_t* base) {
  inline_work_queue_t* queue = cast(base);
  assert(tfrt_task_list_is_empty(&queue->tasks) && tfrt_task_inbox_is_empty(&queue->inbox));
  tfrt_condition_deinitialize(&queue->condition);
  tfrt_mutex_deinitialize(&queue->mutex);
  tfrt_allocator_free(queue->allocator, queue, sizeof *queue);
}

// --- Adding ------------------------------------------------------------------

static void wake_all_locked(inline_work_queue_t* queue) {
  // Relaxed: written with the mutex held.
  if (atomic_load_explicit(&queue->sleeper_count, memory_order_relaxed) > 0) {
    tfrt_condition_broadcast(&queue->condition);
  }
}

static void add_from_outside(inline_work_queue_t* queue, tfrt_task_t* task) {
  tfrt_task_inbox_put(&queue->inbox, task);
  // Sequentially consistent: partner of the addition in sleep_locked().
  if (atomic_load_explicit(&queue->sleeper_count, memory_order_seq_cst) == 0) return;
  tfrt_mutex_lock(&queue->mutex);
  wake_all_locked(queue);
  tfrt_mutex_unlock(&queue->mutex);
}

static void take_inbox(inline_work_queue_t* queue) {
  if (tfrt_task_inbox_is_empty(&queue->inbox)) return;
  tfrt_task_inbox_take(&queue->inbox, &queue->tasks);
}

// Runs some of the tasks of the call that this thread runs.
static void work_off(tfrt_work_queue_t* base) {
  inline_work_queue_t* queue = cast(base);
  for (int i = 0; i < TFRT_BACKLOG_PIECE && queue->call_task_count > 0; ++i) {
    tfrt_task_t* task = tfrt_task_list_pop_front(&queue->tasks);
    if (!task) return;
    --queue->call_task_count;
    task->run(task);
  }
}

static void inline_add_task(tfrt_work_queue_t* base, tfrt_task_t* task) {
  inline_work_queue_t* queue = cast(base);
  if (!is_runner(queue)) {
    add_from_outside(queue, task);
    return;
  }
  // Tasks that were added before this one stand before it.
  take_inbox(queue);
  tfrt_task_list_push_back(&queue->tasks, task);
  if (queue->is_in_call && ++queue->call_task_count > TFRT_BACKLOG_LIMIT) {
    tfrt_backlog_note(base, work_off);
  }
}

static void inline_note_backlog(tfrt_work_queue_t* base) {
  inline_work_queue_t* queue = cast(base);
  if (is_runner(queue) && queue->is_in_call) tfrt_backlog_note(base, work_off);
}

static bool inline_add_blocking_task(tfrt_work_queue_t* base, tfrt_task_t* task,
                                     bool allow_queuing) {
  if (!allow_queuing) return false;
  inline_add_task(base, task);
  return true;
}

// --- Running -----------------------------------------------------------------

// The purpose of a thread in await or quiesce. Lives on its stack.
typedef struct inline_waiter_s {
  tfrt_task_t task;  // of the value
  inline_work_queue_t* queue;
  _Atomic bool is_done;  // written with the mutex held; never by quiesce, which has no value
} inline_waiter_t;

static bool is_done(inline_waiter_t* waiter) {
  // Relaxed: who sees it takes the mutex before it goes on.
  return atomic_load_explicit(&waiter->is_done, memory_order_relaxed);
}

// As the runner, runs tasks until |waiter| is done or none is left.
static void run_tasks(inline_work_queue_t* queue, inline_waiter_t* waiter) {
  const bool is_in_call = queue->is_in_call;
  queue->is_in_call = false;
  while (!is_done(waiter)) {
    if (tfrt_task_list_is_empty(&queue->tasks)) take_inbox(queue);
    tfrt_task_t* task = tfrt_task_list_pop_front(&queue->tasks);
    if (!task) break;
    task->run(task);
  }
  queue->is_in_call = is_in_call;
}

// True if there is a task, and nobody else is there to run it.
static bool may_run_locked(inline_work_queue_t* queue) {
  // Relaxed: written with the mutex held.
  const char* runner = atomic_load_explicit(&queue->runner, memory_order_relaxed);
  return (!runner || runner == &this_thread) &&
         !(tfrt_task_list_is_empty(&queue->tasks) && tfrt_task_inbox_is_empty(&queue->inbox));
}

// Makes this thread the runner, and gives the mutex back. Returns who was it, which may be this
// thread, too: a task may await something.
static const char* become_runner(inline_work_queue_t* queue) {
  // Relaxed, as in the next function: the mutex hands the list over.
  const char* outer = atomic_load_explicit(&queue->runner, memory_order_relaxed);
  atomic_store_explicit(&queue->runner, &this_thread, memory_order_relaxed);
  tfrt_mutex_unlock(&queue->mutex);
  return outer;
}

// Takes the mutex, and leaves being the runner to |outer|.
static void leave_to(inline_work_queue_t* queue, const char* outer) {
  tfrt_mutex_lock(&queue->mutex);
  atomic_store_explicit(&queue->runner, outer, memory_order_relaxed);
  wake_all_locked(queue);
}

// Runs tasks with the mutex, which is held before and after, given back meanwhile.
static void run_unlocked(inline_work_queue_t* queue, inline_waiter_t* waiter) {
  const char* outer = become_runner(queue);
  run_tasks(queue, waiter);
  leave_to(queue, outer);
}

static void inline_run_here(tfrt_work_queue_t* base, tfrt_task_t* task) {
  inline_work_queue_t* queue = cast(base);
  if (is_runner(queue)) {
    task->run(task);
    return;
  }
  tfrt_mutex_lock(&queue->mutex);
  // Relaxed: written with the mutex held.
  if (atomic_load_explicit(&queue->runner, memory_order_relaxed)) {
    tfrt_mutex_unlock(&queue->mutex);
    task->run(task);
    return;
  }
  const char* outer = become_runner(queue);
  queue->is_in_call = true;
  queue->call_task_count = 0;
  task->run(task);
  queue->is_in_call = false;
  tfrt_backlog_forget(base);
  leave_to(queue, outer);
  tfrt_mutex_unlock(&queue->mutex);
}

// Sleeps until something has changed, unless there is something to run.
static void sleep_locked(inline_work_queue_t* queue) {
  // Sequentially consistent: before the look into the inbox; partner of add_from_outside().
  atomic_fetch_add_explicit(&queue->sleeper_count, 1, memory_order_seq_cst);
  if (!may_run_locked(queue)) tfrt_condition_wait(&queue->condition, &queue->mutex);
  atomic_fetch_sub_explicit(&queue->sleeper_count, 1, memory_order_relaxed);
}

// --- Waiting -----------------------------------------------------------------

static void note_resolved(tfrt_task_t* task) {
  inline_waiter_t* waiter = TFRT_CONTAINER_OF(task, inline_waiter_t, task);
  inline_work_queue_t* queue = waiter->queue;
  tfrt_mutex_lock(&queue->mutex);
  atomic_store_explicit(&waiter->is_done, true, memory_order_relaxed);
  wake_all_locked(queue);
  tfrt_mutex_unlock(&queue->mutex);
}

static void await_one(inline_work_queue_t* queue, tfrt_async_value_t* value) {
  inline_waiter_t waiter = {.queue = queue};
  tfrt_task_initialize(&waiter.task, note_resolved);
  tfrt_async_value_and_then(value, &waiter.task);
  tfrt_mutex_lock(&queue->mutex);
  while (!is_done(&waiter)) {
    if (may_run_locked(queue)) {
      run_unlocked(queue, &waiter);
    } else {
      sleep_locked(queue);
    }
  }
  tfrt_mutex_unlock(&queue->mutex);
}

static void inline_await(tfrt_work_queue_t* base, tfrt_async_value_t* const* values, size_t count) {
  // All are asked for first, so that what they need of others goes on side by side.
  for (size_t i = 0; i < count; ++i) tfrt_async_value_demand(values[i]);
  for (size_t i = 0; i < count; ++i) {
    if (!tfrt_async_value_is_available(values[i])) await_one(cast(base), values[i]);
  }
}

static void inline_quiesce(tfrt_work_queue_t* base) {
  inline_work_queue_t* queue = cast(base);
  assert(!is_runner(queue));
  inline_waiter_t nothing = {.queue = queue};
  tfrt_mutex_lock(&queue->mutex);
  for (;;) {
    if (may_run_locked(queue)) {
      run_unlocked(queue, &nothing);
    } else if (atomic_load_explicit(&queue->runner, memory_order_relaxed)) {
      // A task that another thread runs may still add others.
      sleep_locked(queue);
    } else {
      break;
    }
  }
  tfrt_mutex_unlock(&queue->mutex);
}

static int inline_parallelism(const tfrt_work_queue_t* queue) {
  (void)queue;
  return 1;
}

static bool inline_is_in_worker_thread(const tfrt_work_queue_t* queue) {
  return is_runner((const inline_work_queue_t*)queue);
}

static const char* inline_name(const tfrt_work_queue_t* queue) {
  (void)queue;
  return "single-threaded";
}

tfrt_status_t tfrt_inline_work_queue_create(tfrt_allocator_t allocator,
                                            tfrt_work_queue_t** out_queue) {
  static const tfrt_work_queue_vtable_t vtable = {
      .destroy = inline_destroy,
      .add_task = inline_add_task,
      .add_blocking_task = inline_add_blocking_task,
      .await = inline_await,
      .quiesce = inline_quiesce,
      .parallelism = inline_parallelism,
      .is_in_worker_thread = inline_is_in_worker_thread,
      .name = inline_name,
      .run_here = inline_run_here,
      .note_backlog = inline_note_backlog,
  };
  *out_queue = NULL;
  inline_work_queue_t* queue = tfrt_allocator_allocate_zeroed(allocator, sizeof *queue);
  if (!queue) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "memory for a work queue is out");
  }
  queue->base.vtable = &vtable;
  tfrt_ref_count_initialize(&queue->base.ref_count);
  queue->allocator = allocator;
  tfrt_mutex_initialize(&queue->mutex);
  tfrt_condition_initialize(&queue->condition);
  *out_queue = &queue->base;
  return NULL;
}
