// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/task_deque.h"

#include <stddef.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

typedef struct item_s {
  tfrt_task_t task;
  _Atomic int taken_count;
  int payload;
} item_t;

static tfrt_task_deque_t deque;

START_TEST(the_owner_takes_the_newest_and_a_thief_the_oldest) {
  tfrt_task_deque_initialize(&deque);
  tfrt_task_t tasks[3];
  ck_assert(tfrt_task_deque_is_empty(&deque));
  ck_assert_ptr_null(tfrt_task_deque_pop(&deque));
  ck_assert_ptr_null(tfrt_task_deque_steal(&deque));
  for (int i = 0; i < 3; ++i) ck_assert(tfrt_task_deque_push(&deque, &tasks[i]));
  ck_assert_ptr_eq(tfrt_task_deque_pop(&deque), &tasks[2]);
  ck_assert_ptr_eq(tfrt_task_deque_steal(&deque), &tasks[0]);
  ck_assert(!tfrt_task_deque_is_empty(&deque));
  ck_assert_ptr_eq(tfrt_task_deque_pop(&deque), &tasks[1]);
  ck_assert_ptr_null(tfrt_task_deque_pop(&deque));
  ck_assert(tfrt_task_deque_is_empty(&deque));
}
END_TEST

START_TEST(a_full_deque_says_no) {
  static tfrt_task_t tasks[TFRT_TASK_DEQUE_CAPACITY + 1];
  tfrt_task_deque_initialize(&deque);
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < TFRT_TASK_DEQUE_CAPACITY; ++i) {
      ck_assert(tfrt_task_deque_push(&deque, &tasks[i]));
    }
    ck_assert(!tfrt_task_deque_push(&deque, &tasks[TFRT_TASK_DEQUE_CAPACITY]));
    for (int i = 0; i < TFRT_TASK_DEQUE_CAPACITY; ++i) {
      ck_assert_ptr_eq(tfrt_task_deque_steal(&deque), &tasks[i]);
    }
  }
}
END_TEST

#define ITEM_COUNT 50000
static item_t items[ITEM_COUNT];
static _Atomic int taken_total;

static void take(tfrt_task_t* task) {
  if (!task) return;
  item_t* item = TFRT_CONTAINER_OF(task, item_t, task);
  // The plain read is what ThreadSanitizer checks the hand-over by.
  ck_assert_int_eq(item->payload, (int)(item - items));
  atomic_fetch_add(&item->taken_count, 1);
  atomic_fetch_add(&taken_total, 1);
}

static void steal_all(void* argument) {
  (void)argument;
  while (atomic_load(&taken_total) < ITEM_COUNT) {
    tfrt_task_t* task = tfrt_task_deque_steal(&deque);
    if (!task) tfrt_thread_yield();
    take(task);
  }
}

START_TEST(each_task_is_taken_once_by_owner_or_thieves) {
  tfrt_task_deque_initialize(&deque);
  tfrt_thread_t thieves[2];
  for (int i = 0; i < 2; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("thief", steal_all, NULL, &thieves[i]));
  }
  for (int i = 0; i < ITEM_COUNT; ++i) {
    items[i].payload = i;
    while (!tfrt_task_deque_push(&deque, &items[i].task)) take(tfrt_task_deque_pop(&deque));
    if (i % 3 == 0) take(tfrt_task_deque_pop(&deque));
  }
  while (!tfrt_task_deque_is_empty(&deque)) take(tfrt_task_deque_pop(&deque));
  for (int i = 0; i < 2; ++i) tfrt_thread_join(&thieves[i]);
  for (int i = 0; i < ITEM_COUNT; ++i) ck_assert_int_eq(items[i].taken_count, 1);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("task_deque");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, the_owner_takes_the_newest_and_a_thief_the_oldest);
  tcase_add_test(tests, a_full_deque_says_no);
  tcase_add_test(tests, each_task_is_taken_once_by_owner_or_thieves);
  Suite* suite = suite_create("task_deque");
  suite_add_tcase(suite, tests);
  return suite;
}
