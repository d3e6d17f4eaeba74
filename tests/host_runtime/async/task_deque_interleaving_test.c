// SPDX-License-Identifier: Apache-2.0
//
// The work-stealing deque in every order that its owner and its thieves can have.
#include "tests/support/interleaving_atomics.h"
// Behind it: the real code, with its atomic operations as points.
#include "host_runtime/async/task_deque.c"
#include "tests/support/test_main.h"

static tfrt_task_deque_t deque;
static tfrt_task_t tasks[4];
static int taken[4];  // how often each task was taken
static int pushed;
static int refused;

static void take(tfrt_task_t* task) {
  if (task) ++taken[task - tasks];
}

static void reset(int64_t first) {
  // The slots may hold anything.
  atomic_init(&deque.top, first);
  atomic_init(&deque.bottom, first);
  for (int i = 0; i < 4; ++i) taken[i] = 0;
  pushed = 0;
  refused = 0;
}

static void push(void) {
  if (tfrt_task_deque_push(&deque, &tasks[pushed])) {
    ++pushed;
  } else {
    ++refused;
  }
}

// Each task that was pushed is taken once, by somebody, or still there.
static void check_all_once(void) {
  for (tfrt_task_t* task; (task = tfrt_task_deque_pop(&deque));) take(task);
  ck_assert(tfrt_task_deque_is_empty(&deque));
  for (int i = 0; i < 4; ++i) ck_assert_int_eq(taken[i], i < pushed);
}

static void steal_once(void) { take(tfrt_task_deque_steal(&deque)); }
static void steal_twice(void) {
  steal_once();
  steal_once();
}

// --- The last task -----------------------------------------------------------------

static void set_up_one(void) {
  reset(0);
  push();
}
static void pop_once(void) { take(tfrt_task_deque_pop(&deque)); }

START_TEST(the_last_task_goes_to_its_owner_or_to_one_thief) {
  const interleaving_scenario_t scenario = {.set_up = set_up_one,
                                            .threads = {pop_once, steal_once, steal_once},
                                            .check = check_all_once,
                                            .max_preemptions = 4};
  ck_assert_uint_gt(interleaving_explore(&scenario), 1000);
}
END_TEST

// --- An owner at work ----------------------------------------------------------------

static void set_up_empty(void) { reset(0); }
static void push_and_pop(void) {
  push();
  push();
  pop_once();
  push();
  pop_once();
  pop_once();
}

START_TEST(no_task_is_lost_or_taken_twice_beside_a_thief) {
  const interleaving_scenario_t scenario = {.set_up = set_up_empty,
                                            .threads = {push_and_pop, steal_once},
                                            .check = check_all_once,
                                            .max_preemptions = INTERLEAVING_ALL_PREEMPTIONS};
  ck_assert_uint_gt(interleaving_explore(&scenario), 10000);
}
END_TEST

START_TEST(no_task_is_lost_or_taken_twice_between_two_thieves) {
  const interleaving_scenario_t scenario = {.set_up = set_up_empty,
                                            .threads = {push_and_pop, steal_twice, steal_twice},
                                            .check = check_all_once,
                                            .max_preemptions = 3};
  ck_assert_uint_gt(interleaving_explore(&scenario), 10000);
}
END_TEST

// --- A ring that is full -----------------------------------------------------------------

static tfrt_task_t filler;

// All but the last two slots of the ring hold |filler|, and the indices wrap inside it.
static void set_up_nearly_full(void) {
  reset(TFRT_TASK_DEQUE_CAPACITY / 2);
  for (int i = 0; i < TFRT_TASK_DEQUE_CAPACITY - 1; ++i) tfrt_task_deque_push(&deque, &filler);
}
static void push_two(void) {
  push();
  push();
}
static int stolen_fillers;
static void steal_filler(void) {
  if (tfrt_task_deque_steal(&deque) == &filler) ++stolen_fillers;
}
static void check_full(void) {
  // One fits for sure; the other only if the thief was there before.
  ck_assert_int_eq(pushed + refused, 2);
  ck_assert_int_ge(pushed, 1);
  int left = 0;
  for (tfrt_task_t* task; (task = tfrt_task_deque_pop(&deque)); ++left) {
    if (task != &filler) take(task);
  }
  ck_assert_int_eq(left, TFRT_TASK_DEQUE_CAPACITY - 1 + pushed - stolen_fillers);
  for (int i = 0; i < 4; ++i) ck_assert_int_eq(taken[i], i < pushed);
  stolen_fillers = 0;
}

START_TEST(a_full_ring_refuses_and_overwrites_nothing) {
  const interleaving_scenario_t scenario = {.set_up = set_up_nearly_full,
                                            .threads = {push_two, steal_filler},
                                            .check = check_full,
                                            .max_preemptions = INTERLEAVING_ALL_PREEMPTIONS};
  ck_assert_uint_gt(interleaving_explore(&scenario), 100);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("task_deque_interleaving");
  TCase* cases = tcase_create("task_deque_interleaving");
  tcase_add_test(cases, the_last_task_goes_to_its_owner_or_to_one_thief);
  tcase_add_test(cases, no_task_is_lost_or_taken_twice_beside_a_thief);
  tcase_add_test(cases, no_task_is_lost_or_taken_twice_between_two_thieves);
  tcase_add_test(cases, a_full_ring_refuses_and_overwrites_nothing);
  suite_add_tcase(suite, cases);
  return suite;
}
