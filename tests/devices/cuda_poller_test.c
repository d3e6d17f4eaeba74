// SPDX-License-Identifier: Apache-2.0
//
// The threads that ask the driver: how they sleep, and what they run.
#include "devices/cuda/cuda_poller.h"

#include <sys/prctl.h>

#include "host_runtime/async/thread_pool_work_queue.h"
#include "tests/support/test_main.h"

// Something that is over when it is asked for the third time.
typedef struct tfrt_test_poll_s {
  tfrt_cuda_poll_t poll;
  int looks;
  int slack_ns;  // of the thread that asks
  bool is_run;   // guarded by the test's mutex, as what follows
  bool runs_on_poller;
} tfrt_test_poll_t;

static tfrt_work_queue_t* work_queue;
static tfrt_cuda_poller_t poller;
static tfrt_mutex_t mutex;
static tfrt_condition_t condition;

static bool test_is_over(tfrt_cuda_poll_t* base) {
  tfrt_test_poll_t* poll = TFRT_CONTAINER_OF(base, tfrt_test_poll_t, poll);
  poll->slack_ns = prctl(PR_GET_TIMERSLACK);
  return ++poll->looks == 3;
}

static void test_run(tfrt_task_t* task) {
  tfrt_test_poll_t* poll = TFRT_CONTAINER_OF(task, tfrt_test_poll_t, poll.task);
  tfrt_mutex_lock(&mutex);
  poll->runs_on_poller = tfrt_cuda_poller_is_here(&poller);
  poll->is_run = true;
  tfrt_condition_signal(&condition);
  tfrt_mutex_unlock(&mutex);
}

// Adds |poll| and waits until its task has run.
static void test_follow(tfrt_test_poll_t* poll, bool may_run_here) {
  *poll = (tfrt_test_poll_t){.poll = {.is_over = test_is_over, .may_run_here = may_run_here}};
  tfrt_task_initialize(&poll->poll.task, test_run);
  ck_assert(!tfrt_cuda_poller_add(&poller, &poll->poll));
  tfrt_mutex_lock(&mutex);
  while (!poll->is_run) tfrt_condition_wait(&condition, &mutex);
  tfrt_mutex_unlock(&mutex);
}

static void test_set_up(void) {
  tfrt_thread_pool_options_t options = {.thread_count = 1};
  ck_assert(!tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &work_queue));
  tfrt_mutex_initialize(&mutex);
  tfrt_condition_initialize(&condition);
  tfrt_cuda_poller_initialize(&poller, work_queue);
}

static void test_tear_down(void) {
  tfrt_cuda_poller_deinitialize(&poller);
  tfrt_condition_deinitialize(&condition);
  tfrt_mutex_deinitialize(&mutex);
  tfrt_work_queue_release(work_queue);
}

// The system would add 50 us to each pause.
START_TEST(a_thread_that_asks_is_woken_in_time) {
  tfrt_test_poll_t poll;
  test_follow(&poll, false);
  ck_assert_int_eq(poll.looks, 3);
  ck_assert_int_eq(poll.slack_ns, 1);
}
END_TEST

START_TEST(a_task_that_needs_the_queues_threads_runs_there) {
  tfrt_test_poll_t poll;
  test_follow(&poll, false);
  ck_assert(!poll.runs_on_poller);
}
END_TEST

// Both threads of the poller are there soon; then the one that asks runs what it finds.
START_TEST(another_task_is_run_by_the_thread_that_asks) {
  tfrt_test_poll_t poll;
  do {
    test_follow(&poll, true);
  } while (!poll.runs_on_poller);
  ck_assert_int_eq(poll.slack_ns, 1);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* threads = tcase_create("threads");
  tcase_add_checked_fixture(threads, test_set_up, test_tear_down);
  tcase_add_test(threads, a_thread_that_asks_is_woken_in_time);
  tcase_add_test(threads, a_task_that_needs_the_queues_threads_runs_there);
  tcase_add_test(threads, another_task_is_run_by_the_thread_that_asks);
  Suite* suite = suite_create("cuda_poller");
  suite_add_tcase(suite, threads);
  return suite;
}
