// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/thread_pool_work_queue.h"

#include <sched.h>
#include <string.h>

#include "host_runtime/async/blocking_wait.h"
#include "host_runtime/base/sync.h"
#include "tests/fakes/failing_malloc.h"
#include "tests/support/test_main.h"

static tfrt_work_queue_t* create(int threads, int blocking_threads) {
  tfrt_thread_pool_options_t options = {.thread_count = threads,
                                        .blocking_thread_count = blocking_threads};
  tfrt_work_queue_t* queue = NULL;
  ck_assert_ptr_null(tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &queue));
  return queue;
}

static _Atomic int run_count;

typedef struct job_s {
  tfrt_task_t task;
  tfrt_work_queue_t* queue;
  int depth;                  // how many levels of two children each it makes
  tfrt_async_value_t* value;  // is resolved; may be NULL
  bool is_blocking;
  bool was_in_worker;
} job_t;

static void run_job(tfrt_task_t* task);

static job_t* new_job(tfrt_work_queue_t* queue, int depth) {
  job_t* job = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof *job);
  tfrt_task_initialize(&job->task, run_job);
  job->queue = queue;
  job->depth = depth;
  return job;
}

// Adds children, every fifth of them as a blocking task, and frees itself.
static void run_job(tfrt_task_t* task) {
  job_t* job = TFRT_CONTAINER_OF(task, job_t, task);
  int count = atomic_fetch_add(&run_count, 1);
  ck_assert(tfrt_work_queue_is_in_worker_thread(job->queue));
  for (int i = 0; job->depth > 0 && i < 2; ++i) {
    job_t* child = new_job(job->queue, job->depth - 1);
    if (count % 5 == 0 && tfrt_work_queue_add_blocking_task(job->queue, &child->task, count % 2)) {
      continue;
    }
    tfrt_work_queue_add_task(job->queue, &child->task);
  }
  if (job->value) tfrt_async_value_set_available(job->value);
  tfrt_allocator_free(tfrt_allocator_system(), job, sizeof *job);
}

START_TEST(it_has_the_name_that_bef_executor_prints) {
  tfrt_work_queue_t* queue = create(3, 5);
  ck_assert_str_eq(tfrt_work_queue_name(queue),
                   "Multi-threaded C++ work queue (3 threads, 5 blocking threads)");
  ck_assert_int_eq(tfrt_work_queue_parallelism(queue), 3);
  ck_assert(!tfrt_work_queue_is_in_worker_thread(queue));
  tfrt_work_queue_quiesce(queue);
  tfrt_work_queue_release(queue);
  queue = create(0, 0);
  ck_assert_int_eq(tfrt_work_queue_parallelism(queue), tfrt_processor_count());
  ck_assert_ptr_nonnull(strstr(tfrt_work_queue_name(queue), "256 blocking threads"));
  tfrt_work_queue_release(queue);
}
END_TEST

START_TEST(bad_numbers_are_refused) {
  tfrt_thread_pool_options_t options[] = {{.thread_count = -1},
                                          {.thread_count = TFRT_THREAD_POOL_MAX_THREADS + 1},
                                          {.thread_count = 1, .blocking_thread_count = -3}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(options); ++i) {
    tfrt_work_queue_t* queue = NULL;
    tfrt_status_t status =
        tfrt_thread_pool_work_queue_create(&options[i], tfrt_allocator_system(), &queue);
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_null(queue);
    tfrt_status_release(status);
  }
}
END_TEST

START_TEST(quiesce_waits_for_whole_trees_of_tasks) {
  for (int threads = 1; threads <= 4; ++threads) {
    tfrt_work_queue_t* queue = create(threads, 4);
    for (int round = 0; round < 20; ++round) {
      atomic_store(&run_count, 0);
      tfrt_work_queue_add_task(queue, &new_job(queue, 9)->task);
      tfrt_work_queue_quiesce(queue);
      ck_assert_int_eq(atomic_load(&run_count), 1023);
    }
    tfrt_work_queue_release(queue);
  }
}
END_TEST

START_TEST(no_wake_up_is_lost) {
  tfrt_work_queue_t* queue = create(2, 1);
  for (int round = 0; round < 3000; ++round) {
    tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
    job_t* job = new_job(queue, 0);
    job->value = value;
    tfrt_work_queue_add_task(queue, &job->task);
    // Lets the workers go to sleep, or not, before the next task.
    if (round % 3 == 0) tfrt_work_queue_quiesce(queue);
    tfrt_work_queue_await(queue, &value, 1);
    tfrt_async_value_release(value);
  }
  tfrt_work_queue_quiesce(queue);
  tfrt_work_queue_release(queue);
}
END_TEST

#define PER_PRODUCER 3000

static void produce(void* argument) {
  tfrt_work_queue_t* queue = argument;
  for (int i = 0; i < PER_PRODUCER; ++i) {
    tfrt_work_queue_add_task(queue, &new_job(queue, i % 100 == 0 ? 3 : 0)->task);
  }
}

START_TEST(tasks_of_many_threads_all_run) {
  tfrt_work_queue_t* queue = create(3, 2);
  tfrt_thread_t producers[3];
  for (int i = 0; i < 3; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("producer", produce, queue, &producers[i]));
  }
  for (int i = 0; i < 3; ++i) tfrt_thread_join(&producers[i]);
  tfrt_work_queue_quiesce(queue);
  ck_assert_int_eq(atomic_load(&run_count), 3 * (PER_PRODUCER + PER_PRODUCER / 100 * 14));
  tfrt_work_queue_release(queue);
}
END_TEST

// Adds more tasks than a deque holds, from inside of a worker.
static void flood(tfrt_task_t* task) {
  job_t* job = TFRT_CONTAINER_OF(task, job_t, task);
  for (int i = 0; i < 5000; ++i) {
    tfrt_work_queue_add_task(job->queue, &new_job(job->queue, 0)->task);
  }
}

START_TEST(a_worker_may_add_more_tasks_than_its_deque_holds) {
  tfrt_work_queue_t* queue = create(2, 1);
  job_t job = {.queue = queue};
  tfrt_task_initialize(&job.task, flood);
  tfrt_work_queue_add_task(queue, &job.task);
  tfrt_work_queue_quiesce(queue);
  ck_assert_int_eq(atomic_load(&run_count), 5000);
  tfrt_work_queue_release(queue);
}
END_TEST

// Adds itself again until somebody else's task has run.
static _Atomic bool is_stopped;
static void respawn(tfrt_task_t* task) {
  job_t* job = TFRT_CONTAINER_OF(task, job_t, task);
  if (!atomic_load(&is_stopped)) tfrt_work_queue_add_task(job->queue, task);
}
static void stop(tfrt_task_t* task) {
  (void)task;
  atomic_store(&is_stopped, true);
}
static void start_respawning(tfrt_task_t* task) {
  job_t* jobs = TFRT_CONTAINER_OF(task, job_t, task);
  // The one that stops lies below the one that always is the newest.
  tfrt_work_queue_add_task(jobs->queue, &jobs[1].task);
  tfrt_work_queue_add_task(jobs->queue, &jobs[2].task);
}

START_TEST(a_task_that_always_comes_back_starves_no_other) {
  tfrt_work_queue_t* queue = create(1, 1);
  job_t jobs[3] = {{.queue = queue}, {.queue = queue}, {.queue = queue}};
  tfrt_task_initialize(&jobs[0].task, start_respawning);
  tfrt_task_initialize(&jobs[1].task, stop);
  tfrt_task_initialize(&jobs[2].task, respawn);
  tfrt_work_queue_add_task(queue, &jobs[0].task);
  tfrt_work_queue_quiesce(queue);
  ck_assert(atomic_load(&is_stopped));
  tfrt_work_queue_release(queue);
}
END_TEST

static void run_in_caller(tfrt_task_t* task) {
  (void)task;
  atomic_fetch_add(&run_count, 1);
}

START_TEST(without_any_thread_a_task_runs_in_who_adds_it) {
  tfrt_work_queue_t* queue = create(2, 1);
  tfrt_task_t task;
  tfrt_task_initialize(&task, run_in_caller);
  // The argument of a new thread is allocated: without memory there is no thread.
  tfrt_failing_malloc_arm(0);
  tfrt_work_queue_add_task(queue, &task);
  bool is_taken = tfrt_work_queue_add_blocking_task(queue, &task, true);
  tfrt_failing_malloc_disarm();
  ck_assert_int_eq(atomic_load(&run_count), 1);
  ck_assert(!is_taken);
  tfrt_work_queue_quiesce(queue);
  tfrt_work_queue_add_task(queue, &task);
  tfrt_work_queue_quiesce(queue);
  ck_assert_int_eq(atomic_load(&run_count), 2);
  tfrt_work_queue_release(queue);
}
END_TEST

// Each waits for the one before it: all of them must run at once.
typedef struct link_s {
  tfrt_task_t task;
  tfrt_work_queue_t* queue;
  tfrt_async_value_t* before;
  tfrt_async_value_t* own;
} link_t;

static void wait_for_before(tfrt_task_t* task) {
  link_t* link = TFRT_CONTAINER_OF(task, link_t, task);
  tfrt_blocking_wait(&link->before, 1);
  tfrt_async_value_set_available(link->own);
}

START_TEST(blocking_tasks_do_not_hold_up_compute_tasks) {
  enum { count = 6 };
  tfrt_work_queue_t* queue = create(1, count);
  tfrt_async_value_t* values[count + 1];
  link_t links[count];
  for (int i = 0; i <= count; ++i) {
    values[i] = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  }
  // The last in the row first: it waits for all others.
  for (int i = count - 1; i >= 0; --i) {
    links[i] = (link_t){.before = values[i], .own = values[i + 1]};
    tfrt_task_initialize(&links[i].task, wait_for_before);
    ck_assert(tfrt_work_queue_add_blocking_task(queue, &links[i].task, i % 2));
  }
  job_t* job = new_job(queue, 0);
  job->value = values[0];
  tfrt_work_queue_add_task(queue, &job->task);
  tfrt_work_queue_await(queue, &values[count], 1);
  tfrt_work_queue_quiesce(queue);
  for (int i = 0; i <= count; ++i) tfrt_async_value_release(values[i]);
  tfrt_work_queue_release(queue);
}
END_TEST

// --- Tasks that wait ---------------------------------------------------------

// A number of Fibonacci by two tasks of the queue, for which the task waits.
typedef struct fibonacci_s {
  tfrt_task_t task;
  tfrt_work_queue_t* queue;
  int n;
  int64_t result;
  tfrt_async_value_t* done;
} fibonacci_t;

static void run_fibonacci(tfrt_task_t* task);

static void start_fibonacci(fibonacci_t* self, tfrt_work_queue_t* queue, int n) {
  *self = (fibonacci_t){.queue = queue, .n = n};
  self->done = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  tfrt_task_initialize(&self->task, run_fibonacci);
  tfrt_work_queue_add_task(queue, &self->task);
}

static void run_fibonacci(tfrt_task_t* task) {
  fibonacci_t* self = TFRT_CONTAINER_OF(task, fibonacci_t, task);
  self->result = self->n;
  if (self->n > 1) {
    fibonacci_t parts[2];
    for (int i = 0; i < 2; ++i) start_fibonacci(&parts[i], self->queue, self->n - 1 - i);
    tfrt_async_value_t* both[] = {parts[0].done, parts[1].done};
    tfrt_work_queue_await(self->queue, both, 2);
    self->result = parts[0].result + parts[1].result;
    for (int i = 0; i < 2; ++i) tfrt_async_value_release(both[i]);
  }
  tfrt_async_value_set_available(self->done);
}

START_TEST(tasks_that_wait_for_tasks_do_not_starve_them) {
  for (int threads = 1; threads <= 4; threads += 3) {
    tfrt_work_queue_t* queue = create(threads, 1);
    for (int round = 0; round < 3; ++round) {
      fibonacci_t whole;
      start_fibonacci(&whole, queue, 11);
      tfrt_work_queue_await(queue, &whole.done, 1);
      ck_assert_int_eq(whole.result, 89);
      tfrt_async_value_release(whole.done);
      tfrt_work_queue_quiesce(queue);
    }
    tfrt_work_queue_release(queue);
  }
}
END_TEST

// Waits for |before|, then resolves |own|.
static void wait_in_queue(tfrt_task_t* task) {
  link_t* link = TFRT_CONTAINER_OF(task, link_t, task);
  tfrt_work_queue_await(link->queue, &link->before, 1);
  tfrt_async_value_set_available(link->own);
}

START_TEST(a_task_from_outside_runs_while_all_others_wait) {
  enum { count = 40 };
  tfrt_work_queue_t* queue = create(2, 1);
  tfrt_async_value_t* values[count + 1];
  link_t links[count];
  for (int i = 0; i <= count; ++i) {
    values[i] = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  }
  for (int i = count - 1; i >= 0; --i) {
    links[i] = (link_t){.queue = queue, .before = values[i], .own = values[i + 1]};
    tfrt_task_initialize(&links[i].task, wait_in_queue);
    tfrt_work_queue_add_task(queue, &links[i].task);
  }
  // Added last, and what all others wait for.
  job_t* job = new_job(queue, 0);
  job->value = values[0];
  tfrt_work_queue_add_task(queue, &job->task);
  tfrt_work_queue_await(queue, &values[count], 1);
  tfrt_work_queue_quiesce(queue);
  for (int i = 0; i <= count; ++i) tfrt_async_value_release(values[i]);
  tfrt_work_queue_release(queue);
}
END_TEST

// Needs no memory.
static void resolve(tfrt_task_t* task) {
  tfrt_async_value_set_available(TFRT_CONTAINER_OF(task, job_t, task)->value);
}

// Adds the task that resolves its value, and waits for that where no thread is to be had.
static void wait_without_threads(tfrt_task_t* task) {
  link_t* link = TFRT_CONTAINER_OF(task, link_t, task);
  job_t job = {.value = link->before};
  tfrt_task_initialize(&job.task, resolve);
  tfrt_failing_malloc_arm(0);
  tfrt_work_queue_add_task(link->queue, &job.task);
  tfrt_work_queue_await(link->queue, &link->before, 1);
  ck_assert_int_gt(tfrt_failing_malloc_disarm(), 0);
  tfrt_async_value_set_available(link->own);
}

START_TEST(a_task_that_waits_runs_others_if_there_is_no_thread_for_them) {
  tfrt_work_queue_t* queue = create(1, 1);
  link_t link = {.queue = queue,
                 .before = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN),
                 .own = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN)};
  tfrt_task_initialize(&link.task, wait_without_threads);
  tfrt_work_queue_add_task(queue, &link.task);
  tfrt_work_queue_await(queue, &link.own, 1);
  tfrt_work_queue_quiesce(queue);
  tfrt_async_value_release(link.before);
  tfrt_async_value_release(link.own);
  tfrt_work_queue_release(queue);
}
END_TEST

// Notes on how many processors its thread may run.
typedef struct placed_task_s {
  tfrt_task_t task;
  int processors;
} placed_task_t;

static void note_processors(tfrt_task_t* task) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return;
  TFRT_CONTAINER_OF(task, placed_task_t, task)->processors = CPU_COUNT(&set);
}

START_TEST(compute_threads_can_be_bound_and_blocking_threads_are_not) {
  tfrt_thread_pool_options_t options = {
      .thread_count = 2, .blocking_thread_count = 1, .pin_threads = true};
  tfrt_work_queue_t* pinned = NULL;
  ck_assert_ptr_null(
      tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &pinned));
  int all = tfrt_processor_count();
  placed_task_t tasks[2] = {{.processors = 0}};
  tfrt_task_initialize(&tasks[0].task, note_processors);
  tfrt_work_queue_add_task(pinned, &tasks[0].task);
  tfrt_work_queue_quiesce(pinned);
  tfrt_task_initialize(&tasks[1].task, note_processors);
  ck_assert(tfrt_work_queue_add_blocking_task(pinned, &tasks[1].task, true));
  tfrt_work_queue_quiesce(pinned);
  ck_assert_int_eq(tasks[0].processors, 1);
  ck_assert_int_eq(tasks[1].processors, all);
  tfrt_work_queue_release(pinned);
}
END_TEST

// A task of a thread that is none of the queue's.
typedef struct guest_s {
  tfrt_task_t task;
  tfrt_work_queue_t* queue;
  tfrt_async_value_t* begun;
  _Atomic bool is_done;
} guest_t;

static void run_guest(tfrt_task_t* task) {
  guest_t* guest = TFRT_CONTAINER_OF(task, guest_t, task);
  ck_assert(!tfrt_work_queue_is_in_worker_thread(guest->queue));
  tfrt_async_value_set_available(guest->begun);
  for (int i = 0; i < 1000; ++i) sched_yield();
  atomic_store(&guest->is_done, true);
}

static void be_guest(void* argument) {
  guest_t* guest = argument;
  tfrt_work_queue_run_or_add(guest->queue, &guest->task);
  ck_assert(atomic_load(&guest->is_done));
}

START_TEST(a_task_on_the_thread_of_another_is_waited_for) {
  for (int i = 0; i < 20; ++i) {
    guest_t guest = {.queue = create(1, 1),
                     .begun = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN)};
    tfrt_thread_t thread;
    tfrt_task_initialize(&guest.task, run_guest);
    ck_assert(!tfrt_thread_create("guest", be_guest, &guest, &thread));
    tfrt_blocking_wait(&guest.begun, 1);
    tfrt_work_queue_quiesce(guest.queue);
    ck_assert(atomic_load(&guest.is_done));
    tfrt_thread_join(&thread);
    tfrt_async_value_release(guest.begun);
    tfrt_work_queue_release(guest.queue);
  }
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("thread_pool_work_queue");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, it_has_the_name_that_bef_executor_prints);
  tcase_add_test(tests, bad_numbers_are_refused);
  tcase_add_test(tests, quiesce_waits_for_whole_trees_of_tasks);
  tcase_add_test(tests, no_wake_up_is_lost);
  tcase_add_test(tests, tasks_of_many_threads_all_run);
  tcase_add_test(tests, a_worker_may_add_more_tasks_than_its_deque_holds);
  tcase_add_test(tests, a_task_that_always_comes_back_starves_no_other);
  tcase_add_test(tests, without_any_thread_a_task_runs_in_who_adds_it);
  tcase_add_test(tests, blocking_tasks_do_not_hold_up_compute_tasks);
  tcase_add_test(tests, tasks_that_wait_for_tasks_do_not_starve_them);
  tcase_add_test(tests, a_task_from_outside_runs_while_all_others_wait);
  tcase_add_test(tests, a_task_that_waits_runs_others_if_there_is_no_thread_for_them);
  tcase_add_test(tests, a_task_on_the_thread_of_another_is_waited_for);
  tcase_add_test(tests, compute_threads_can_be_bound_and_blocking_threads_are_not);
  Suite* suite = suite_create("thread_pool_work_queue");
  suite_add_tcase(suite, tests);
  return suite;
}
