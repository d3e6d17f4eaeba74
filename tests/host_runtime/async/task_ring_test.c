// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/task_ring.h"

#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

static tfrt_task_ring_t ring;

START_TEST(tasks_are_taken_oldest_first_and_several_at_once) {
  tfrt_task_ring_initialize(&ring);
  tfrt_task_t tasks[10];
  tfrt_task_t* taken[10];
  ck_assert(tfrt_task_ring_is_empty(&ring));
  ck_assert_uint_eq(tfrt_task_ring_take(&ring, 1, 10, taken), 0);
  for (int i = 0; i < 10; ++i) ck_assert(tfrt_task_ring_put(&ring, &tasks[i]));
  ck_assert(tfrt_task_ring_is_long(&ring, 9) && !tfrt_task_ring_is_long(&ring, 10));
  // A third of them; then as many as there is room for; then at least one.
  ck_assert_uint_eq(tfrt_task_ring_take(&ring, 3, 10, taken), 3);
  ck_assert_uint_eq(tfrt_task_ring_take(&ring, 1, 5, taken + 3), 5);
  ck_assert_uint_eq(tfrt_task_ring_take(&ring, 3, 10, taken + 8), 1);
  ck_assert_uint_eq(tfrt_task_ring_take(&ring, 3, 10, taken + 9), 1);
  for (int i = 0; i < 10; ++i) ck_assert_ptr_eq(taken[i], &tasks[i]);
  ck_assert(tfrt_task_ring_is_empty(&ring) && !tfrt_task_ring_is_long(&ring, 0));
}
END_TEST

START_TEST(a_full_ring_says_no) {
  static tfrt_task_t tasks[TFRT_TASK_RING_CAPACITY + 1];
  tfrt_task_ring_initialize(&ring);
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < TFRT_TASK_RING_CAPACITY; ++i) {
      ck_assert(tfrt_task_ring_put(&ring, &tasks[i]));
    }
    ck_assert(!tfrt_task_ring_put(&ring, &tasks[TFRT_TASK_RING_CAPACITY]));
    tfrt_task_t* task;
    for (int i = 0; i < TFRT_TASK_RING_CAPACITY; ++i) {
      ck_assert_uint_eq(tfrt_task_ring_take(&ring, 1, 1, &task), 1);
      ck_assert_ptr_eq(task, &tasks[i]);
    }
  }
}
END_TEST

#define ITEM_COUNT 50000

typedef struct item_s {
  tfrt_task_t task;
  _Atomic int taken_count;
  int payload;
} item_t;

static item_t items[ITEM_COUNT];
static _Atomic int taken_total;

static bool take_some(void) {
  tfrt_task_t* tasks[16];
  size_t count = tfrt_task_ring_take(&ring, 2, 16, tasks);
  for (size_t i = 0; i < count; ++i) {
    item_t* item = TFRT_CONTAINER_OF(tasks[i], item_t, task);
    // The plain read is what ThreadSanitizer checks the hand-over by.
    ck_assert_int_eq(item->payload, (int)(item - items));
    atomic_fetch_add(&item->taken_count, 1);
  }
  atomic_fetch_add(&taken_total, (int)count);
  return count > 0;
}

static void take_all(void* argument) {
  (void)argument;
  while (atomic_load(&taken_total) < ITEM_COUNT) {
    if (!take_some()) tfrt_thread_yield();
  }
}

START_TEST(each_task_is_taken_once_by_somebody) {
  tfrt_task_ring_initialize(&ring);
  tfrt_thread_t takers[2];
  for (int i = 0; i < 2; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("taker", take_all, NULL, &takers[i]));
  }
  for (int i = 0; i < ITEM_COUNT; ++i) {
    items[i].payload = i;
    while (!tfrt_task_ring_put(&ring, &items[i].task)) take_some();
  }
  for (int i = 0; i < 2; ++i) tfrt_thread_join(&takers[i]);
  for (int i = 0; i < ITEM_COUNT; ++i) ck_assert_int_eq(items[i].taken_count, 1);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("task_ring");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, tasks_are_taken_oldest_first_and_several_at_once);
  tcase_add_test(tests, a_full_ring_says_no);
  tcase_add_test(tests, each_task_is_taken_once_by_somebody);
  Suite* suite = suite_create("task_ring");
  suite_add_tcase(suite, tests);
  return suite;
}
