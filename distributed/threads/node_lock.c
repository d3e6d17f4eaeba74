// SPDX-License-Identifier: Apache-2.0
#include "distributed/threads/node_lock.h"

#include <assert.h>
#include <string.h>

#include "distributed/threads/reader_pair.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/macros.h"

// One run of deferred tasks on the calling thread. Runs of different locks may be nested.
typedef struct tfrt_node_lock_run_s {
  const tfrt_node_lock_t* lock;
  tfrt_task_list_t tasks;
  struct tfrt_node_lock_run_s* outer;
} tfrt_node_lock_run_t;

static _Thread_local tfrt_node_lock_run_t* current_run;

void tfrt_node_lock_initialize(tfrt_node_lock_t* lock) {
  // Mostly held for some thousand instructions, and wanted by each thread that makes calls.
  tfrt_mutex_initialize_spinning(&lock->mutex);
  lock->deferred = (tfrt_task_list_t){0};
}

void tfrt_node_lock_deinitialize(tfrt_node_lock_t* lock) {
  assert(tfrt_task_list_is_empty(&lock->deferred));
  tfrt_mutex_deinitialize(&lock->mutex);
}

void tfrt_node_lock_lock(tfrt_node_lock_t* lock) { tfrt_mutex_lock(&lock->mutex); }

void tfrt_node_lock_defer(tfrt_node_lock_t* lock, tfrt_task_t* task) {
  tfrt_task_list_push_back(&lock->deferred, task);
}

static tfrt_node_lock_run_t* find_run(const tfrt_node_lock_t* lock) {
  for (tfrt_node_lock_run_t* run = current_run; run; run = run->outer) {
    if (run->lock == lock) return run;
  }
  return NULL;
}

static void move_tasks(tfrt_task_list_t* from, tfrt_task_list_t* to) {
  for (tfrt_task_t* task; (task = tfrt_task_list_pop_front(from));) {
    tfrt_task_list_push_back(to, task);
  }
}

void tfrt_node_lock_unlock_and_run(tfrt_node_lock_t* lock) {
  tfrt_task_list_t tasks = lock->deferred;
  lock->deferred = (tfrt_task_list_t){0};
  tfrt_mutex_unlock(&lock->mutex);
  if (tfrt_task_list_is_empty(&tasks)) return;
  tfrt_node_lock_run_t* outer = find_run(lock);
  if (outer) {
    move_tasks(&tasks, &outer->tasks);
    return;
  }
  tfrt_node_lock_run_t run = {.lock = lock, .tasks = tasks, .outer = current_run};
  current_run = &run;
  for (tfrt_task_t* task; (task = tfrt_task_list_pop_front(&run.tasks));) task->run(task);
  current_run = run.outer;
}

// --- Actions ---------------------------------------------------------------------

typedef enum tfrt_action_kind_e {
  TFRT_ACTION_FORWARD,
  TFRT_ACTION_FAIL,
  TFRT_ACTION_RELEASE,
  TFRT_ACTION_WAIT,
  TFRT_ACTION_CALL,
} tfrt_action_kind_t;

typedef struct tfrt_action_s {
  tfrt_action_kind_t kind;
  tfrt_action_wait_t wait;
  tfrt_async_value_t* value;
  union {
    tfrt_async_value_t* target;  // FORWARD, +1
    tfrt_status_t status;        // FAIL, +1
    tfrt_task_t* task;           // WAIT
    struct {                     // CALL
      tfrt_action_fn_t run;
      void* argument;
    };
  };
} tfrt_action_t;

// Actions that are carried out together, by one thread.
struct tfrt_action_batch_s {
  tfrt_task_t task;
  tfrt_action_batch_t* next;  // which is carried out behind it; NULL: none
  tfrt_allocator_t allocator;
  bool only_releases;
  size_t count;
  size_t capacity;
  tfrt_action_t actions[];
};

static size_t action_batch_size(size_t capacity) {
  return sizeof(tfrt_action_batch_t) + capacity * sizeof(tfrt_action_t);
}

static void action_run_wait(const tfrt_action_t* action) {
  switch (action->wait) {
    case TFRT_ACTION_AND_THEN:
      tfrt_async_value_and_then(action->value, action->task);
      break;
    case TFRT_ACTION_AWAIT:
      tfrt_async_value_await(action->value, action->task);
      break;
    case TFRT_ACTION_WATCH:
      tfrt_async_value_watch(action->value, action->task);
      break;
  }
}

static void action_run(const tfrt_action_t* action) {
  switch (action->kind) {
    case TFRT_ACTION_FORWARD:
      tfrt_indirect_value_forward_take((tfrt_indirect_value_t*)action->value, action->target);
      tfrt_async_value_release(action->value);
      break;
    case TFRT_ACTION_FAIL:
      tfrt_async_value_set_error(action->value, action->status);
      tfrt_status_release(action->status);
      tfrt_async_value_release(action->value);
      break;
    case TFRT_ACTION_RELEASE:
      tfrt_async_value_release(action->value);
      break;
    case TFRT_ACTION_WAIT:
      action_run_wait(action);
      break;
    case TFRT_ACTION_CALL:
      action->run(action->argument);
      break;
  }
}

// Carries out the actions of |batch| (NULL: nothing) and of the batches behind it, and frees these.
// New actions that this causes are queued behind. The queue may be gone when this returns.
static void action_batch_run(tfrt_action_batch_t* batch) {
  while (batch) {
    for (size_t i = 0; i < batch->count; ++i) action_run(&batch->actions[i]);
    tfrt_action_batch_t* next = batch->next;
    tfrt_allocator_free(batch->allocator, batch, action_batch_size(batch->capacity));
    batch = next;
  }
}

static void action_batch_run_task(tfrt_task_t* task) {
  action_batch_run(TFRT_CONTAINER_OF(task, tfrt_action_batch_t, task));
}

// Whether this thread carries out |batch|, and no task of |work_queue| does.
static bool action_batch_is_run_here(const tfrt_action_batch_t* batch,
                                     const tfrt_work_queue_t* work_queue) {
  bool only_releases = true;
  for (const tfrt_action_batch_t* b = batch; b; b = b->next) only_releases &= b->only_releases;
  return !work_queue || only_releases || tfrt_work_queue_is_in_worker_thread(work_queue);
}

// Copies the actions of |queue| to |few| if this thread carries them out and they are few; returns
// how many. A reader's task carries out few of them itself, but what is written comes before many.
static size_t action_queue_take_few(tfrt_action_queue_t* queue, tfrt_action_t* few) {
  tfrt_action_batch_t* batch = queue->batch;
  if (!batch || queue->first_closed || batch->count > TFRT_ACTION_QUEUE_FEW) return 0;
  bool is_run_here =
      tfrt_reader_pair_is_in_task() || action_batch_is_run_here(batch, queue->work_queue);
  if (!is_run_here) return 0;
  size_t count = batch->count;
  memcpy(few, batch->actions, count * sizeof(*few));
  batch->count = 0;
  batch->only_releases = true;
  return count;
}

// Puts the batch of |queue|, to which nothing is added any more, behind those before it.
static void action_queue_close_batch(tfrt_action_queue_t* queue) {
  if (queue->first_closed) {
    queue->last_closed->next = queue->batch;
  } else {
    queue->first_closed = queue->batch;
  }
  queue->last_closed = queue->batch;
  queue->batch = NULL;
}

// The first batch of |queue|, which has them no more, or NULL if nothing is in it.
static tfrt_action_batch_t* action_queue_take_batch(tfrt_action_queue_t* queue) {
  if (queue->batch && queue->batch->count > 0) action_queue_close_batch(queue);
  tfrt_action_batch_t* first = queue->first_closed;
  if (!first) return NULL;
  const size_t count = first->count;
  queue->first_closed = NULL;
  queue->usual_capacity = TFRT_ACTION_QUEUE_LEAST;
  while (queue->usual_capacity < count && queue->usual_capacity < TFRT_ACTION_QUEUE_MOST) {
    queue->usual_capacity *= 2;
  }
  return first;
}

// Takes all actions out and carries them out, or hands them over. The queue may be gone when the
// last of them has run.
static void action_queue_run(tfrt_task_t* task) {
  tfrt_action_queue_t* queue = TFRT_CONTAINER_OF(task, tfrt_action_queue_t, task);
  tfrt_action_t few[TFRT_ACTION_QUEUE_FEW];
  tfrt_node_lock_lock(queue->lock);
  tfrt_work_queue_t* work_queue = queue->work_queue;
  tfrt_action_batch_t* urgent = queue->urgent;
  size_t few_count = action_queue_take_few(queue, few);
  tfrt_action_batch_t* batch = action_queue_take_batch(queue);
  queue->urgent = NULL;
  queue->scheduled = false;
  tfrt_node_lock_unlock_and_run(queue->lock);
  action_batch_run(urgent);
  for (size_t i = 0; i < few_count; ++i) action_run(&few[i]);
  if (!batch) return;
  if (action_batch_is_run_here(batch, work_queue)) {
    action_batch_run(batch);
    return;
  }
  tfrt_task_initialize(&batch->task, action_batch_run_task);
  tfrt_reader_pair_offer(work_queue, &batch->task, TFRT_READER_PAIR_BEHIND);
}

void tfrt_action_queue_initialize(tfrt_action_queue_t* queue, tfrt_node_lock_t* lock,
                                  tfrt_allocator_t allocator, tfrt_work_queue_t* work_queue) {
  memset(queue, 0, sizeof(*queue));
  queue->lock = lock;
  queue->allocator = allocator;
  queue->work_queue = work_queue;
  queue->usual_capacity = TFRT_ACTION_QUEUE_LEAST;
  tfrt_task_initialize(&queue->task, action_queue_run);
}

void tfrt_action_queue_deinitialize(tfrt_action_queue_t* queue) {
  assert(!queue->urgent && !queue->first_closed && (!queue->batch || queue->batch->count == 0));
  tfrt_action_batch_t* batches[] = {queue->batch, queue->spare};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(batches); ++i) {
    if (!batches[i]) continue;
    tfrt_allocator_free(queue->allocator, batches[i], action_batch_size(batches[i]->capacity));
  }
  queue->batch = queue->spare = NULL;
}

// Makes room for one more action in |*batch|; NULL is an empty one, made with room for |least|.
// False when memory is out.
static bool action_batch_reserve(tfrt_action_batch_t** batch, size_t least,
                                 tfrt_allocator_t allocator) {
  tfrt_action_batch_t* old = *batch;
  if (old && old->count < old->capacity) return true;
  size_t capacity = old ? 2 * old->capacity : least;
  size_t old_size = old ? action_batch_size(old->capacity) : 0;
  tfrt_action_batch_t* grown =
      tfrt_allocator_reallocate(allocator, old, old_size, action_batch_size(capacity));
  if (!grown) return false;
  if (!old) *grown = (tfrt_action_batch_t){.allocator = allocator, .only_releases = true};
  grown->capacity = capacity;
  *batch = grown;
  return true;
}

// The same for |*batch| of |queue|, with the spare batch instead if memory is out. An action that
// should be done at once is then added to the others.
static bool action_queue_reserve(tfrt_action_queue_t* queue, tfrt_action_batch_t*** batch) {
  if (!queue->spare) {
    (void)action_batch_reserve(&queue->spare, TFRT_ACTION_QUEUE_SPARE, queue->allocator);
  }
  if (action_batch_reserve(*batch, queue->usual_capacity, queue->allocator)) return true;
  *batch = &queue->batch;
  if (queue->batch && queue->batch->count < queue->batch->capacity) return true;
  if (!queue->spare) return false;
  if (queue->batch) action_queue_close_batch(queue);
  queue->batch = queue->spare;
  queue->spare = NULL;
  return true;
}

static void action_queue_add_to(tfrt_action_queue_t* queue, tfrt_action_batch_t** batch,
                                const tfrt_action_t* action) {
  if (!action_queue_reserve(queue, &batch)) {
    tfrt_log(TFRT_LOG_ERROR, NULL,
             "out of memory while forwarding a value; its waiters stay pending");
    return;
  }
  if (action->kind != TFRT_ACTION_RELEASE) (*batch)->only_releases = false;
  (*batch)->actions[(*batch)->count++] = *action;
  if (queue->scheduled) return;
  queue->scheduled = true;
  tfrt_node_lock_defer(queue->lock, &queue->task);
}

static void action_queue_add(tfrt_action_queue_t* queue, const tfrt_action_t* action) {
  bool is_full = queue->batch && queue->batch->count == TFRT_ACTION_QUEUE_MOST;
  if (is_full) {
    action_queue_close_batch(queue);
    queue->usual_capacity = TFRT_ACTION_QUEUE_MOST;
  }
  action_queue_add_to(queue, &queue->batch, action);
}

void tfrt_action_queue_forward_take(tfrt_action_queue_t* queue, tfrt_async_value_t* value,
                                    tfrt_async_value_t* target) {
  action_queue_add(queue,
                   &(tfrt_action_t){.kind = TFRT_ACTION_FORWARD, .value = value, .target = target});
}

void tfrt_action_queue_fail_take(tfrt_action_queue_t* queue, tfrt_async_value_t* value,
                                 tfrt_status_t status) {
  action_queue_add(
      queue, &(tfrt_action_t){
                 .kind = TFRT_ACTION_FAIL, .value = value, .status = tfrt_status_retain(status)});
}

void tfrt_action_queue_release(tfrt_action_queue_t* queue, tfrt_async_value_t* value) {
  if (!value) return;
  action_queue_add(queue, &(tfrt_action_t){.kind = TFRT_ACTION_RELEASE, .value = value});
}

void tfrt_action_queue_wait(tfrt_action_queue_t* queue, tfrt_async_value_t* value,
                            tfrt_action_wait_t wait, tfrt_task_t* task) {
  action_queue_add(
      queue,
      &(tfrt_action_t){.kind = TFRT_ACTION_WAIT, .wait = wait, .value = value, .task = task});
}

void tfrt_action_queue_call(tfrt_action_queue_t* queue, tfrt_action_fn_t run, void* argument) {
  action_queue_add(queue,
                   &(tfrt_action_t){.kind = TFRT_ACTION_CALL, .run = run, .argument = argument});
}

void tfrt_action_queue_call_at_once(tfrt_action_queue_t* queue, tfrt_action_fn_t run,
                                    void* argument) {
  action_queue_add_to(queue, &queue->urgent,
                      &(tfrt_action_t){.kind = TFRT_ACTION_CALL, .run = run, .argument = argument});
}

static void action_run_demand(void* argument) { tfrt_async_value_demand(argument); }

void tfrt_action_queue_demand(tfrt_action_queue_t* queue, tfrt_async_value_t* value) {
  tfrt_action_queue_call(queue, action_run_demand, value);
}
