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

START_TEST(a_task_that_may_run_here_or_there_waits_for_the_host) {
  tfrt_work_queue_t* queue = create();
  step_t step = make_step(queue);
  tfrt_work_queue_run_or_add(queue, &step.task);
  ck_assert(!step.was_in_worker);
  tfrt_work_queue_quiesce(queue);
  ck_assert(step.was_in_worker);
  tfrt_work_queue_release(queue);
}
END_TEST

START_TEST(who_runs_a_task_here_is_one_of_the_queue_meanwhile) {
  tfrt_work_queue_t* queue = create();
  step_t steps[3] = {make_step(queue), make_step(queue), make_step(queue)};
  tfrt_work_queue_add_task(queue, &steps[0].task);
  steps[1].then = &steps[2];
  tfrt_work_queue_run_here(queue, &steps[1].task);
  ck_assert_int_eq(steps[1].place, 1);
  ck_assert(steps[1].was_in_worker);
  ck_assert(!tfrt_work_queue_is_in_worker_thread(queue));
  // The tasks that were added before and by the task still wait, in that order.
  ck_assert_int_eq(steps[0].place, 0);
  tfrt_work_queue_quiesce(queue);
  ck_assert_int_eq(steps[0].place, 2);
  ck_assert_int_eq(steps[2].place, 3);
  tfrt_work_queue_release(queue);
}
END_TEST

// A task that runs another one here, maybe on a thread of its own.
typedef struct outer_s {
  tfrt_task_t task;
  step_t* inner;
  bool on_another_thread;
} outer_t;

static void run_inner(void* argument) {
  step_t* inner = argument;
  tfrt_work_queue_run_here(inner->queue, &inner->task);
}

static void run_outer(tfrt_task_t* task) {
  outer_t* outer = TFRT_CONTAINER_OF(task, outer_t, task);
  if (!outer->on_another_thread) {
    run_inner(outer->inner);
    return;
  }
  tfrt_thread_t thread;
  ck_assert_ptr_null(tfrt_thread_create("inner", run_inner, outer->inner, &thread));
  tfrt_thread_join(&thread);
}

START_TEST(a_queue_has_one_runner_at_a_time) {
  tfrt_work_queue_t* queue = create();
  for (int i = 0; i < 2; ++i) {
    next_place = 0;
    step_t inner = make_step(queue);
    outer_t outer = {.inner = &inner, .on_another_thread = i == 1};
    tfrt_task_initialize(&outer.task, run_outer);
    tfrt_work_queue_run_here(queue, &outer.task);
    ck_assert_int_eq(inner.place, 1);
    // While the outer one's thread is the runner, another one just runs the task.
    ck_assert(inner.was_in_worker == !outer.on_another_thread);
    ck_assert(!tfrt_work_queue_is_in_worker_thread(queue));
  }
  tfrt_work_queue_release(queue);
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

// Tasks that each other thread adds while the queue runs tasks that come back.
#define ADDED 1000
typedef struct counter_s {
  tfrt_task_t task;
  tfrt_work_queue_t* queue;
  int64_t* sum;  // the runner's alone
  int comes_back;
} counter_t;

static void count_task(tfrt_task_t* task) {
  counter_t* counter = TFRT_CONTAINER_OF(task, counter_t, task);
  ++*counter->sum;
  if (counter->comes_back-- > 0) tfrt_work_queue_add_task(counter->queue, task);
}

typedef struct adder_s {
  counter_t counters[ADDED];
  tfrt_thread_t thread;
} adder_t;

static void add_all(void* argument) {
  adder_t* adder = argument;
  for (int i = 0; i < ADDED; ++i) {
    tfrt_work_queue_add_task(adder->counters[i].queue, &adder->counters[i].task);
  }
}

START_TEST(one_thread_at_a_time_runs_what_many_add) {
  tfrt_work_queue_t* queue = create();
  static adder_t adders[3];
  int64_t sum = 0;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < ADDED; ++k) {
      counter_t* counter = &adders[i].counters[k];
      *counter = (counter_t){.queue = queue, .sum = &sum, .comes_back = k % 3};
      tfrt_task_initialize(&counter->task, count_task);
    }
    ck_assert_ptr_null(tfrt_thread_create("adder", add_all, &adders[i], &adders[i].thread));
  }
  tfrt_thread_t side;
  ck_assert_ptr_null(tfrt_thread_create("quiesce", quiesce_side, queue, &side));
  tfrt_work_queue_quiesce(queue);
  for (int i = 0; i < 3; ++i) tfrt_thread_join(&adders[i].thread);
  tfrt_thread_join(&side);
  tfrt_work_queue_quiesce(queue);
  // A third of the tasks runs once, one twice, one three times.
  ck_assert_int_eq(sum, 3 * (ADDED + ADDED / 3 * 3));
  tfrt_work_queue_release(queue);
}
END_TEST

// A task that waits for one behind it.
typedef struct impatient_s {
  tfrt_task_t task;
  tfrt_work_queue_t* queue;
  tfrt_async_value_t* value;
  bool has_seen_it;
} impatient_t;

static void await_inside(tfrt_task_t* task) {
  impatient_t* impatient = TFRT_CONTAINER_OF(task, impatient_t, task);
  tfrt_work_queue_await(impatient->queue, &impatient->value, 1);
  impatient->has_seen_it = tfrt_async_value_is_available(impatient->value);
}

START_TEST(a_task_that_awaits_runs_what_it_waits_for) {
  tfrt_work_queue_t* queue = create();
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  impatient_t impatient = {.queue = queue, .value = value};
  tfrt_task_initialize(&impatient.task, await_inside);
  step_t step = make_step(queue);
  step.value = value;
  tfrt_work_queue_add_task(queue, &impatient.task);
  tfrt_work_queue_add_task(queue, &step.task);
  tfrt_work_queue_quiesce(queue);
  ck_assert(impatient.has_seen_it);
  tfrt_async_value_release(value);
  tfrt_work_queue_release(queue);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("inline_work_queue");
  tcase_add_test(tests, tasks_run_in_order_inside_of_quiesce);
  tcase_add_test(tests, await_runs_no_more_than_it_has_to);
  tcase_add_test(tests, blocking_tasks_share_the_queue_or_are_refused);
  tcase_add_test(tests, a_task_that_may_run_here_or_there_waits_for_the_host);
  tcase_add_test(tests, who_runs_a_task_here_is_one_of_the_queue_meanwhile);
  tcase_add_test(tests, a_queue_has_one_runner_at_a_time);
  tcase_add_test(tests, await_is_woken_by_other_threads);
  tcase_add_test(tests, two_threads_may_quiesce_at_once);
  tcase_add_test(tests, one_thread_at_a_time_runs_what_many_add);
  tcase_add_test(tests, a_task_that_awaits_runs_what_it_waits_for);
  Suite* suite = suite_create("inline_work_queue");
  suite_add_tcase(suite, tests);
  return suite;
}
