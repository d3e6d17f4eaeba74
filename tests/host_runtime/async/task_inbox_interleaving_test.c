// SPDX-License-Identifier: Apache-2.0
//
// The inbox in every order that those who put tasks in and those who take them out can have,
// and how it tells a thread that goes to sleep of them.
#include "tests/support/interleaving_atomics.h"
// Behind it: the real code, with its atomic operations as points.
#include "host_runtime/async/task_inbox.h"
#include "tests/support/test_main.h"

static tfrt_task_inbox_t inbox;
static tfrt_task_list_t taken;  // by the one that takes
static tfrt_task_t tasks[4];

static void reset(void) {
  inbox = (tfrt_task_inbox_t){NULL};
  taken = (tfrt_task_list_t){0};
}

// --- Order and number --------------------------------------------------------------

static void put_first_two(void) {
  tfrt_task_inbox_put(&inbox, &tasks[0]);
  tfrt_task_inbox_put(&inbox, &tasks[1]);
}
static void put_last_two(void) {
  tfrt_task_inbox_put(&inbox, &tasks[2]);
  tfrt_task_inbox_put(&inbox, &tasks[3]);
}
static void take_twice(void) {
  tfrt_task_inbox_take(&inbox, &taken);
  tfrt_task_inbox_take(&inbox, &taken);
}

// Each task once, and those of one thread in the order in which it has put them in.
static void check_all_in_order(void) {
  tfrt_task_inbox_take(&inbox, &taken);
  int place[4] = {0};
  int count = 0;
  for (tfrt_task_t* task; (task = tfrt_task_list_pop_front(&taken));) {
    ck_assert_int_eq(place[task - tasks], 0);
    place[task - tasks] = ++count;
  }
  ck_assert_int_eq(count, 4);
  ck_assert_int_lt(place[0], place[1]);
  ck_assert_int_lt(place[2], place[3]);
}

START_TEST(each_task_is_taken_once_and_in_order) {
  const interleaving_scenario_t scenario = {.set_up = reset,
                                            .threads = {put_first_two, put_last_two, take_twice},
                                            .check = check_all_in_order,
                                            .max_preemptions = 4};
  ck_assert_uint_gt(interleaving_explore(&scenario), 1000);
}
END_TEST

// --- A task that comes back ---------------------------------------------------------------

static void put_one(void) { tfrt_task_inbox_put(&inbox, &tasks[0]); }
static void put_another(void) { tfrt_task_inbox_put(&inbox, &tasks[1]); }

// The thread that puts the other task in may have seen the first one in front before it left.
static void take_and_put_back(void) {
  tfrt_task_list_t list = {0};
  tfrt_task_inbox_take(&inbox, &list);
  for (tfrt_task_t* task; (task = tfrt_task_list_pop_front(&list));) {
    tfrt_task_inbox_put(&inbox, task);
  }
}

static void check_both(void) {
  tfrt_task_inbox_take(&inbox, &taken);
  tfrt_task_t* first = tfrt_task_list_pop_front(&taken);
  tfrt_task_t* second = tfrt_task_list_pop_front(&taken);
  ck_assert(first && second && first != second);
  ck_assert(tfrt_task_list_is_empty(&taken));
}

START_TEST(a_task_may_leave_and_come_back) {
  const interleaving_scenario_t scenario = {.set_up = reset,
                                            .threads = {put_one, put_another, take_and_put_back},
                                            .check = check_both,
                                            .max_preemptions = INTERLEAVING_ALL_PREEMPTIONS};
  ck_assert_uint_gt(interleaving_explore(&scenario), 100);
}
END_TEST

// --- Going to sleep -----------------------------------------------------------------------

static _Atomic int sleepers;
static bool saw_sleeper;
static bool saw_task;

static void set_up_sleep(void) {
  reset();
  atomic_init(&sleepers, 0);
  saw_sleeper = saw_task = false;
}
// As in inline_work_queue.c: the adder then looks for sleepers. A thread that goes to sleep counts
// itself and then looks for tasks.
static void add(void) {
  tfrt_task_inbox_put(&inbox, &tasks[0]);
  saw_sleeper = atomic_load_explicit(&sleepers, memory_order_seq_cst) > 0;
}
static void go_to_sleep(void) {
  atomic_fetch_add_explicit(&sleepers, 1, memory_order_seq_cst);
  saw_task = !tfrt_task_inbox_is_empty(&inbox);
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
  Suite* suite = suite_create("task_inbox_interleaving");
  TCase* cases = tcase_create("task_inbox_interleaving");
  tcase_add_test(cases, each_task_is_taken_once_and_in_order);
  tcase_add_test(cases, a_task_may_leave_and_come_back);
  tcase_add_test(cases, who_adds_and_who_goes_to_sleep_never_miss_each_other);
  suite_add_tcase(suite, cases);
  return suite;
}
