// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/priority_work_queue.h"

#include <string.h>

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

static tfrt_work_queue_t* base;
static tfrt_work_queue_t* queues[TFRT_PRIORITY_COUNT];
static tfrt_counting_allocator_t books;

static void set_up(void) {
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  ck_assert_ptr_null(tfrt_inline_work_queue_create(tfrt_allocator_system(), &base));
  ck_assert_ptr_null(
      tfrt_priority_work_queues_create(base, tfrt_counting_allocator_interface(&books), queues));
}

static void tear_down(void) {
  for (int i = 0; i < TFRT_PRIORITY_COUNT; ++i) tfrt_work_queue_release(queues[i]);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
  tfrt_work_queue_release(base);
}

// Tasks that write down their letters, and may add another one.
static char order[16];
static bool was_in_worker;  // the last one, when it ran

typedef struct letter_s {
  tfrt_task_t task;
  char letter;
  struct letter_s* next;  // is added with the priority |next_priority|, or NULL
  tfrt_priority_t next_priority;
} letter_t;

static void write_letter(tfrt_task_t* task) {
  letter_t* letter = TFRT_CONTAINER_OF(task, letter_t, task);
  strncat(order, &letter->letter, 1);
  was_in_worker = tfrt_work_queue_is_in_worker_thread(queues[0]);
  if (letter->next) tfrt_work_queue_add_task(queues[letter->next_priority], &letter->next->task);
}

static letter_t letter(char which) {
  letter_t made = {.letter = which};
  tfrt_task_initialize(&made.task, write_letter);
  return made;
}

START_TEST(urgent_tasks_go_first_and_equals_in_their_order) {
  static const tfrt_priority_t priorities[] = {TFRT_PRIORITY_LOW,  TFRT_PRIORITY_DEFAULT,
                                               TFRT_PRIORITY_HIGH, TFRT_PRIORITY_DEFAULT,
                                               TFRT_PRIORITY_LOW,  TFRT_PRIORITY_CRITICAL};
  letter_t letters[6];
  for (int i = 0; i < 6; ++i) {
    letters[i] = letter((char)('a' + i));
    tfrt_work_queue_add_task(queues[priorities[i]], &letters[i].task);
  }
  tfrt_work_queue_quiesce(queues[TFRT_PRIORITY_LOW]);
  ck_assert_str_eq(order, "fcbdae");
}
END_TEST

START_TEST(what_comes_meanwhile_overtakes_what_waits) {
  letter_t a = letter('a'), b = letter('b'), c = letter('c');
  a.next = &c;
  a.next_priority = TFRT_PRIORITY_HIGH;
  tfrt_work_queue_add_task(queues[TFRT_PRIORITY_DEFAULT], &a.task);
  tfrt_work_queue_add_task(queues[TFRT_PRIORITY_DEFAULT], &b.task);
  tfrt_work_queue_quiesce(base);
  ck_assert_str_eq(order, "acb");
}
END_TEST

START_TEST(a_task_for_which_memory_is_out_runs_in_the_caller) {
  tfrt_counting_allocator_t tight;
  tfrt_counting_allocator_initialize(&tight, tfrt_allocator_system(),
                                     tfrt_counting_allocator_counts(&books).current_bytes);
  tfrt_work_queue_t* others[TFRT_PRIORITY_COUNT];
  ck_assert_ptr_null(
      tfrt_priority_work_queues_create(base, tfrt_counting_allocator_interface(&tight), others));
  letter_t a = letter('a');
  tfrt_work_queue_add_task(others[0], &a.task);
  ck_assert_str_eq(order, "a");
  for (int i = 0; i < TFRT_PRIORITY_COUNT; ++i) tfrt_work_queue_release(others[i]);
  tfrt_counting_allocator_initialize(&tight, tfrt_allocator_system(), 8);
  tfrt_status_t status =
      tfrt_priority_work_queues_create(base, tfrt_counting_allocator_interface(&tight), others);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  ck_assert_ptr_null(others[0]);
  tfrt_status_release(status);
}
END_TEST

START_TEST(all_else_is_the_base_queues) {
  ck_assert_str_eq(tfrt_work_queue_name(queues[0]), tfrt_work_queue_name(base));
  ck_assert_int_eq(tfrt_work_queue_parallelism(queues[0]), tfrt_work_queue_parallelism(base));
  ck_assert(!tfrt_work_queue_is_in_worker_thread(queues[0]));
  letter_t a = letter('a'), b = letter('b');
  ck_assert(!tfrt_work_queue_add_blocking_task(queues[0], &a.task, false));
  tfrt_work_queue_add_task(queues[3], &b.task);
  ck_assert(tfrt_work_queue_add_blocking_task(queues[3], &a.task, true));
  letter_t c = letter('c');
  tfrt_work_queue_run_here(queues[3], &c.task);
  ck_assert(was_in_worker);
  letter_t d = letter('d');
  tfrt_work_queue_run_or_add(queues[3], &d.task);
  tfrt_async_value_t* ready = tfrt_async_value_ready_chain();
  tfrt_work_queue_await(queues[0], &ready, 1);
  tfrt_work_queue_quiesce(queues[0]);
  ck_assert_str_eq(order, "cbad");
}
END_TEST

// --- Threads -------------------------------------------------------------------------

static _Atomic int runs;

typedef struct counted_s {
  tfrt_task_t task;
  int left;  // times that it adds itself again, at another level each time
} counted_t;

static tfrt_work_queue_t* threaded[TFRT_PRIORITY_COUNT];

static void count_run(tfrt_task_t* task) {
  counted_t* counted = TFRT_CONTAINER_OF(task, counted_t, task);
  atomic_fetch_add(&runs, 1);
  if (counted->left-- == 0) return;
  tfrt_task_initialize(&counted->task, count_run);
  tfrt_work_queue_add_task(threaded[counted->left % TFRT_PRIORITY_COUNT], &counted->task);
}

START_TEST(threads_lose_no_task) {
  tfrt_work_queue_t* pool;
  const tfrt_thread_pool_options_t options = {.thread_count = 4};
  ck_assert_ptr_null(tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &pool));
  ck_assert_ptr_null(tfrt_priority_work_queues_create(pool, tfrt_allocator_system(), threaded));
  static counted_t tasks[100];
  for (int i = 0; i < 100; ++i) {
    tasks[i].left = 20;
    tfrt_task_initialize(&tasks[i].task, count_run);
    tfrt_work_queue_add_task(threaded[i % TFRT_PRIORITY_COUNT], &tasks[i].task);
  }
  tfrt_work_queue_quiesce(threaded[0]);
  ck_assert_int_eq(runs, 100 * 21);
  tfrt_work_queue_release(pool);  // kept by the four
  for (int i = 0; i < TFRT_PRIORITY_COUNT; ++i) tfrt_work_queue_release(threaded[i]);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("priority_work_queue");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, urgent_tasks_go_first_and_equals_in_their_order);
  tcase_add_test(cases, what_comes_meanwhile_overtakes_what_waits);
  tcase_add_test(cases, a_task_for_which_memory_is_out_runs_in_the_caller);
  tcase_add_test(cases, all_else_is_the_base_queues);
  tcase_add_test(cases, threads_lose_no_task);
  Suite* suite = suite_create("priority_work_queue");
  suite_add_tcase(suite, cases);
  return suite;
}
