// SPDX-License-Identifier: Apache-2.0
#include "distributed/threads/reader_pair.h"

#include <string.h>

#include "host_runtime/base/macros.h"

// The pair and the role of the calling thread.
static _Thread_local tfrt_reader_pair_t* tfrt_reader_pair_current;
static _Thread_local int tfrt_reader_pair_index;
static _Thread_local bool tfrt_reader_pair_runs_task;

// With the lock held.
static bool reader_pair_is_over(const tfrt_reader_pair_t* pair) {
  return pair->reader == TFRT_READER_PAIR_NOBODY;
}

// --- The reader ----------------------------------------------------------------

// With the lock held: has the deputy watch from now on.
static void reader_pair_alert(tfrt_reader_pair_t* pair) {
  if (pair->is_watching || !pair->has_deputy) return;
  pair->is_watching = true;
  tfrt_condition_signal(&pair->changed);
}

// With the lock held: a task runs, or waits.
static bool reader_pair_has_work(const tfrt_reader_pair_t* pair) {
  return pair->running > 0 || pair->taken_count > 0 || !tfrt_task_list_is_empty(&pair->behind);
}

// With the lock held: takes out the next task to run, or returns NULL.
static tfrt_task_t* reader_pair_pop(tfrt_reader_pair_t* pair) {
  tfrt_task_t* task = tfrt_task_list_pop_front(&pair->taken);
  if (!task) return tfrt_task_list_pop_front(&pair->behind);
  --pair->taken_count;
  return task;
}

// With the lock held: a task or hand-over that |running| counted is over.
static void reader_pair_end_one(tfrt_reader_pair_t* pair) {
  --pair->running;
  if (!reader_pair_has_work(pair)) tfrt_condition_broadcast(&pair->calmed);
}

// With the lock held, which is open meanwhile: moves all taken tasks to the work queue, and with
// |with_behind| those that run |behind| them, too. |running| counts this, so that drain waits:
// after drain the queue may be gone, and so may tasks that are in no list of the pair any more.
static void reader_pair_hand_over(tfrt_reader_pair_t* pair, bool with_behind) {
  tfrt_work_queue_t* queue = pair->queue;
  tfrt_task_list_t lists[] = {pair->taken, {0}};
  pair->taken = (tfrt_task_list_t){0};
  pair->taken_count = 0;
  if (with_behind) {
    lists[1] = pair->behind;
    pair->behind = (tfrt_task_list_t){0};
  }
  ++pair->running;
  tfrt_mutex_unlock(&pair->mutex);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(lists); ++i) {
    for (tfrt_task_t* task; (task = tfrt_task_list_pop_front(&lists[i]));) {
      tfrt_work_queue_add_task(queue, task);
    }
  }
  tfrt_mutex_lock(&pair->mutex);
  reader_pair_end_one(pair);
}

// With the lock held, or before there are threads: expects tasks of unknown length.
static void reader_pair_expect_any(tfrt_reader_pair_t* pair) {
  pair->room = 1;
  pair->credit_ns = TFRT_READER_PAIR_WAKE_NS;
}

// With the lock held: whether to read the clock after the next task of the turn, when the last
// |count| tasks were not timed.
static bool reader_pair_is_timed(const tfrt_reader_pair_t* pair, uint32_t count) {
  return pair->credit_ns < TFRT_READER_PAIR_LOOK_NS || count + 1 == TFRT_READER_PAIR_UNTIMED;
}

// With the lock held, which may be open meanwhile: |count| tasks of the turn have run for
// |elapsed_ns|. Decides for how many there is room, and whether others shall run those that are
// left.
static void reader_pair_judge(tfrt_reader_pair_t* pair, uint32_t count, int64_t elapsed_ns) {
  if (elapsed_ns >= TFRT_READER_PAIR_LOOK_NS / 2) pair->was_long = true;
  pair->credit_ns += count * TFRT_READER_PAIR_SHORT_NS - elapsed_ns;
  if (pair->credit_ns >= 0) {
    if (pair->credit_ns > TFRT_READER_PAIR_LOOK_NS) pair->credit_ns = TFRT_READER_PAIR_LOOK_NS;
    if (pair->room < TFRT_READER_PAIR_MAX_TAKEN) pair->room *= 2;
    return;
  }
  reader_pair_expect_any(pair);
  if (pair->taken_count > 0) reader_pair_hand_over(pair, false);
}

// Runs the taken tasks. False if the thread is no reader any more.
static bool reader_pair_run_taken(tfrt_reader_pair_t* pair) {
  const tfrt_clock_t clock = tfrt_clock_system();
  tfrt_mutex_lock(&pair->mutex);
  bool is_reader = true;
  int64_t begin_ns = 0;
  uint32_t untimed = 0;
  while (is_reader) {
    const bool is_of_turn = pair->taken_count > 0;
    tfrt_task_t* task = reader_pair_pop(pair);
    if (!task) break;
    const bool is_timed = is_of_turn && reader_pair_is_timed(pair, untimed);
    pair->is_running = true;
    ++pair->run_count;
    ++pair->running;
    reader_pair_alert(pair);
    tfrt_mutex_unlock(&pair->mutex);
    if (is_of_turn && begin_ns == 0) begin_ns = tfrt_clock_now_ns(clock);
    tfrt_reader_pair_runs_task = true;
    task->run(task);
    tfrt_reader_pair_runs_task = false;
    const int64_t end_ns = is_timed ? tfrt_clock_now_ns(clock) : 0;
    tfrt_mutex_lock(&pair->mutex);
    is_reader = pair->reader == tfrt_reader_pair_index;
    if (is_reader) {
      pair->is_running = false;
      if (is_timed) reader_pair_judge(pair, untimed + 1, end_ns - begin_ns);
    }
    if (is_timed || !is_of_turn) begin_ns = end_ns;
    untimed = is_timed || !is_of_turn ? 0 : untimed + 1;
    reader_pair_end_one(pair);
  }
  tfrt_mutex_unlock(&pair->mutex);
  return is_reader;
}

// Takes turns until the thread is no reader any more, or all is over.
static void reader_pair_read(tfrt_reader_pair_t* pair) {
  bool goes_on = true;
  while (goes_on) {
    goes_on = pair->turn(pair->self);
    if (!reader_pair_run_taken(pair)) return;
  }
  tfrt_mutex_lock(&pair->mutex);
  pair->reader = TFRT_READER_PAIR_NOBODY;
  tfrt_condition_signal(&pair->changed);
  tfrt_mutex_unlock(&pair->mutex);
}

// --- The deputy ----------------------------------------------------------------

// With the lock held: makes the calling thread the reader. Tasks that wait for the former one go to
// the work queue.
static void reader_pair_take_over(tfrt_reader_pair_t* pair) {
  pair->reader = tfrt_reader_pair_index;
  pair->has_deputy = false;
  pair->is_running = false;
  reader_pair_expect_any(pair);
  reader_pair_hand_over(pair, true);
}

// With the lock held: how long to wait for the next look. A look takes a processor from another
// thread for a moment, so while no task is long, looks are rare: |*calm_ns| is the wait before the
// last look that saw no task run, and is set for the next. A task that is seen to run may last, so
// the next look comes soon.
static int64_t reader_pair_next_look(tfrt_reader_pair_t* pair, int64_t* calm_ns) {
  if (pair->was_long || pair->is_running) {
    *calm_ns = TFRT_READER_PAIR_LOOK_NS;
  } else if (*calm_ns < TFRT_READER_PAIR_MAX_LOOK_NS) {
    *calm_ns *= 2;
  }
  pair->was_long = false;
  return *calm_ns;
}

// With the lock held: looks again and again, until the thread is the reader, all is over, or
// nothing has happened for long.
static void reader_pair_watch(tfrt_reader_pair_t* pair) {
  int64_t idle_ns = 0;
  int64_t calm_ns = TFRT_READER_PAIR_LOOK_NS;
  while (!reader_pair_is_over(pair) && idle_ns < TFRT_READER_PAIR_IDLE_NS) {
    const uint64_t seen = pair->run_count;
    const bool was_running = pair->is_running;
    const int64_t wait_ns = reader_pair_next_look(pair, &calm_ns);
    const int64_t look_ns = tfrt_clock_now_ns(tfrt_clock_system()) + wait_ns;
    while (!reader_pair_is_over(pair) &&
           tfrt_condition_wait_until(&pair->changed, &pair->mutex, look_ns)) {
    }
    if (pair->run_count != seen) {
      idle_ns = 0;
    } else if (was_running && pair->is_running) {
      reader_pair_take_over(pair);
      break;
    } else if (!pair->is_running) {
      idle_ns += wait_ns;
    }
  }
  pair->is_watching = false;
}

// Waits until the calling thread is the reader. False when all is over.
static bool reader_pair_stand_by(tfrt_reader_pair_t* pair) {
  tfrt_mutex_lock(&pair->mutex);
  while (!reader_pair_is_over(pair) && pair->reader != tfrt_reader_pair_index) {
    pair->has_deputy = true;
    if (pair->is_watching) {
      reader_pair_watch(pair);
    } else {
      tfrt_condition_wait(&pair->changed, &pair->mutex);
    }
  }
  bool is_reader = !reader_pair_is_over(pair);
  tfrt_mutex_unlock(&pair->mutex);
  return is_reader;
}

// --- Life ----------------------------------------------------------------------

static void reader_pair_run(tfrt_reader_pair_t* pair, int index) {
  tfrt_reader_pair_current = pair;
  tfrt_reader_pair_index = index;
  while (reader_pair_stand_by(pair)) reader_pair_read(pair);
}

static void reader_pair_run_first(void* pair) { reader_pair_run(pair, 0); }
static void reader_pair_run_second(void* pair) { reader_pair_run(pair, 1); }

static void reader_pair_deinitialize(tfrt_reader_pair_t* pair) {
  tfrt_condition_deinitialize(&pair->calmed);
  tfrt_condition_deinitialize(&pair->changed);
  tfrt_mutex_deinitialize(&pair->mutex);
}

tfrt_status_t tfrt_reader_pair_start(tfrt_reader_pair_t* pair, const char* name,
                                     tfrt_reader_turn_fn_t turn, void* self) {
  memset(pair, 0, sizeof(*pair));
  pair->turn = turn;
  pair->self = self;
  reader_pair_expect_any(pair);
  tfrt_mutex_initialize(&pair->mutex);
  tfrt_condition_initialize(&pair->changed);
  tfrt_condition_initialize(&pair->calmed);
  // The deputy first: without it the reader could not be stopped from here.
  tfrt_status_t status = tfrt_thread_create(name, reader_pair_run_second, pair, &pair->threads[1]);
  if (status) {
    reader_pair_deinitialize(pair);
    return status;
  }
  status = tfrt_thread_create(name, reader_pair_run_first, pair, &pair->threads[0]);
  if (!status) return NULL;
  tfrt_mutex_lock(&pair->mutex);
  pair->reader = TFRT_READER_PAIR_NOBODY;
  tfrt_condition_signal(&pair->changed);
  tfrt_mutex_unlock(&pair->mutex);
  tfrt_thread_join(&pair->threads[1]);
  reader_pair_deinitialize(pair);
  return status;
}

void tfrt_reader_pair_join(tfrt_reader_pair_t* pair) {
  for (int i = 0; i < 2; ++i) tfrt_thread_join(&pair->threads[i]);
  reader_pair_deinitialize(pair);
}

void tfrt_reader_pair_drain(tfrt_reader_pair_t* pair) {
  tfrt_mutex_lock(&pair->mutex);
  while (reader_pair_has_work(pair)) tfrt_condition_wait(&pair->calmed, &pair->mutex);
  tfrt_mutex_unlock(&pair->mutex);
}

// --- Offering ------------------------------------------------------------------

// Takes |task| for the calling thread's pair, if it can; |is_behind|: to run after the tasks of the
// turn.
static bool reader_pair_take(tfrt_work_queue_t* queue, tfrt_task_t* task, bool is_behind) {
  tfrt_reader_pair_t* pair = tfrt_reader_pair_current;
  if (!pair) return false;
  tfrt_mutex_lock(&pair->mutex);
  bool is_free = pair->taken_count == 0 && tfrt_task_list_is_empty(&pair->behind);
  bool has_room =
      (is_free || pair->queue == queue) && (is_behind || pair->taken_count < pair->room);
  bool is_taken = pair->reader == tfrt_reader_pair_index && pair->has_deputy && has_room;
  if (is_taken) {
    tfrt_task_list_push_back(is_behind ? &pair->behind : &pair->taken, task);
    if (!is_behind) ++pair->taken_count;
    pair->queue = queue;
  }
  tfrt_mutex_unlock(&pair->mutex);
  return is_taken;
}

bool tfrt_reader_pair_offer(tfrt_work_queue_t* queue, tfrt_task_t* task,
                            tfrt_reader_pair_when_t when) {
  bool is_taken = reader_pair_take(queue, task, when != TFRT_READER_PAIR_SOON);
  if (is_taken || when == TFRT_READER_PAIR_BEHIND_HERE) return is_taken;
  tfrt_work_queue_add_task(queue, task);
  return true;
}

bool tfrt_reader_pair_is_in_task(void) { return tfrt_reader_pair_runs_task; }
