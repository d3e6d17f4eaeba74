// SPDX-License-Identifier: Apache-2.0
//
// Why no wake-up is lost. A thread that adds a task first makes it visible (deque or shared list)
// and then reads |searching_count|, |idle_count| and |started_count|. A worker that finds nothing
// first counts itself idle and no more searching, and then looks for tasks once more. All of these
// are sequentially consistent, so for each pair of an adder and a worker that goes to sleep:
//  - the adder saw the worker searching: then the worker's last look comes later and
//    finds the task;
//  - it did not: then it saw it idle, takes the mutex, and wakes it, the one that fell asleep
//    last, whose cache is the warmest;
//  - it saw neither: then the worker runs something, and will look again after that.
//
// A worker is more than a thread: it has the deque. A thread whose task waits gives its worker
// away for that time, so that as many threads as there are workers run tasks. The worker is idle
// then, and has no thread; a thread that would wake it gives it one of the substitutes instead.
// Giving it away is to others like going to sleep, in the same order, so the above holds for it,
// too:
//
//   SERVED -- its task waits --> UNSERVED -- there is work --> SERVED by a substitute
//                                   `------- the wait is over ---> SERVED by the first thread
//
// A thread that doesn't find its worker idle any more ends its task without one.
#include "host_runtime/async/thread_pool_work_queue.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>

#include "host_runtime/async/backlog.h"
#include "host_runtime/async/blocking_pool.h"
#include "host_runtime/async/blocking_wait.h"
#include "host_runtime/async/guests.h"
#include "host_runtime/async/task_deque.h"
#include "host_runtime/async/task_inbox.h"
#include "host_runtime/async/task_list.h"
#include "host_runtime/base/parker.h"
#include "host_runtime/base/random.h"
#include "host_runtime/base/sync.h"

// Each worker looks at old tasks first once in this many.
#define FAIRNESS_PERIOD 61

// The number of rounds over all victims that a worker makes before it sleeps. They take about as
// long as a waiting thread looks for the value of its task (blocking_wait.c). So a thread that adds
// tasks and waits for each finds the worker awake, and neither has to be woken.
#define SEARCH_ROUNDS 10

// At most this many tasks are moved at once from the shared list or a guest's ring to a deque.
#define MAX_BATCH 32

// A guest with more tasks than this ends a nap.
#define LONG_FOR_A_NAP (TFRT_BACKLOG_LIMIT / 2)

// At most this many threads stand in for those whose tasks wait.
#define MAX_SUBSTITUTES 1024

typedef struct thread_pool_s thread_pool_t;

typedef struct worker_s worker_t;

typedef enum worker_state_e {
  SERVED,    // a thread runs its tasks, looks for some, or sleeps until there are any
  UNSERVED,  // idle, without a thread
} worker_state_t;

struct worker_s {
  tfrt_task_deque_t deque;
  thread_pool_t* pool;
  tfrt_random_t random;  // chooses victims; only its own thread uses it
  uint32_t tick;
  tfrt_thread_t thread;
  tfrt_parker_t parker;  // where it sleeps
  worker_t* next_idle;   // guarded by the pool's mutex
  worker_state_t state;  // likewise; once it is taken from the idle ones, the taker's
  tfrt_task_t service;   // gives it a substitute
};

struct thread_pool_s {
  tfrt_work_queue_t base;
  tfrt_allocator_t allocator;
  char name[96];
  int worker_count;
  worker_t* workers;
  bool pin_threads;
  tfrt_blocking_pool_t queued_blocking;     // tasks that may wait
  tfrt_blocking_pool_t dedicated_blocking;  // tasks that must start at once
  tfrt_blocking_pool_t substitutes;         // threads of workers whose first ones wait

  // Tasks from elsewhere: one that adds them takes no lock. A worker moves all that have come to
  // the shared list, when it finds this empty.
  _Alignas(64) tfrt_task_inbox_t inbox;

  // The shared list.
  _Alignas(64) tfrt_mutex_t shared_mutex;  // guards |shared_tasks|
  tfrt_task_list_t shared_tasks;
  _Atomic size_t shared_count;  // written with the mutex held, read by all

  tfrt_guests_t guests;  // threads of others that run calls here

  // Blocking tasks that are queued or running, in both pools; compute tasks that have given their
  // workers away; and tasks that run on threads of others. A task that adds another one is still
  // counted itself then: zero means that there is none.
  _Atomic int64_t blocking_count;

  // Sleeping and waking. Read without the mutex, see above.
  _Alignas(64) _Atomic int searching_count;
  _Atomic int idle_count;     // written with the mutex held
  _Atomic int started_count;  // written with the mutex held; never falls
  tfrt_mutex_t mutex;         // guards all below; taken before |shared_mutex|
  worker_t* first_idle;       // those that sleep and were not told to wake, the last one first
  worker_t* first_unserved;   // the idle ones without a thread, likewise
  tfrt_condition_t quiet_condition;
  int quiesce_count;
  _Atomic bool is_stopping;  // written with the mutex held
};

// The pool that this thread works for, and its worker, unless it runs blocking tasks.
static _Thread_local thread_pool_t* current_pool;
static _Thread_local worker_t* current_worker;

// The guest of a pool that this thread is, or NULL.
static _Thread_local tfrt_guest_t* current_guest;

static thread_pool_t* cast(tfrt_work_queue_t* queue) { return (thread_pool_t*)queue; }

// A task that is counted as blocking has ended.
static void note_blocking_done(void* owner) {
  thread_pool_t* pool = owner;
  // Release: what the task left in the queues; pairs with the acquire load in
  // is_quiet_locked(). Acquire: the same from those that ended before.
  if (atomic_fetch_sub_explicit(&pool->blocking_count, 1, memory_order_acq_rel) != 1) return;
  tfrt_mutex_lock(&pool->mutex);
  if (pool->quiesce_count > 0) tfrt_condition_broadcast(&pool->quiet_condition);
  tfrt_mutex_unlock(&pool->mutex);
}

// --- Finding tasks -----------------------------------------------------------

static bool has_shared(thread_pool_t* pool) {
  // Sequentially consistent: partner of the stores in move_inbox_locked() and take_shared().
  return !tfrt_task_inbox_is_empty(&pool->inbox) ||
         atomic_load_explicit(&pool->shared_count, memory_order_seq_cst) > 0;
}

// Returns true if any task is queued; none that was added before is overlooked.
static bool has_work(thread_pool_t* pool) {
  if (has_shared(pool)) return true;
  int started = atomic_load_explicit(&pool->started_count, memory_order_acquire);
  for (int i = 0; i < started; ++i) {
    if (!tfrt_task_deque_is_empty(&pool->workers[i].deque)) return true;
  }
  return tfrt_guests_have_tasks(&pool->guests);
}

static bool pool_has_work(void* pool) { return has_work(pool); }

static void push_shared(thread_pool_t* pool, tfrt_task_t* task) {
  tfrt_task_inbox_put(&pool->inbox, task);
}

// Moves what is in the inbox to the empty shared list. Returns the number of tasks.
static size_t move_inbox_locked(thread_pool_t* pool) {
  if (tfrt_task_inbox_is_empty(&pool->inbox)) return 0;
  // Before the inbox is empty, so that at no time a task is in neither; partner of has_shared().
  atomic_store_explicit(&pool->shared_count, 1, memory_order_seq_cst);
  return tfrt_task_inbox_take(&pool->inbox, &pool->shared_tasks);
}

// Puts all of |tasks| but the first one into the worker's deque, and returns that. Backwards, so
// that the deque gives them back in the order in which they came.
static tfrt_task_t* keep_batch(worker_t* worker, tfrt_task_t* const* tasks, size_t count) {
  for (size_t i = count; i > 1; --i) {
    if (!tfrt_task_deque_push(&worker->deque, tasks[i - 1])) {
      push_shared(worker->pool, tasks[i - 1]);
    }
  }
  return count > 0 ? tasks[0] : NULL;
}

// Takes the first task of the shared list, and for the worker's deque a fair share of
// those behind it, so that the list's mutex is not taken for each.
static tfrt_task_t* take_shared(worker_t* worker) {
  thread_pool_t* pool = worker->pool;
  if (!has_shared(pool)) return NULL;
  tfrt_task_t* batch[MAX_BATCH];
  size_t taken = 0;
  tfrt_mutex_lock(&pool->shared_mutex);
  // Relaxed: written with the mutex held.
  size_t count = atomic_load_explicit(&pool->shared_count, memory_order_relaxed);
  if (count == 0) count = move_inbox_locked(pool);
  size_t share = count / (size_t)pool->worker_count + 1;
  while (taken < share && taken < count && taken < MAX_BATCH) {
    batch[taken++] = tfrt_task_list_pop_front(&pool->shared_tasks);
  }
  // Sequentially consistent: partner of has_shared().
  atomic_store_explicit(&pool->shared_count, count - taken, memory_order_seq_cst);
  tfrt_mutex_unlock(&pool->shared_mutex);
  return keep_batch(worker, batch, taken);
}

// The same of the first guest that has tasks.
static tfrt_task_t* take_from_guest(worker_t* worker) {
  thread_pool_t* pool = worker->pool;
  tfrt_task_t* batch[MAX_BATCH];
  size_t taken = tfrt_guests_take(&pool->guests, (size_t)pool->worker_count + 1, MAX_BATCH, batch);
  return keep_batch(worker, batch, taken);
}

static tfrt_task_t* take_from_outside(worker_t* worker) {
  tfrt_task_t* task = take_shared(worker);
  return task ? task : take_from_guest(worker);
}

// Tries each started worker once, from a random one on.
static tfrt_task_t* steal(worker_t* worker) {
  thread_pool_t* pool = worker->pool;
  int started = atomic_load_explicit(&pool->started_count, memory_order_acquire);
  // This may be the first worker, before the thread that started it has counted it.
  if (started == 0) return NULL;
  int first = (int)tfrt_random_below(&worker->random, (uint64_t)started);
  for (int i = 0; i < started; ++i) {
    worker_t* victim = &pool->workers[(first + i) % started];
    tfrt_task_t* task = victim != worker ? tfrt_task_deque_steal(&victim->deque) : NULL;
    if (task) return task;
  }
  return NULL;
}

static tfrt_task_t* find_own(worker_t* worker) {
  if (++worker->tick % FAIRNESS_PERIOD == 0) {
    tfrt_task_t* task = take_from_outside(worker);
    if (!task) task = tfrt_task_deque_steal(&worker->deque);
    if (task) return task;
  }
  return tfrt_task_deque_pop(&worker->deque);
}

static tfrt_task_t* search(worker_t* worker) {
  for (int round = 0; round < SEARCH_ROUNDS; ++round) {
    tfrt_task_t* task = take_from_outside(worker);
    if (!task) task = steal(worker);
    if (task) return task;
    if (!tfrt_parker_linger()) return NULL;
  }
  return NULL;
}

// --- Sleeping and waking -----------------------------------------------------

static void run_worker(void* argument);

// Starts one more worker, if there is room for it. It starts as a searching one.
static bool start_worker_locked(thread_pool_t* pool) {
  int index = atomic_load_explicit(&pool->started_count, memory_order_relaxed);
  if (index == pool->worker_count) return false;
  worker_t* worker = &pool->workers[index];
  char name[16];
  snprintf(name, sizeof name, "tfrt-w%d", index);
  atomic_fetch_add_explicit(&pool->searching_count, 1, memory_order_seq_cst);
  tfrt_status_t status = tfrt_thread_create(name, run_worker, worker, &worker->thread);
  if (!tfrt_status_is_ok(status)) {
    tfrt_status_release(status);
    atomic_fetch_sub_explicit(&pool->searching_count, 1, memory_order_seq_cst);
    return false;
  }
  // Release: |thread|; pairs with the acquire loads in has_work() and steal().
  atomic_store_explicit(&pool->started_count, index + 1, memory_order_seq_cst);
  return true;
}

// Takes an idle worker, which is to be roused, or returns NULL. It counts as searching from now
// on, in its own name, so that the next task does not wake another one.
static worker_t* take_idle_locked(thread_pool_t* pool) {
  worker_t** list = pool->first_idle ? &pool->first_idle : &pool->first_unserved;
  worker_t* worker = *list;
  if (!worker) return NULL;
  *list = worker->next_idle;
  atomic_fetch_sub_explicit(&pool->idle_count, 1, memory_order_seq_cst);
  atomic_fetch_add_explicit(&pool->searching_count, 1, memory_order_seq_cst);
  return worker;
}

static void add_unserved_locked(worker_t* worker) {
  thread_pool_t* pool = worker->pool;
  worker->state = UNSERVED;
  worker->next_idle = pool->first_unserved;
  pool->first_unserved = worker;
  atomic_fetch_add_explicit(&pool->idle_count, 1, memory_order_seq_cst);
}

// Lets |worker|, which was taken from the idle ones, look for tasks. Returns false if it has no
// thread and there is none for it: it is idle as before then.
static bool rouse(worker_t* worker) {
  thread_pool_t* pool = worker->pool;
  if (worker->state == SERVED) {
    tfrt_parker_wake(&worker->parker);
    return true;
  }
  worker->state = SERVED;
  if (tfrt_blocking_pool_add(&pool->substitutes, &worker->service, false)) return true;
  tfrt_mutex_lock(&pool->mutex);
  add_unserved_locked(worker);
  atomic_fetch_sub_explicit(&pool->searching_count, 1, memory_order_seq_cst);
  tfrt_mutex_unlock(&pool->mutex);
  return false;
}

// Sees to it that a task that was just made visible is found by somebody; |may_wait|: the end of a
// nap is soon enough.
static void wake_one(thread_pool_t* pool, bool may_wait) {
  int searching_count = atomic_load_explicit(&pool->searching_count, memory_order_seq_cst);
  if (searching_count > 0) {
    if (searching_count == 1 && !may_wait) tfrt_guests_wake_napper(&pool->guests);
    return;
  }
  if (atomic_load_explicit(&pool->idle_count, memory_order_seq_cst) == 0 &&
      atomic_load_explicit(&pool->started_count, memory_order_seq_cst) == pool->worker_count) {
    return;
  }
  tfrt_mutex_lock(&pool->mutex);
  worker_t* sleeper = take_idle_locked(pool);
  if (!sleeper) (void)start_worker_locked(pool);
  tfrt_mutex_unlock(&pool->mutex);
  // Without the lock, which the next thing that it does may be to take. If there is no thread for
  // it, one of those that wait takes it back, or does its work meanwhile.
  if (sleeper) (void)rouse(sleeper);
}

static bool are_workers_idle_locked(thread_pool_t* pool) {
  return atomic_load_explicit(&pool->idle_count, memory_order_relaxed) ==
         atomic_load_explicit(&pool->started_count, memory_order_relaxed);
}

static bool is_stopping(thread_pool_t* pool) {
  // Relaxed: who is woken by it sees it, by the wake.
  return atomic_load_explicit(&pool->is_stopping, memory_order_relaxed);
}

// Puts a searching worker to sleep until there may be work again: it is searching
// again then. Returns false if the pool stops.
static bool sleep_until_work(worker_t* worker) {
  thread_pool_t* pool = worker->pool;
  tfrt_mutex_lock(&pool->mutex);
  atomic_fetch_add_explicit(&pool->idle_count, 1, memory_order_seq_cst);
  atomic_fetch_sub_explicit(&pool->searching_count, 1, memory_order_seq_cst);
  worker->next_idle = pool->first_idle;
  pool->first_idle = worker;
  const bool stays_awake = has_work(pool) || is_stopping(pool);
  if (stays_awake) {
    // Itself, because it is the first one.
    (void)take_idle_locked(pool);
  } else if (pool->quiesce_count > 0 && are_workers_idle_locked(pool)) {
    tfrt_condition_broadcast(&pool->quiet_condition);
  }
  tfrt_mutex_unlock(&pool->mutex);
  if (!stays_awake) tfrt_parker_wait(&worker->parker);
  return !is_stopping(pool);
}

// The last one to stop searching hands that duty on, if there is more to find.
static void stop_searching(thread_pool_t* pool) {
  int before = atomic_fetch_sub_explicit(&pool->searching_count, 1, memory_order_seq_cst);
  if (before == 1 && has_work(pool)) wake_one(pool, false);
}

// Finds a task for a searching worker, sleeping if need be; NULL if the pool stops. The
// worker is not searching any more then.
// A worker that naps counts as searching all the time, so that nobody wakes it for one task.
static tfrt_task_t* search_or_sleep(worker_t* worker) {
  thread_pool_t* pool = worker->pool;
  for (bool is_first = true;; is_first = false) {
    tfrt_task_t* task = search(worker);
    if (!task && is_first && tfrt_guests_nap(&pool->guests, &worker->parker, pool_has_work, pool)) {
      task = search(worker);
    }
    if (task) {
      stop_searching(pool);
      return task;
    }
    if (!sleep_until_work(worker)) return NULL;
  }
}

// The same for a thread that comes to |worker|, whose deque may have tasks of the one before it.
static tfrt_task_t* find_first(worker_t* worker) {
  tfrt_task_t* task = tfrt_task_deque_pop(&worker->deque);
  if (!task) return search_or_sleep(worker);
  stop_searching(worker->pool);
  return task;
}

// Each thread of a worker runs this until the pool stops, or a task has given the worker away.
static void run_worker(void* argument) {
  worker_t* worker = argument;
  thread_pool_t* pool = worker->pool;
  current_pool = pool;
  current_worker = worker;
  // A thread that can't be bound works as well.
  if (pool->pin_threads) (void)tfrt_thread_pin((int)(worker - pool->workers));
  tfrt_task_t* task = find_first(worker);
  while (task) {
    task->run(task);
    if (TFRT_UNLIKELY(!current_worker)) {
      note_blocking_done(pool);
      return;
    }
    task = find_own(worker);
    if (!task) {
      atomic_fetch_add_explicit(&pool->searching_count, 1, memory_order_seq_cst);
      task = search_or_sleep(worker);
    }
  }
}

// --- Tasks that wait ---------------------------------------------------------

static bool are_available(tfrt_async_value_t* const* values, size_t count) {
  size_t i = 0;
  while (i < count && tfrt_async_value_is_available(values[i])) ++i;
  return i == count;
}

// Makes |worker|, whose task this thread runs, an idle one without a thread, and rouses one if
// there is work. Returns false if there is no thread for that.
static bool give_away(worker_t* worker) {
  thread_pool_t* pool = worker->pool;
  // Relaxed: as long as the worker isn't idle, the pool isn't quiet.
  atomic_fetch_add_explicit(&pool->blocking_count, 1, memory_order_relaxed);
  current_worker = NULL;
  tfrt_mutex_lock(&pool->mutex);
  add_unserved_locked(worker);
  worker_t* next = has_work(pool) ? take_idle_locked(pool) : NULL;
  tfrt_mutex_unlock(&pool->mutex);
  return !next || rouse(next);
}

// Makes |worker| this thread's again if it is still without one.
static void take_back(worker_t* worker) {
  thread_pool_t* pool = worker->pool;
  tfrt_mutex_lock(&pool->mutex);
  worker_t** link = &pool->first_unserved;
  while (*link && *link != worker) link = &(*link)->next_idle;
  const bool is_there = *link;
  if (is_there) {
    *link = worker->next_idle;
    worker->state = SERVED;
    atomic_fetch_sub_explicit(&pool->idle_count, 1, memory_order_seq_cst);
    current_worker = worker;
  }
  tfrt_mutex_unlock(&pool->mutex);
  // After the worker is no longer idle; without it, when the task ends.
  if (is_there) note_blocking_done(pool);
}

// Runs tasks in the place of a thread that isn't to be had, until |values| are available or this
// thread has no worker any more.
static void help(worker_t* worker, tfrt_async_value_t* const* values, size_t count) {
  while (current_worker == worker && !are_available(values, count)) {
    tfrt_task_t* task = find_own(worker);
    if (!task) task = take_from_outside(worker);
    if (!task) task = steal(worker);
    if (task) {
      task->run(task);
    } else {
      tfrt_thread_yield();
    }
  }
}

static void await_as_worker(worker_t* worker, tfrt_async_value_t* const* values, size_t count) {
  if (are_available(values, count)) return;
  const bool is_served = give_away(worker);
  if (is_served) {
    tfrt_blocking_wait(values, count);
    take_back(worker);
  } else {
    for (size_t i = 0; i < count; ++i) tfrt_async_value_demand(values[i]);
    take_back(worker);
    help(worker, values, count);
    tfrt_blocking_wait(values, count);
  }
}

// --- The interface -----------------------------------------------------------

// Returns true if at least one worker runs; the first one is started by the first task.
static bool is_started(thread_pool_t* pool) {
  // Relaxed: only whether it is zero counts, and that is checked again with the lock.
  if (atomic_load_explicit(&pool->started_count, memory_order_relaxed) > 0) return true;
  tfrt_mutex_lock(&pool->mutex);
  bool is_started = atomic_load_explicit(&pool->started_count, memory_order_relaxed) > 0 ||
                    start_worker_locked(pool);
  tfrt_mutex_unlock(&pool->mutex);
  return is_started;
}

// --- Guests ------------------------------------------------------------------

// Runs some of the tasks of the guest that this thread is: one at a time, so that others have the
// rest if one of them waits.
static void work_off(tfrt_work_queue_t* base) {
  thread_pool_t* pool = cast(base);
  tfrt_guest_t* guest = current_guest;
  if (!guest || guest->guests != &pool->guests) return;
  // Counted as a blocking task is. With the mutex held, so that is_quiet_locked() sees either the
  // tasks in the ring or this. Relaxed: the mutex orders it.
  tfrt_mutex_lock(&pool->mutex);
  atomic_fetch_add_explicit(&pool->blocking_count, 1, memory_order_relaxed);
  tfrt_mutex_unlock(&pool->mutex);
  tfrt_task_t* task;
  for (int i = 0; i < TFRT_BACKLOG_PIECE; ++i) {
    if (tfrt_task_ring_take(&guest->ring, 1, 1, &task) == 0) break;
    task->run(task);
  }
  note_blocking_done(pool);
}

// Adds |task| to those of the guest that this thread is, for a worker to find. Returns false, and
// has not taken it, if this thread is none, or there is no room.
static bool add_as_guest(thread_pool_t* pool, tfrt_task_t* task) {
  tfrt_guest_t* guest = current_guest;
  if (!guest || guest->guests != &pool->guests) return false;
  if (!tfrt_task_ring_put(&guest->ring, task)) return false;
  const bool is_long = tfrt_task_ring_is_long(&guest->ring, LONG_FOR_A_NAP);
  if (is_long && tfrt_task_ring_is_long(&guest->ring, TFRT_BACKLOG_LIMIT)) {
    tfrt_backlog_note(&pool->base, work_off);
  }
  wake_one(pool, !is_long);
  return true;
}

// Runs |task| as a guest, unless the thread is the pool's own.
static void pool_run_here(tfrt_work_queue_t* base, tfrt_task_t* task) {
  thread_pool_t* pool = cast(base);
  tfrt_guest_t* outer = current_guest;
  const bool is_inside = current_pool == pool || (outer && outer->guests == &pool->guests);
  tfrt_guest_t* guest = is_inside ? NULL : tfrt_guests_enter(&pool->guests);
  if (!guest) {
    task->run(task);
    return;
  }
  current_guest = guest;
  task->run(task);
  current_guest = outer;
  tfrt_backlog_forget(base);
  tfrt_guests_leave(&pool->guests, guest);
  // It may have been left to the end of the nap, and so may quiesce.
  tfrt_guests_wake_napper(&pool->guests);
}

static void pool_note_backlog(tfrt_work_queue_t* base) {
  const tfrt_guest_t* guest = current_guest;
  if (guest && guest->guests == &cast(base)->guests) tfrt_backlog_note(base, work_off);
}

// --- Adding ------------------------------------------------------------------

static void pool_add_task(tfrt_work_queue_t* base, tfrt_task_t* task) {
  thread_pool_t* pool = cast(base);
  if (TFRT_UNLIKELY(!is_started(pool))) {
    task->run(task);
    return;
  }
  if (add_as_guest(pool, task)) return;
  bool is_own = current_worker && current_worker->pool == pool;
  if (!is_own || !tfrt_task_deque_push(&current_worker->deque, task)) push_shared(pool, task);
  wake_one(pool, false);
}

static bool pool_add_blocking_task(tfrt_work_queue_t* base, tfrt_task_t* task, bool allow_queuing) {
  thread_pool_t* pool = cast(base);
  // Relaxed: a compute task that adds one is seen running until it goes to sleep under
  // the pool's mutex, and a blocking one is counted itself.
  atomic_fetch_add_explicit(&pool->blocking_count, 1, memory_order_relaxed);
  bool is_taken = tfrt_blocking_pool_add(
      allow_queuing ? &pool->queued_blocking : &pool->dedicated_blocking, task, allow_queuing);
  if (!is_taken) note_blocking_done(pool);
  return is_taken;
}

// Counted as a blocking task is, so that to be quiet is to have none of them.
static void pool_run_or_add(tfrt_work_queue_t* base, tfrt_task_t* task) {
  thread_pool_t* pool = cast(base);
  // Relaxed: a thread that learns what the task did, by the task's own release, sees this, too.
  atomic_fetch_add_explicit(&pool->blocking_count, 1, memory_order_relaxed);
  task->run(task);
  note_blocking_done(pool);
}

static void pool_await(tfrt_work_queue_t* base, tfrt_async_value_t* const* values, size_t count) {
  if (current_worker && current_worker->pool == cast(base)) {
    await_as_worker(current_worker, values, count);
  } else {
    tfrt_blocking_wait(values, count);
  }
}

// Returns true if nothing is queued or running.
static bool is_quiet_locked(thread_pool_t* pool) {
  // With the mutex held, idle workers stay idle. So new work could only come from a
  // blocking task; if there is none, what these left behind is visible to has_work().
  // Acquire: pairs with the release in note_blocking_done().
  return are_workers_idle_locked(pool) &&
         atomic_load_explicit(&pool->blocking_count, memory_order_acquire) == 0 && !has_work(pool);
}

static void pool_quiesce(tfrt_work_queue_t* base) {
  thread_pool_t* pool = cast(base);
  tfrt_mutex_lock(&pool->mutex);
  ++pool->quiesce_count;
  while (!is_quiet_locked(pool)) tfrt_condition_wait(&pool->quiet_condition, &pool->mutex);
  --pool->quiesce_count;
  tfrt_mutex_unlock(&pool->mutex);
}

static int pool_parallelism(const tfrt_work_queue_t* queue) {
  return ((const thread_pool_t*)queue)->worker_count;
}

static bool pool_is_in_worker_thread(const tfrt_work_queue_t* queue) {
  return current_pool && &current_pool->base == queue;
}

static const char* pool_name(const tfrt_work_queue_t* queue) {
  return ((const thread_pool_t*)queue)->name;
}

static void on_blocking_thread_start(void* owner) { current_pool = owner; }

static void run_service(tfrt_task_t* task) {
  run_worker(TFRT_CONTAINER_OF(task, worker_t, service));
  current_worker = NULL;
}

static void ignore_service_end(void* owner) { (void)owner; }

static const tfrt_blocking_pool_callbacks_t blocking_callbacks = {
    .on_thread_start = on_blocking_thread_start,
    .on_task_done = note_blocking_done,
};

static const tfrt_blocking_pool_callbacks_t substitute_callbacks = {
    .on_thread_start = on_blocking_thread_start,
    .on_task_done = ignore_service_end,
};

// --- Life --------------------------------------------------------------------

static void free_pool(thread_pool_t* pool) {
  tfrt_guests_deinitialize(&pool->guests);
  if (pool->workers) {
    tfrt_allocator_free_aligned(pool->allocator, pool->workers,
                                (size_t)pool->worker_count * sizeof(worker_t), _Alignof(worker_t));
  }
  tfrt_allocator_free_aligned(pool->allocator, pool, sizeof *pool, _Alignof(thread_pool_t));
}

static void pool_destroy(tfrt_work_queue_t* base) {
  thread_pool_t* pool = cast(base);
  assert(!pool_is_in_worker_thread(base));
  // First: a blocking thread may still be telling the pool that it is idle.
  tfrt_blocking_pool_deinitialize(&pool->dedicated_blocking);
  tfrt_blocking_pool_deinitialize(&pool->queued_blocking);
  tfrt_mutex_lock(&pool->mutex);
  // Relaxed: see is_stopping().
  atomic_store_explicit(&pool->is_stopping, true, memory_order_relaxed);
  for (worker_t* worker; (worker = take_idle_locked(pool));) {
    if (worker->state == SERVED) tfrt_parker_wake(&worker->parker);
  }
  tfrt_mutex_unlock(&pool->mutex);
  int started = atomic_load_explicit(&pool->started_count, memory_order_relaxed);
  for (int i = 0; i < started; ++i) tfrt_thread_join(&pool->workers[i].thread);
  tfrt_blocking_pool_deinitialize(&pool->substitutes);
  assert(!has_work(pool));
  tfrt_condition_deinitialize(&pool->quiet_condition);
  tfrt_mutex_deinitialize(&pool->mutex);
  tfrt_mutex_deinitialize(&pool->shared_mutex);
  free_pool(pool);
}

static const tfrt_work_queue_vtable_t pool_vtable = {
    .destroy = pool_destroy,
    .add_task = pool_add_task,
    .add_blocking_task = pool_add_blocking_task,
    .await = pool_await,
    .quiesce = pool_quiesce,
    .parallelism = pool_parallelism,
    .is_in_worker_thread = pool_is_in_worker_thread,
    .name = pool_name,
    .run_here = pool_run_here,
    .run_or_add = pool_run_or_add,
    .note_backlog = pool_note_backlog,
};

static tfrt_status_t check_count(const char* what, int count) {
  if (count >= 0 && count <= TFRT_THREAD_POOL_MAX_THREADS) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "a work queue can't have %d %s threads; give 0 to %d", count, what,
                            TFRT_THREAD_POOL_MAX_THREADS);
}

// Makes all of the pool that needs neither memory nor threads.
static void initialize_pool(thread_pool_t* pool, int blocking_count) {
  pool->base.vtable = &pool_vtable;
  tfrt_ref_count_initialize(&pool->base.ref_count);
  // The words are those that bef_executor prints.
  snprintf(pool->name, sizeof pool->name,
           "Multi-threaded C++ work queue (%d threads, %d blocking threads)", pool->worker_count,
           blocking_count);
  for (int i = 0; i < pool->worker_count; ++i) {
    worker_t* worker = &pool->workers[i];
    tfrt_task_deque_initialize(&worker->deque);
    worker->pool = pool;
    worker->tick = 0;
    worker->state = SERVED;
    tfrt_task_initialize(&worker->service, run_service);
    atomic_init(&worker->parker.state, 0);
    tfrt_random_initialize(&worker->random, (uint64_t)i);
  }
  tfrt_mutex_initialize(&pool->shared_mutex);
  tfrt_mutex_initialize(&pool->mutex);
  tfrt_condition_initialize(&pool->quiet_condition);
}

static tfrt_status_t out_of_memory(int worker_count) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "memory for a work queue of %d threads is out", worker_count);
}

// Allocates a pool with zeroed fields and room for its workers.
static thread_pool_t* allocate_pool(int worker_count, tfrt_allocator_t allocator) {
  thread_pool_t* pool =
      tfrt_allocator_allocate_aligned(allocator, sizeof *pool, _Alignof(thread_pool_t));
  if (!pool) return NULL;
  *pool = (thread_pool_t){.allocator = allocator, .worker_count = worker_count};
  tfrt_guests_initialize(&pool->guests, allocator);
  pool->workers = tfrt_allocator_allocate_aligned(
      allocator, (size_t)worker_count * sizeof(worker_t), _Alignof(worker_t));
  if (pool->workers) return pool;
  free_pool(pool);
  return NULL;
}

// Makes the pools of threads besides the workers' own: all of them, or none.
static tfrt_status_t initialize_threads(thread_pool_t* pool, size_t blocking_count) {
  const struct {
    tfrt_blocking_pool_t* threads;
    size_t count;
    const tfrt_blocking_pool_callbacks_t* callbacks;
  } pools[] = {
      {&pool->queued_blocking, blocking_count, &blocking_callbacks},
      {&pool->dedicated_blocking, blocking_count, &blocking_callbacks},
      {&pool->substitutes, MAX_SUBSTITUTES, &substitute_callbacks},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(pools); ++i) {
    tfrt_status_t status = tfrt_blocking_pool_initialize(pools[i].threads, pools[i].count,
                                                         pools[i].callbacks, pool, pool->allocator);
    if (status) {
      while (i-- > 0) tfrt_blocking_pool_deinitialize(pools[i].threads);
      return status;
    }
  }
  return NULL;
}

tfrt_status_t tfrt_thread_pool_work_queue_create(const tfrt_thread_pool_options_t* options,
                                                 tfrt_allocator_t allocator,
                                                 tfrt_work_queue_t** out_queue) {
  *out_queue = NULL;
  TFRT_RETURN_IF_ERROR(check_count("compute", options->thread_count));
  TFRT_RETURN_IF_ERROR(check_count("blocking", options->blocking_thread_count));
  int worker_count = options->thread_count ? options->thread_count : tfrt_processor_count();
  int blocking_count = options->blocking_thread_count ? options->blocking_thread_count
                                                      : TFRT_THREAD_POOL_DEFAULT_BLOCKING_THREADS;
  thread_pool_t* pool = allocate_pool(worker_count, allocator);
  if (!pool) return out_of_memory(worker_count);
  tfrt_status_t status = initialize_threads(pool, (size_t)blocking_count);
  if (status) {
    free_pool(pool);
    return status;
  }
  initialize_pool(pool, blocking_count);
  pool->pin_threads = options->pin_threads;
  *out_queue = &pool->base;
  return NULL;
}
