// SPDX-License-Identifier: Apache-2.0
//
// The turns of these pairs take *steps* from a list, in the place of messages. No test judges how
// long the deputy takes: a task that waits for a later step would wait for ever without one.
#include "distributed/threads/reader_pair.h"

#include <stdatomic.h>

#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/macros.h"
#include "tests/support/test_main.h"

#define MAX_STEPS 8

// Its address tells threads apart.
static _Thread_local char self;
static _Thread_local bool is_in_turn;

typedef struct world_s world_t;
typedef void (*step_fn_t)(world_t* world);

struct world_s {
  tfrt_reader_pair_t pair;
  tfrt_work_queue_t* queue;
  tfrt_mutex_t mutex;
  tfrt_condition_t changed;
  // Guarded by |mutex|.
  step_fn_t steps[MAX_STEPS];
  int step_count;
  int done_count;  // steps that were taken
  bool is_ended;
  // Fields that the tests read; one thread writes each before it signals another thread.
  tfrt_task_t task;
  tfrt_task_t other;
  const char* reader;
  bool ran_in_turn;
  bool ran_on_reader;
  bool ran_in_queue;
  bool ran_second;
  int ran_before;  // how many tasks before the two of a turn
  _Atomic int ran;
};

static void await_steps(world_t* world, int count) {
  tfrt_mutex_lock(&world->mutex);
  while (world->done_count < count) tfrt_condition_wait(&world->changed, &world->mutex);
  tfrt_mutex_unlock(&world->mutex);
}

// Counts a task that has run.
static void note_run(world_t* world) {
  tfrt_mutex_lock(&world->mutex);
  atomic_fetch_add(&world->ran, 1);
  tfrt_condition_broadcast(&world->changed);
  tfrt_mutex_unlock(&world->mutex);
}

static void await_runs(world_t* world, int count) {
  tfrt_mutex_lock(&world->mutex);
  while (atomic_load(&world->ran) < count) {
    tfrt_condition_wait(&world->changed, &world->mutex);
  }
  tfrt_mutex_unlock(&world->mutex);
}

static bool take_step(void* argument) {
  world_t* world = argument;
  tfrt_mutex_lock(&world->mutex);
  while (world->done_count == world->step_count && !world->is_ended) {
    tfrt_condition_wait(&world->changed, &world->mutex);
  }
  bool is_over = world->done_count == world->step_count;
  step_fn_t step = is_over ? NULL : world->steps[world->done_count];
  tfrt_mutex_unlock(&world->mutex);
  if (is_over) return false;
  world->reader = &self;
  is_in_turn = true;
  step(world);
  is_in_turn = false;
  tfrt_mutex_lock(&world->mutex);
  ++world->done_count;
  tfrt_condition_broadcast(&world->changed);
  tfrt_mutex_unlock(&world->mutex);
  return true;
}

static void begin(world_t* world) {
  *world = (world_t){0};
  tfrt_mutex_initialize(&world->mutex);
  tfrt_condition_initialize(&world->changed);
  // Two: where there is no deputy yet, a task that waits for another one meets it on the queue.
  tfrt_thread_pool_options_t options = {.thread_count = 2};
  tfrt_status_t status =
      tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &world->queue);
  ck_assert(!status);
  status = tfrt_reader_pair_start(&world->pair, "reader", take_step, world);
  ck_assert(!status);
}

static void add_step(world_t* world, step_fn_t step) {
  tfrt_mutex_lock(&world->mutex);
  ck_assert_int_lt(world->step_count, MAX_STEPS);
  world->steps[world->step_count++] = step;
  tfrt_condition_broadcast(&world->changed);
  tfrt_mutex_unlock(&world->mutex);
}

static void end(world_t* world) {
  tfrt_mutex_lock(&world->mutex);
  world->is_ended = true;
  tfrt_condition_broadcast(&world->changed);
  tfrt_mutex_unlock(&world->mutex);
  tfrt_reader_pair_join(&world->pair);
  tfrt_work_queue_quiesce(world->queue);
  tfrt_work_queue_release(world->queue);
  tfrt_condition_deinitialize(&world->changed);
  tfrt_mutex_deinitialize(&world->mutex);
}

// --- Tasks and steps -------------------------------------------------------------

static void do_nothing(world_t* world) { (void)world; }

static void run_short(tfrt_task_t* task) {
  world_t* world = TFRT_CONTAINER_OF(task, world_t, task);
  world->ran_in_turn = is_in_turn;
  world->ran_on_reader = world->reader == &self;
  note_run(world);
}

static void run_other(tfrt_task_t* task) {
  world_t* world = TFRT_CONTAINER_OF(task, world_t, other);
  world->ran_in_queue = tfrt_work_queue_is_in_worker_thread(world->queue);
  note_run(world);
}

// Lasts until the second step was taken; then offers another task.
static void run_long(tfrt_task_t* task) {
  world_t* world = TFRT_CONTAINER_OF(task, world_t, task);
  await_steps(world, 2);
  tfrt_task_initialize(&world->other, run_other);
  tfrt_reader_pair_offer(world->queue, &world->other, TFRT_READER_PAIR_SOON);
  note_run(world);
}

// Lasts until the other task has run.
static void run_until_other(tfrt_task_t* task) {
  world_t* world = TFRT_CONTAINER_OF(task, world_t, task);
  world->ran_on_reader = world->reader == &self;
  await_runs(world, 1);
  note_run(world);
}

// Offers the other task to the reader that it runs on, and lasts until that has run.
static void run_in_front_of_other(tfrt_task_t* task) {
  world_t* world = TFRT_CONTAINER_OF(task, world_t, task);
  tfrt_task_initialize(&world->other, run_other);
  tfrt_reader_pair_offer(world->queue, &world->other, TFRT_READER_PAIR_SOON);
  await_runs(world, 1);
  note_run(world);
}

static void offer(world_t* world, tfrt_task_fn_t run) {
  tfrt_task_initialize(&world->task, run);
  tfrt_reader_pair_offer(world->queue, &world->task, TFRT_READER_PAIR_SOON);
}

static void offer_short(world_t* world) { offer(world, run_short); }
static void offer_long(world_t* world) { offer(world, run_long); }
static void offer_in_front_of_other(world_t* world) { offer(world, run_in_front_of_other); }

// Runs on the reader's thread, in the order in which they were taken.
static void run_second(tfrt_task_t* task) {
  world_t* world = TFRT_CONTAINER_OF(task, world_t, other);
  world->ran_second = world->reader == &self && atomic_load(&world->ran) == world->ran_before + 1;
  note_run(world);
}

static void offer_one_behind_the_other(world_t* world) {
  offer(world, run_short);
  tfrt_task_initialize(&world->other, run_second);
  tfrt_reader_pair_offer(world->queue, &world->other, TFRT_READER_PAIR_BEHIND);
}

// Two that are short. The first turn of a test has shown that, if its task ran on the reader.
static void offer_two_short(world_t* world) {
  offer(world, run_short);
  tfrt_task_initialize(&world->other, run_second);
  tfrt_reader_pair_offer(world->queue, &world->other, TFRT_READER_PAIR_SOON);
}

// Takes more than all that was saved before it, but less than the deputy waits for.
static void run_half_a_look(tfrt_task_t* task) {
  tfrt_clock_t clock = tfrt_clock_system();
  int64_t end_ns = tfrt_clock_now_ns(clock) + TFRT_READER_PAIR_LOOK_NS / 2;
  while (tfrt_clock_now_ns(clock) < end_ns) {
  }
  note_run(TFRT_CONTAINER_OF(task, world_t, task));
}

static void offer_in_front_of_a_short_one(world_t* world) {
  world->ran_in_queue = false;
  offer(world, run_half_a_look);
  tfrt_task_initialize(&world->other, run_other);
  tfrt_reader_pair_offer(world->queue, &world->other, TFRT_READER_PAIR_SOON);
}

static void offer_two(world_t* world) {
  offer(world, run_until_other);
  tfrt_task_initialize(&world->other, run_other);
  tfrt_reader_pair_offer(world->queue, &world->other, TFRT_READER_PAIR_SOON);
}

// --- Tests -----------------------------------------------------------------------

// The second thread may not stand by yet when the first step is taken: then the task goes to
// the work queue, as it should; so it is offered again.
START_TEST(what_is_offered_runs_on_the_reader_after_its_turn) {
  world_t world;
  bool was_on_reader = false;
  for (int i = 0; i < 1000 && !was_on_reader; ++i) {
    begin(&world);
    add_step(&world, offer_short);
    await_runs(&world, 1);
    was_on_reader = world.ran_on_reader && !world.ran_in_turn;
    end(&world);
  }
  ck_assert(was_on_reader);
}
END_TEST

START_TEST(a_task_that_lasts_does_not_keep_others_from_reading) {
  world_t world;
  begin(&world);
  add_step(&world, offer_long);
  add_step(&world, do_nothing);
  add_step(&world, do_nothing);
  await_runs(&world, 2);
  await_steps(&world, 3);
  // The thread that ran the long task was no reader any more when the task ended.
  ck_assert(world.ran_in_queue);
  end(&world);
}
END_TEST

START_TEST(a_second_task_of_a_turn_goes_to_the_work_queue) {
  world_t world;
  bool was_on_reader = false;
  for (int i = 0; i < 1000 && !was_on_reader; ++i) {
    begin(&world);
    add_step(&world, offer_two);
    await_runs(&world, 2);
    was_on_reader = world.ran_on_reader;
    // If the first one went to the queue, there was room for this one.
    ck_assert(!was_on_reader || world.ran_in_queue);
    end(&world);
  }
  ck_assert(was_on_reader);
}
END_TEST

// Begins |world|; returns true if its second turn's tasks both ran on the reader.
static bool begin_with_short_ones(world_t* world) {
  begin(world);
  add_step(world, offer_short);
  await_runs(world, 1);
  tfrt_reader_pair_drain(&world->pair);
  bool was_on_reader = world->ran_on_reader;
  world->ran_before = 1;
  add_step(world, offer_two_short);
  await_runs(world, 3);
  tfrt_reader_pair_drain(&world->pair);
  return was_on_reader && world->ran_on_reader && world->ran_second;
}

START_TEST(tasks_of_a_turn_run_on_the_reader_where_the_ones_before_were_short) {
  world_t world;
  bool was_on_reader = false;
  for (int i = 0; i < 1000 && !was_on_reader; ++i) {
    was_on_reader = begin_with_short_ones(&world);
    end(&world);
  }
  ck_assert(was_on_reader);
}
END_TEST

START_TEST(what_waits_behind_a_task_that_is_not_short_goes_to_the_work_queue) {
  world_t world;
  bool was_on_reader = false;
  for (int i = 0; i < 1000 && !was_on_reader; ++i) {
    was_on_reader = begin_with_short_ones(&world);
    add_step(&world, offer_in_front_of_a_short_one);
    await_runs(&world, 5);
    end(&world);
    ck_assert(world.ran_in_queue || !was_on_reader);
  }
  ck_assert(was_on_reader);
}
END_TEST

START_TEST(what_comes_after_a_task_of_the_turn_runs_on_the_reader_too) {
  world_t world;
  bool ran_second = false;
  for (int i = 0; i < 1000 && !ran_second; ++i) {
    begin(&world);
    add_step(&world, offer_one_behind_the_other);
    await_runs(&world, 2);
    ran_second = world.ran_second && world.ran_on_reader;
    end(&world);
  }
  ck_assert(ran_second);
}
END_TEST

START_TEST(what_waits_behind_a_task_that_lasts_goes_to_the_work_queue) {
  world_t world;
  begin(&world);
  add_step(&world, offer_in_front_of_other);
  await_runs(&world, 2);
  ck_assert(world.ran_in_queue);
  end(&world);
}
END_TEST

START_TEST(draining_waits_for_what_was_taken) {
  world_t world;
  for (int i = 0; i < 100; ++i) {
    begin(&world);
    add_step(&world, offer_short);
    await_steps(&world, 1);
    tfrt_reader_pair_drain(&world.pair);
    tfrt_work_queue_quiesce(world.queue);
    ck_assert_int_eq(atomic_load(&world.ran), 1);
    end(&world);
  }
}
END_TEST

START_TEST(what_was_taken_in_the_last_turn_still_runs) {
  world_t world;
  for (int i = 0; i < 100; ++i) {
    begin(&world);
    add_step(&world, offer_short);
    end(&world);
    ck_assert_int_eq(atomic_load(&world.ran), 1);
  }
}
END_TEST

START_TEST(other_threads_are_no_readers) {
  world_t world;
  begin(&world);
  tfrt_task_initialize(&world.other, run_other);
  ck_assert(!tfrt_reader_pair_offer(world.queue, &world.other, TFRT_READER_PAIR_BEHIND_HERE));
  tfrt_reader_pair_offer(world.queue, &world.other, TFRT_READER_PAIR_SOON);
  await_runs(&world, 1);
  ck_assert(world.ran_in_queue);
  end(&world);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("reader pair");
  TCase* pair = tcase_create("pair");
  tcase_add_test(pair, what_is_offered_runs_on_the_reader_after_its_turn);
  tcase_add_test(pair, a_task_that_lasts_does_not_keep_others_from_reading);
  tcase_add_test(pair, a_second_task_of_a_turn_goes_to_the_work_queue);
  tcase_add_test(pair, tasks_of_a_turn_run_on_the_reader_where_the_ones_before_were_short);
  tcase_add_test(pair, what_waits_behind_a_task_that_is_not_short_goes_to_the_work_queue);
  tcase_add_test(pair, what_comes_after_a_task_of_the_turn_runs_on_the_reader_too);
  tcase_add_test(pair, what_waits_behind_a_task_that_lasts_goes_to_the_work_queue);
  tcase_add_test(pair, draining_waits_for_what_was_taken);
  tcase_add_test(pair, what_was_taken_in_the_last_turn_still_runs);
  tcase_add_test(pair, other_threads_are_no_readers);
  suite_add_tcase(suite, pair);
  return suite;
}
