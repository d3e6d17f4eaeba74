// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/call/running_kernel.h"

#include "tests/support/test_main.h"

#define CAPACITY 4

// Two places that are taken for kernels.
static const char a, b;

// And two that are taken for requests.
static const char first, second;

// A thread's state, which another thread changes step by step.
typedef struct step_s {
  tfrt_mutex_t mutex;
  tfrt_condition_t condition;
  int reached;  // by the thread
  int allowed;
} step_t;

static step_t step;

static void reach(int number) {
  tfrt_mutex_lock(&step.mutex);
  step.reached = number;
  tfrt_condition_broadcast(&step.condition);
  while (step.allowed < number) tfrt_condition_wait(&step.condition, &step.mutex);
  tfrt_mutex_unlock(&step.mutex);
}

static void allow(int number) {
  tfrt_mutex_lock(&step.mutex);
  step.allowed = number;
  tfrt_condition_broadcast(&step.condition);
  while (step.reached <= number) tfrt_condition_wait(&step.condition, &step.mutex);
  tfrt_mutex_unlock(&step.mutex);
}

static void run(void* argument) {
  (void)argument;
  reach(1);
  tfrt_running_kernel_outer_t outer = tfrt_running_kernel_enter(&first);
  tfrt_running_kernel_mark(&a);
  reach(2);
  tfrt_running_kernel_outer_t inner = tfrt_running_kernel_enter(&second);
  tfrt_running_kernel_mark(&b);
  reach(3);
  tfrt_running_kernel_leave(inner);
  reach(4);
  tfrt_running_kernel_leave(outer);
  reach(5);
}

START_TEST(a_thread_is_listed_with_the_innermost_of_its_kernels) {
  tfrt_running_kernel_thread_t threads[CAPACITY] = {{0}};
  tfrt_thread_t thread;
  step = (step_t){.allowed = 0};
  tfrt_mutex_initialize(&step.mutex);
  tfrt_condition_initialize(&step.condition);
  tfrt_status_t status = tfrt_thread_create("runner", run, NULL, &thread);
  ck_assert(tfrt_status_is_ok(status));
  allow(0);
  ck_assert_uint_eq(tfrt_running_kernel_list(threads, CAPACITY), 0);
  allow(1);
  ck_assert_uint_eq(tfrt_running_kernel_list(threads, CAPACITY), 1);
  ck_assert_ptr_eq(threads[0].site, &a);
  ck_assert_ptr_eq(threads[0].request, &first);
  tfrt_running_kernel_thread_t before = threads[0];
  allow(2);
  ck_assert_uint_eq(tfrt_running_kernel_list(threads, CAPACITY), 1);
  ck_assert_ptr_eq(threads[0].site, &b);
  ck_assert_ptr_eq(threads[0].request, &second);
  ck_assert_uint_eq(tfrt_running_kernel_list(threads, 0), 0);
  allow(3);
  ck_assert_uint_eq(tfrt_running_kernel_list(threads, CAPACITY), 1);
  ck_assert_ptr_eq(threads[0].site, &a);
  ck_assert_ptr_eq(threads[0].request, &first);
  // It has made a call since.
  ck_assert_ptr_eq(threads[0].thread, before.thread);
  ck_assert_uint_eq(threads[0].calls, before.calls + 1);
  allow(4);
  ck_assert_uint_eq(tfrt_running_kernel_list(threads, CAPACITY), 0);
  tfrt_mutex_lock(&step.mutex);
  step.allowed = 5;
  tfrt_condition_broadcast(&step.condition);
  tfrt_mutex_unlock(&step.mutex);
  tfrt_thread_join(&thread);
  ck_assert_uint_eq(tfrt_running_kernel_list(threads, CAPACITY), 0);
  tfrt_condition_deinitialize(&step.condition);
  tfrt_mutex_deinitialize(&step.mutex);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* threads = tcase_create("threads");
  tcase_add_test(threads, a_thread_is_listed_with_the_innermost_of_its_kernels);
  Suite* suite = suite_create("running_kernel");
  suite_add_tcase(suite, threads);
  return suite;
}
