// SPDX-License-Identifier: Apache-2.0
//
// The ring in every order that its owner and those who take from it can have.
#include "tests/support/interleaving_atomics.h"
// Behind it: the real code, with its atomic operations as points.
#include "host_runtime/async/task_ring.c"
#include "tests/support/test_main.h"

static tfrt_task_ring_t ring;
static tfrt_task_t tasks[4];
static int taken[4];  // how often each task was taken
static int put_count;
static int refused;

static void take(size_t most) {
  tfrt_task_t* some[4];
  const size_t count = tfrt_task_ring_take(&ring, 1, most, some);
  for (size_t i = 0; i < count; ++i) ++taken[some[i] - tasks];
}

static void take_one(void) { take(1); }
static void take_two(void) { take(2); }
static void take_two_twice(void) {
  take(2);
  take(2);
}

static void put(void) {
  if (tfrt_task_ring_put(&ring, &tasks[put_count])) {
    ++put_count;
  } else {
    ++refused;
  }
}

// |first|: where the indices begin. The slots may hold anything.
static void reset(uint64_t first) {
  atomic_init(&ring.top, first);
  atomic_init(&ring.bottom, first);
  ring.seen_top = first;
  for (int i = 0; i < 4; ++i) taken[i] = 0;
  put_count = 0;
  refused = 0;
}

// Each task that was put in was taken once, by somebody, or is still there.
static void check_all_once(void) {
  take(4);
  ck_assert(tfrt_task_ring_is_empty(&ring));
  for (int i = 0; i < 4; ++i) ck_assert_int_eq(taken[i], i < put_count);
}

static void set_up_two(void) {
  reset(0);
  put();
  put();
}
static void put_two_and_take_one(void) {
  put();
  put();
  take_one();
}

START_TEST(no_task_is_lost_or_taken_twice) {
  const interleaving_scenario_t scenario = {
      .set_up = set_up_two,
      .threads = {put_two_and_take_one, take_two_twice, take_two},
      .check = check_all_once,
      .max_preemptions = 3};
  ck_assert_uint_gt(interleaving_explore(&scenario), 1000);
}
END_TEST

// All slots but one hold a task that counts for nothing, so that a put meets the end of the ring.
static tfrt_task_t filler;
static int filler_count;

static void set_up_full(void) {
  reset(0);
  filler_count = TFRT_TASK_RING_CAPACITY - 1;
  // The first two have been overwritten by the order before; all others stay.
  for (int i = 0; i < (ring.slots[2] ? 2 : filler_count); ++i) atomic_init(&ring.slots[i], &filler);
  atomic_init(&ring.bottom, (uint64_t)filler_count);
}
static void put_two(void) {
  put();
  put();
}
static void take_filler(void) {
  tfrt_task_t* task;
  ck_assert_uint_eq(tfrt_task_ring_take(&ring, 1, 1, &task), 1);
  ck_assert_ptr_eq(task, &filler);
  --filler_count;
}
static void check_full(void) {
  ck_assert_int_eq(put_count + refused, 2);
  ck_assert_int_ge(put_count, 1);
  // Skips the filler between the two that were taken and the two that were put in.
  atomic_init(&ring.top, (uint64_t)(TFRT_TASK_RING_CAPACITY - 1));
  ck_assert_int_eq(filler_count, TFRT_TASK_RING_CAPACITY - 3);
  check_all_once();
}

START_TEST(a_slot_is_used_again_only_when_it_was_read) {
  const interleaving_scenario_t scenario = {.set_up = set_up_full,
                                            .threads = {put_two, take_filler, take_filler},
                                            .check = check_full,
                                            .max_preemptions = 3};
  ck_assert_uint_gt(interleaving_explore(&scenario), 100);
}
END_TEST

// As in thread_pool_work_queue.c: the owner then looks for sleepers. A worker that goes to sleep
// counts itself and then looks for tasks.
static _Atomic int sleepers;
static bool saw_sleeper;
static bool saw_task;

static void set_up_sleep(void) {
  reset(0);
  atomic_init(&sleepers, 0);
  saw_sleeper = saw_task = false;
}
static void add(void) {
  put();
  saw_sleeper = atomic_load_explicit(&sleepers, memory_order_seq_cst) > 0;
}
static void go_to_sleep(void) {
  atomic_fetch_add_explicit(&sleepers, 1, memory_order_seq_cst);
  saw_task = !tfrt_task_ring_is_empty(&ring);
}
static void check_somebody_saw(void) { ck_assert(saw_sleeper || saw_task); }

START_TEST(who_adds_and_who_goes_to_sleep_never_miss_each_other) {
  const interleaving_scenario_t scenario = {.set_up = set_up_sleep,
                                            .threads = {add, go_to_sleep},
                                            .check = check_somebody_saw,
                                            .max_preemptions = INTERLEAVING_ALL_PREEMPTIONS};
  ck_assert_uint_ge(interleaving_explore(&scenario), 6);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("task_ring_interleaving");
  TCase* cases = tcase_create("task_ring_interleaving");
  tcase_add_test(cases, no_task_is_lost_or_taken_twice);
  tcase_add_test(cases, a_slot_is_used_again_only_when_it_was_read);
  tcase_add_test(cases, who_adds_and_who_goes_to_sleep_never_miss_each_other);
  suite_add_tcase(suite, cases);
  return suite;
}
