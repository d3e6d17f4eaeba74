// SPDX-License-Identifier: Apache-2.0
//
// A call that makes tasks faster than others run them: on each queue it runs some itself.
#include "host_runtime/async/backlog.h"

#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/async/task_ring.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

#define TASK_COUNT 5000

typedef struct step_s {
  tfrt_task_t task;
  int then;  // tasks that it adds
} step_t;

typedef struct call_s {
  tfrt_task_t task;
  tfrt_work_queue_t* queue;
  int64_t most_left;  // tasks that had not run, at any time
  bool holds_worker;  // the one worker does nothing until the call is over
} call_t;

static step_t steps[3 * TASK_COUNT];
static int step_count;
static _Atomic int64_t run_count;
static _Atomic bool is_over;
static tfrt_work_queue_t* current_queue;
static _Thread_local bool is_in_step;

static void add_step(void);

// A task of the backlog that adds others doesn't run them itself: that would nest.
static void run_step(tfrt_task_t* task) {
  step_t* step = TFRT_CONTAINER_OF(task, step_t, task);
  ck_assert(!is_in_step);
  is_in_step = true;
  for (int i = 0; i < step->then; ++i) {
    add_step();
    tfrt_backlog_work_off();
  }
  is_in_step = false;
  atomic_fetch_add(&run_count, 1);
}

static void add_step(void) {
  step_t* step = &steps[step_count++];
  tfrt_task_initialize(&step->task, run_step);
  tfrt_work_queue_add_task(current_queue, &step->task);
}

static void hold_worker(tfrt_task_t* task) {
  (void)task;
  while (!atomic_load(&is_over)) tfrt_thread_yield();
}

typedef struct holder_s {
  tfrt_task_t task;
  _Atomic bool* is_held;
} holder_t;

static void hold_and_say_so(tfrt_task_t* task) {
  atomic_store(TFRT_CONTAINER_OF(task, holder_t, task)->is_held, true);
  hold_worker(task);
}

static void run_call(tfrt_task_t* task) {
  call_t* call = TFRT_CONTAINER_OF(task, call_t, task);
  for (int i = 0; i < TASK_COUNT; ++i) {
    // Each of the first ones makes one more, on this thread.
    steps[step_count].then = call->holds_worker && i < 100;
    add_step();
    const int64_t left = step_count - atomic_load(&run_count);
    if (left > call->most_left) call->most_left = left;
    tfrt_backlog_work_off();
  }
}

static void run_whole_call(tfrt_work_queue_t* queue, bool holds_worker, call_t* call) {
  tfrt_task_t holder;
  step_count = 0;
  atomic_store(&run_count, 0);
  atomic_store(&is_over, false);
  for (int i = 0; i < 3 * TASK_COUNT; ++i) steps[i].then = 0;
  current_queue = queue;
  if (holds_worker) {
    tfrt_task_initialize(&holder, hold_worker);
    tfrt_work_queue_add_task(queue, &holder);
  }
  *call = (call_t){.queue = queue, .holds_worker = holds_worker};
  tfrt_task_initialize(&call->task, run_call);
  tfrt_work_queue_run_here(queue, &call->task);
  ck_assert(!tfrt_backlog.run);
  atomic_store(&is_over, true);
  tfrt_work_queue_quiesce(queue);
  ck_assert_int_eq(atomic_load(&run_count), step_count);
}

START_TEST(a_call_on_the_host_thread_runs_what_is_too_much) {
  tfrt_work_queue_t* queue = NULL;
  ck_assert_ptr_null(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  call_t call;
  run_whole_call(queue, false, &call);
  ck_assert_int_eq(call.most_left, TFRT_BACKLOG_LIMIT + 1);
  tfrt_work_queue_release(queue);
}
END_TEST

// A few tasks, which others wait for.
static void run_small_call(tfrt_task_t* task) {
  call_t* call = TFRT_CONTAINER_OF(task, call_t, task);
  for (int i = 0; i < 3; ++i) add_step();
  tfrt_backlog_work_off();
  ck_assert_int_eq(atomic_load(&run_count), 0);
  tfrt_work_queue_note_backlog(call->queue);
  tfrt_backlog_work_off();
  ck_assert_int_eq(atomic_load(&run_count), 3);
}

START_TEST(a_call_may_ask_for_its_tasks_to_be_run) {
  tfrt_work_queue_t* queue = NULL;
  ck_assert_ptr_null(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  step_count = 0;
  atomic_store(&run_count, 0);
  current_queue = queue;
  // Outside of a call this does nothing.
  tfrt_work_queue_note_backlog(queue);
  ck_assert(!tfrt_backlog.run);
  call_t call = {.queue = queue};
  tfrt_task_initialize(&call.task, run_small_call);
  tfrt_work_queue_run_here(queue, &call.task);
  ck_assert(!tfrt_backlog.run);
  tfrt_work_queue_release(queue);
}
END_TEST

static tfrt_work_queue_t* create_pool(int threads) {
  tfrt_thread_pool_options_t options = {.thread_count = threads, .blocking_thread_count = 1};
  tfrt_work_queue_t* queue = NULL;
  ck_assert_ptr_null(tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &queue));
  return queue;
}

START_TEST(a_call_beside_a_busy_worker_runs_what_is_too_much) {
  tfrt_work_queue_t* queue = create_pool(1);
  call_t call;
  for (int round = 0; round < 3; ++round) {
    run_whole_call(queue, true, &call);
    ck_assert_int_eq(step_count, TASK_COUNT + 100);
    // Those that the first ones made may stand behind the others.
    ck_assert_int_le(call.most_left, TFRT_BACKLOG_LIMIT + 101);
  }
  tfrt_work_queue_release(queue);
}
END_TEST

START_TEST(a_call_beside_a_busy_worker_may_ask_for_its_tasks_to_be_run) {
  tfrt_work_queue_t* queue = create_pool(1);
  step_count = 0;
  atomic_store(&run_count, 0);
  atomic_store(&is_over, false);
  current_queue = queue;
  _Atomic bool is_held = false;
  holder_t held = {.is_held = &is_held};
  tfrt_task_initialize(&held.task, hold_and_say_so);
  tfrt_work_queue_add_task(queue, &held.task);
  while (!atomic_load(&is_held)) tfrt_thread_yield();
  call_t call = {.queue = queue};
  tfrt_task_initialize(&call.task, run_small_call);
  tfrt_work_queue_run_here(queue, &call.task);
  atomic_store(&is_over, true);
  tfrt_work_queue_quiesce(queue);
  tfrt_work_queue_release(queue);
}
END_TEST

START_TEST(each_task_of_a_call_runs_once_on_one_thread_or_another) {
  for (int threads = 1; threads <= 3; ++threads) {
    tfrt_work_queue_t* queue = create_pool(threads);
    for (int round = 0; round < 20; ++round) {
      call_t call;
      run_whole_call(queue, false, &call);
      ck_assert_int_le(call.most_left, TFRT_TASK_RING_CAPACITY);
    }
    tfrt_work_queue_release(queue);
  }
}
END_TEST

// Two threads that run calls at once, each with a ring of its own.
typedef struct side_s {
  tfrt_task_t task;
  tfrt_work_queue_t* queue;
  tfrt_task_t tasks[TASK_COUNT];
} side_t;

static void count_run(tfrt_task_t* task) {
  (void)task;
  atomic_fetch_add(&run_count, 1);
}

static void run_side(tfrt_task_t* task) {
  side_t* side = TFRT_CONTAINER_OF(task, side_t, task);
  for (int i = 0; i < TASK_COUNT; ++i) {
    tfrt_task_initialize(&side->tasks[i], count_run);
    tfrt_work_queue_add_task(side->queue, &side->tasks[i]);
    tfrt_backlog_work_off();
  }
}

static void run_side_here(void* argument) {
  side_t* side = argument;
  tfrt_task_initialize(&side->task, run_side);
  tfrt_work_queue_run_here(side->queue, &side->task);
}

START_TEST(threads_that_run_calls_at_once_do_not_meet) {
  static side_t sides[2];
  tfrt_work_queue_t* queue = create_pool(2);
  for (int round = 0; round < 10; ++round) {
    atomic_store(&run_count, 0);
    for (int i = 0; i < 2; ++i) sides[i].queue = queue;
    tfrt_thread_t other;
    ck_assert_ptr_null(tfrt_thread_create("other", run_side_here, &sides[1], &other));
    run_side_here(&sides[0]);
    tfrt_thread_join(&other);
    tfrt_work_queue_quiesce(queue);
    ck_assert_int_eq(atomic_load(&run_count), 2 * TASK_COUNT);
  }
  tfrt_work_queue_release(queue);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("backlog");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, a_call_on_the_host_thread_runs_what_is_too_much);
  tcase_add_test(tests, a_call_may_ask_for_its_tasks_to_be_run);
  tcase_add_test(tests, a_call_beside_a_busy_worker_runs_what_is_too_much);
  tcase_add_test(tests, a_call_beside_a_busy_worker_may_ask_for_its_tasks_to_be_run);
  tcase_add_test(tests, each_task_of_a_call_runs_once_on_one_thread_or_another);
  tcase_add_test(tests, threads_that_run_calls_at_once_do_not_meet);
  Suite* suite = suite_create("backlog");
  suite_add_tcase(suite, tests);
  return suite;
}
