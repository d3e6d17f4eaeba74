// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/inline_work_queue.h"

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

typedef struct step_s {
  tfrt_task_t task;
  tfrt_work_queue_t* queue;
  struct step_s* then;        // is added to the queue; may be NULL
  tfrt_async_value_t* value;  // is resolved; may be NULL
  int place;
  bool was_in_worker;
} step_t;

static int next_place;

static void run_step(tfrt_task_t* task) {
  step_t* step = TFRT_CONTAINER_OF(task, step_t, task);
  step->place = ++next_place;
  step->was_in_worker = tfrt_work_queue_is_in_worker_thread(step->queue);
  if (step->then) tfrt_work_queue_add_task(step->queue, &step->then->task);
  if (step->value) tfrt_async_value_set_available(step->value);
}

static step_t make_step(tfrt_work_queue_t* queue) {
  step_t step = {.queue = queue};
  tfrt_task_initialize(&step.task, run_step);
  return step;
}

static tfrt_work_queue_t* create(void) {
  tfrt_work_queue_t* queue = NULL;
  ck_assert_ptr_null(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  return queue;
}

START_TEST(tasks_run_in_order_inside_of_quiesce) {
  tfrt_work_queue_t* queue = create();
  step_t steps[3] = {make_step(queue), make_step(queue), make_step(queue)};
  steps[0].then = &steps[2];
  tfrt_work_queue_add_task(queue, &steps[0].task);
  tfrt_work_queue_add_task(queue, &steps[1].task);
  ck_assert_int_eq(next_place, 0);
  tfrt_work_queue_quiesce(queue);
  for (int i = 0; i < 3; ++i) ck_assert_int_eq(steps[i].place, i + 1);
  ck_assert(steps[0].was_in_worker);
  ck_assert(!tfrt_work_queue_is_in_worker_thread(queue));
  tfrt_work_queue_release(queue);
}
END_TEST

START_TEST(await_runs_no_more_than_it_has_to) {
  tfrt_work_queue_t* queue = create();
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  step_t steps[2] = {make_step(queue), make_step(queue)};
  steps[0].value = value;
  for (int i = 0; i < 2; ++i) tfrt_work_queue_add_task(queue, &steps[i].task);
  tfrt_work_queue_await(queue, &value, 1);
  ck_assert_int_eq(steps[0].place, 1);
  ck_assert_int_eq(steps[1].place, 0);
  tfrt_work_queue_await(queue, &value, 1);
  ck_assert_int_eq(steps[1].place, 0);
  tfrt_work_queue_quiesce(queue);
  ck_assert_int_eq(steps[1].place, 2);
  tfrt_async_value_release(value);
  tfrt_work_queue_release(queue);
}
END_TEST

START_TEST(blocking_tasks_share_the_queue_or_are_refused) {
  tfrt_work_queue_t* queue = create();
  step_t step = make_step(queue);
  ck_assert(!tfrt_work_queue_add_blocking_task(queue, &step.task, false));
  ck_assert(tfrt_work_queue_add_blocking_task(queue, &step.task, true));
  tfrt_work_queue_quiesce(queue);
  ck_assert_int_eq(step.place, 1);
  ck_assert_int_eq(tfrt_work_queue_parallelism(queue), 1);
  ck_assert_str_eq(tfrt_work_queue_name(queue), "single-threaded");
  tfrt_work_queue_release(tfrt_work_queue_retain(queue));
  tfrt_work_queue_release(queue);
  tfrt_work_queue_release(NULL);
}
END_TEST

// Another thread that first adds a task and then resolves a value by itself.
typedef struct helper_s {
  step_t* step;
  tfrt_async_value_t* value;
} helper_t;

static void help(void* argument) {
  helper_t* helper = argument;
  tfrt_work_queue_add_task(helper->step->queue, &helper->step->task);
  tfrt_thread_yield();
  tfrt_async_value_set_available(helper->value);
}

START_TEST(await_is_woken_by_other_threads) {
  tfrt_work_queue_t* queue = create();
  for (int round = 0; round < 300; ++round) {
    tfrt_async_value_t* values[2];
    for (int i = 0; i < 2; ++i) values[i] = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
    step_t step = make_step(queue);
    step.value = values[0];
    helper_t helper = {&step, values[1]};
    tfrt_thread_t thread;
    ck_assert_ptr_null(tfrt_thread_create("help", help, &helper, &thread));
    tfrt_work_queue_await(queue, values, 2);
    tfrt_thread_join(&thread);
    for (int i = 0; i < 2; ++i) {
      ck_assert(tfrt_async_value_is_available(values[i]));
      tfrt_async_value_release(values[i]);
    }
  }
  tfrt_work_queue_quiesce(queue);
  tfrt_work_queue_release(queue);
}
END_TEST

static void quiesce_side(void* argument) { tfrt_work_queue_quiesce(argument); }

START_TEST(two_threads_may_quiesce_at_once) {
  tfrt_work_queue_t* queue = create();
  for (int round = 0; round < 300; ++round) {
    next_place = 0;
    step_t steps[2] = {make_step(queue), make_step(queue)};
    // One after the other: the places are not counted by two threads at once.
    steps[0].then = &steps[1];
    tfrt_work_queue_add_task(queue, &steps[0].task);
    tfrt_thread_t thread;
    ck_assert_ptr_null(tfrt_thread_create("quiesce", quiesce_side, queue, &thread));
    tfrt_work_queue_quiesce(queue);
    ck_assert_int_eq(steps[1].place, 2);
    tfrt_thread_join(&thread);
  }
  tfrt_work_queue_release(queue);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("inline_work_queue");
  tcase_add_test(tests, tasks_run_in_order_inside_of_quiesce);
  tcase_add_test(tests, await_runs_no_more_than_it_has_to);
  tcase_add_test(tests, blocking_tasks_share_the_queue_or_are_refused);
  tcase_add_test(tests, await_is_woken_by_other_threads);
  tcase_add_test(tests, two_threads_may_quiesce_at_once);
  Suite* suite = suite_create("inline_work_queue");
  suite_add_tcase(suite, tests);
  return suite;
}
