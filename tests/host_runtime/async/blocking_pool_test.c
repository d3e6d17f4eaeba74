// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/blocking_pool.h"

#include <stdatomic.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/async/blocking_wait.h"
#include "tests/support/test_main.h"

static _Atomic int started_threads;
static _Atomic int done_tasks;

static void on_thread_start(void* owner) {
  (void)owner;
  atomic_fetch_add(&started_threads, 1);
}

static void on_task_done(void* owner) {
  (void)owner;
  atomic_fetch_add(&done_tasks, 1);
}

static const tfrt_blocking_pool_callbacks_t callbacks = {on_thread_start, on_task_done};
static tfrt_blocking_pool_t pool;

static void begin(size_t max_thread_count) {
  ck_assert_ptr_null(tfrt_blocking_pool_initialize(&pool, max_thread_count, &callbacks, NULL,
                                                   tfrt_allocator_system()));
}

// Waits for |gate| and says when it runs.
typedef struct blocker_s {
  tfrt_task_t task;
  tfrt_async_value_t* running;
  tfrt_async_value_t* gate;
} blocker_t;

static void block(tfrt_task_t* task) {
  blocker_t* blocker = TFRT_CONTAINER_OF(task, blocker_t, task);
  tfrt_async_value_set_available(blocker->running);
  tfrt_blocking_wait(&blocker->gate, 1);
}

static tfrt_async_value_t* new_chain(void) {
  return tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
}

static void make_blockers(blocker_t* blockers, int count, tfrt_async_value_t* gate) {
  for (int i = 0; i < count; ++i) {
    blockers[i] = (blocker_t){.running = new_chain(), .gate = gate};
    tfrt_task_initialize(&blockers[i].task, block);
  }
}

static void finish(blocker_t* blockers, int count, tfrt_async_value_t* gate) {
  if (!tfrt_async_value_is_available(gate)) tfrt_async_value_set_available(gate);
  for (int i = 0; i < count; ++i) {
    tfrt_blocking_wait(&blockers[i].running, 1);
    tfrt_async_value_release(blockers[i].running);
  }
  while (atomic_load(&done_tasks) < count) tfrt_thread_yield();
  tfrt_blocking_pool_deinitialize(&pool);
  tfrt_async_value_release(gate);
}

START_TEST(tasks_that_block_each_have_a_thread) {
  tfrt_async_value_t* gate = new_chain();
  blocker_t blockers[3];
  make_blockers(blockers, 3, gate);
  begin(3);
  for (int i = 0; i < 3; ++i) {
    ck_assert(tfrt_blocking_pool_add(&pool, &blockers[i].task, false));
  }
  // All of them run at once, before any of them ends.
  for (int i = 0; i < 3; ++i) tfrt_blocking_wait(&blockers[i].running, 1);
  ck_assert_int_eq(started_threads, 3);
  finish(blockers, 3, gate);
}
END_TEST

START_TEST(at_the_limit_a_task_is_queued_or_refused) {
  tfrt_async_value_t* gate = new_chain();
  blocker_t blockers[2];
  make_blockers(blockers, 2, gate);
  begin(1);
  ck_assert(tfrt_blocking_pool_add(&pool, &blockers[0].task, false));
  tfrt_blocking_wait(&blockers[0].running, 1);
  ck_assert(!tfrt_blocking_pool_add(&pool, &blockers[1].task, false));
  ck_assert(tfrt_blocking_pool_add(&pool, &blockers[1].task, true));
  ck_assert(!tfrt_async_value_is_available(blockers[1].running));
  finish(blockers, 2, gate);
  ck_assert_int_eq(started_threads, 1);
}
END_TEST

START_TEST(an_idle_thread_is_used_again) {
  tfrt_async_value_t* gate = tfrt_async_value_retain(tfrt_async_value_ready_chain());
  blocker_t blockers[20];
  make_blockers(blockers, 20, gate);
  begin(8);
  for (int i = 0; i < 20; ++i) {
    ck_assert(tfrt_blocking_pool_add(&pool, &blockers[i].task, false));
    while (atomic_load(&done_tasks) <= i) tfrt_thread_yield();
  }
  finish(blockers, 20, gate);
  ck_assert_int_eq(started_threads, 1);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("blocking_pool");
  tcase_add_test(tests, tasks_that_block_each_have_a_thread);
  tcase_add_test(tests, at_the_limit_a_task_is_queued_or_refused);
  tcase_add_test(tests, an_idle_thread_is_used_again);
  Suite* suite = suite_create("blocking_pool");
  suite_add_tcase(suite, tests);
  return suite;
}
