// SPDX-License-Identifier: Apache-2.0
#include "distributed/threads/node_lock.h"

#include <stdatomic.h>
#include <string.h>

#include "host_runtime/base/macros.h"
#include "tests/support/test_main.h"

// The actions that ran, in order, one letter each.
static char order[32];

typedef struct lettered_s {
  tfrt_task_t task;
  char letter;
  tfrt_node_lock_t* lock;
  struct lettered_s* then;  // deferred from inside, under the lock
} lettered_t;

static void run_lettered(tfrt_task_t* task) {
  lettered_t* lettered = TFRT_CONTAINER_OF(task, lettered_t, task);
  if (lettered->then) {
    tfrt_node_lock_lock(lettered->lock);
    tfrt_node_lock_defer(lettered->lock, &lettered->then->task);
    tfrt_node_lock_unlock_and_run(lettered->lock);
  }
  size_t size = strlen(order);
  order[size] = lettered->letter;
  order[size + 1] = '\0';
}

static void make(lettered_t* lettered, char letter, tfrt_node_lock_t* lock, lettered_t* then) {
  tfrt_task_initialize(&lettered->task, run_lettered);
  lettered->letter = letter;
  lettered->lock = lock;
  lettered->then = then;
}

START_TEST(what_is_deferred_runs_after_the_unlock_in_its_order) {
  tfrt_node_lock_t lock;
  tfrt_node_lock_initialize(&lock);
  lettered_t a, b;
  make(&a, 'a', &lock, NULL);
  make(&b, 'b', &lock, NULL);
  order[0] = '\0';
  tfrt_node_lock_lock(&lock);
  tfrt_node_lock_defer(&lock, &a.task);
  tfrt_node_lock_defer(&lock, &b.task);
  ck_assert_str_eq(order, "");
  tfrt_node_lock_unlock_and_run(&lock);
  ck_assert_str_eq(order, "ab");
  tfrt_node_lock_deinitialize(&lock);
}
END_TEST

START_TEST(what_a_task_defers_runs_behind_the_rest_and_not_inside) {
  tfrt_node_lock_t lock;
  tfrt_node_lock_initialize(&lock);
  lettered_t a, b, c, d;
  make(&d, 'd', &lock, NULL);
  make(&c, 'c', &lock, &d);
  make(&a, 'a', &lock, &c);
  make(&b, 'b', &lock, NULL);
  order[0] = '\0';
  tfrt_node_lock_lock(&lock);
  tfrt_node_lock_defer(&lock, &a.task);
  tfrt_node_lock_defer(&lock, &b.task);
  tfrt_node_lock_unlock_and_run(&lock);
  ck_assert_str_eq(order, "abcd");
  tfrt_node_lock_deinitialize(&lock);
}
END_TEST

START_TEST(another_lock_inside_of_a_task_runs_its_own_at_once) {
  tfrt_node_lock_t outer, inner;
  tfrt_node_lock_initialize(&outer);
  tfrt_node_lock_initialize(&inner);
  lettered_t a, b, c;
  make(&c, 'c', &inner, NULL);
  make(&a, 'a', &inner, &c);
  make(&b, 'b', &outer, NULL);
  order[0] = '\0';
  tfrt_node_lock_lock(&outer);
  tfrt_node_lock_defer(&outer, &a.task);
  tfrt_node_lock_defer(&outer, &b.task);
  tfrt_node_lock_unlock_and_run(&outer);
  ck_assert_str_eq(order, "cab");
  tfrt_node_lock_deinitialize(&inner);
  tfrt_node_lock_deinitialize(&outer);
}
END_TEST

#define THREADS 4
#define ROUNDS 2000

typedef struct counted_s {
  tfrt_task_t task;
  _Atomic int* ran;
} counted_t;

typedef struct worker_s {
  tfrt_node_lock_t* lock;
  int* guarded;
  _Atomic int ran;
  counted_t tasks[ROUNDS];
} worker_t;

static void run_counted(tfrt_task_t* task) {
  atomic_fetch_add_explicit(TFRT_CONTAINER_OF(task, counted_t, task)->ran, 1, memory_order_relaxed);
}

static void run_worker(void* argument) {
  worker_t* worker = argument;
  for (int i = 0; i < ROUNDS; ++i) {
    counted_t* counted = &worker->tasks[i];
    tfrt_task_initialize(&counted->task, run_counted);
    counted->ran = &worker->ran;
    tfrt_node_lock_lock(worker->lock);
    ++*worker->guarded;
    tfrt_node_lock_defer(worker->lock, &counted->task);
    tfrt_node_lock_unlock_and_run(worker->lock);
  }
}

START_TEST(threads_exclude_each_other_and_run_what_they_deferred) {
  static worker_t workers[THREADS];
  tfrt_node_lock_t lock;
  tfrt_node_lock_initialize(&lock);
  int guarded = 0;
  tfrt_thread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    workers[i].lock = &lock;
    workers[i].guarded = &guarded;
    tfrt_status_t status = tfrt_thread_create("worker", run_worker, &workers[i], &threads[i]);
    ck_assert(tfrt_status_is_ok(status));
  }
  for (int i = 0; i < THREADS; ++i) tfrt_thread_join(&threads[i]);
  ck_assert_int_eq(guarded, THREADS * ROUNDS);
  for (int i = 0; i < THREADS; ++i) ck_assert_int_eq(workers[i].ran, ROUNDS);
  tfrt_node_lock_deinitialize(&lock);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("node lock");
  TCase* deferring = tcase_create("deferring");
  tcase_add_test(deferring, what_is_deferred_runs_after_the_unlock_in_its_order);
  tcase_add_test(deferring, what_a_task_defers_runs_behind_the_rest_and_not_inside);
  tcase_add_test(deferring, another_lock_inside_of_a_task_runs_its_own_at_once);
  tcase_add_test(deferring, threads_exclude_each_other_and_run_what_they_deferred);
  suite_add_tcase(suite, deferring);
  return suite;
}
