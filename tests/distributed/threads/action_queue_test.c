// SPDX-License-Identifier: Apache-2.0
#include "distributed/threads/node_lock.h"

#include <stdatomic.h>
#include <string.h>

#include "distributed/tuning/tuning.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/base/log.h"
#include "tests/support/test_main.h"

// --- What the tests are made of ----------------------------------------------

static tfrt_node_lock_t lock;
static tfrt_counting_allocator_t books;
static tfrt_action_queue_t queue;

static void set_up(void) {
  tfrt_node_lock_initialize(&lock);
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_action_queue_initialize(&queue, &lock, tfrt_counting_allocator_interface(&books), NULL);
  tfrt_node_lock_lock(&lock);
}

// Opens the lock, does what was put off, and locks again.
static void open_lock(void) {
  tfrt_node_lock_unlock_and_run(&lock);
  tfrt_node_lock_lock(&lock);
}

static void tear_down(void) {
  tfrt_node_lock_unlock_and_run(&lock);
  tfrt_action_queue_deinitialize(&queue);
  tfrt_node_lock_deinitialize(&lock);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_count, 0);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

// The actions that ran, in order, one letter each.
static char order[64];

static void note(char letter) {
  size_t size = strlen(order);
  ck_assert_uint_lt(size + 1, sizeof(order));
  order[size] = letter;
  order[size + 1] = '\0';
}

static void run_letter(void* argument) { note(*(const char*)argument); }

static void call(const char* letter) {
  tfrt_action_queue_call(&queue, run_letter, (void*)(uintptr_t)letter);
}

// A task that notes its letter.
typedef struct lettered_s {
  tfrt_task_t task;
  char letter;
} lettered_t;

static void run_lettered(tfrt_task_t* task) {
  note(TFRT_CONTAINER_OF(task, lettered_t, task)->letter);
}

static tfrt_task_t* prepare(lettered_t* lettered, char letter) {
  tfrt_task_initialize(&lettered->task, run_lettered);
  lettered->letter = letter;
  return &lettered->task;
}

// A value whose end is noted, as '~'.
static void note_end(void* payload) {
  (void)payload;
  note('~');
}

static tfrt_async_value_t* new_noted(void) {
  static const tfrt_type_t type = {.name = "!test.noted", .size = 4, .destroy = note_end};
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  ck_assert_ptr_null(tfrt_type_register(&type, &id));
  tfrt_async_value_t* value = tfrt_async_value_create_available(id);
  ck_assert_ptr_nonnull(value);
  return value;
}

// A value that is owned elsewhere and knows what it was asked.
typedef struct remote_s {
  tfrt_indirect_value_t base;
  tfrt_async_value_t* settlement;
  int demands;
  int questions;
} remote_t;

static void remote_destroy(tfrt_indirect_value_t* value) {
  tfrt_async_value_release(((remote_t*)value)->settlement);
}

static void remote_demand(tfrt_indirect_value_t* value) { ++((remote_t*)value)->demands; }

static tfrt_async_value_t* remote_settlement(tfrt_indirect_value_t* value) {
  ++((remote_t*)value)->questions;
  return ((remote_t*)value)->settlement;
}

static const tfrt_resolver_vtable_t remote_resolver = {remote_destroy, remote_demand,
                                                       remote_settlement};

static tfrt_async_value_t* make_remote(remote_t* remote) {
  memset(remote, 0, sizeof(*remote));
  tfrt_indirect_value_initialize(&remote->base, &remote_resolver);
  remote->settlement = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  return &remote->base.base;
}

// Resolves |remote| and its settlement, and releases |remote|.
static void end_remote(remote_t* remote) {
  tfrt_indirect_value_forward_take(&remote->base, tfrt_async_value_create_i32(1));
  tfrt_async_value_set_available(remote->settlement);
  tfrt_async_value_release(&remote->base.base);
}

// --- When and in which order -------------------------------------------------

START_TEST(nothing_happens_before_the_lock_is_opened_and_then_all_in_order) {
  lettered_t waiter;
  tfrt_async_value_t* value = new_noted();
  call("a");
  tfrt_action_queue_wait(&queue, value, TFRT_ACTION_WATCH, prepare(&waiter, 'w'));
  tfrt_action_queue_release(&queue, value);
  call("b");
  ck_assert_str_eq(order, "");
  open_lock();
  ck_assert_str_eq(order, "aw~b");
  open_lock();
  ck_assert_str_eq(order, "aw~b");
}
END_TEST

static void run_more(void* unused) {
  (void)unused;
  // Would stop here for ever if the lock were held.
  tfrt_node_lock_lock(&lock);
  call("y");
  call("z");
  tfrt_node_lock_unlock_and_run(&lock);
  note('x');
}

START_TEST(what_an_action_adds_runs_behind_the_rest) {
  tfrt_action_queue_call(&queue, run_more, NULL);
  call("b");
  open_lock();
  ck_assert_str_eq(order, "xbyz");
}
END_TEST

static int numbers_seen;
static void run_number(void* argument) {
  ck_assert_int_eq((int)(intptr_t)argument, numbers_seen);
  ++numbers_seen;
}

START_TEST(any_number_of_actions_runs_each_once_and_in_order) {
  // Around each size that the queue may grow at, and far above.
  static const int counts[] = {1, 15, 16, 17, 31, 32, 33, 10000};
  for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
    numbers_seen = 0;
    for (intptr_t n = 0; n < counts[i]; ++n) {
      tfrt_action_queue_call(&queue, run_number, (void*)n);
    }
    ck_assert_int_eq(numbers_seen, 0);
    open_lock();
    ck_assert_int_eq(numbers_seen, counts[i]);
  }
}
END_TEST

START_TEST(very_many_actions_are_not_copied_when_more_are_added) {
  numbers_seen = 0;
  int64_t largest = 0;
  for (intptr_t n = 0; n < 100000; ++n) {
    int64_t before = tfrt_counting_allocator_counts(&books).current_bytes;
    tfrt_action_queue_call(&queue, run_number, (void*)n);
    int64_t more = tfrt_counting_allocator_counts(&books).current_bytes - before;
    if (more > largest) largest = more;
  }
  // A block of 64 KiB takes some ten microseconds to copy.
  ck_assert_int_le(largest, 64 << 10);
  open_lock();
  ck_assert_int_eq(numbers_seen, 100000);
}
END_TEST

START_TEST(few_actions_at_a_time_take_memory_once) {
  for (int round = 0; round < 10; ++round) {
    order[0] = '\0';
    for (int i = 0; i < 3; ++i) call("a");
    open_lock();
    ck_assert_str_eq(order, "aaa");
  }
  // For the batch, and the spare one.
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).total_count, 2);
}
END_TEST

// --- What is done ------------------------------------------------------------

START_TEST(a_value_is_forwarded_and_both_references_are_given_back) {
  tfrt_indirect_value_t* value = tfrt_indirect_value_create();
  tfrt_async_value_t* target = new_noted();
  tfrt_async_value_retain(&value->base);
  tfrt_action_queue_forward_take(&queue, &value->base, target);
  ck_assert_int_eq(tfrt_async_value_state(&value->base), TFRT_ASYNC_VALUE_UNRESOLVED);
  open_lock();
  ck_assert_int_eq(tfrt_async_value_state(&value->base), TFRT_ASYNC_VALUE_AVAILABLE);
  ck_assert_ptr_eq(tfrt_async_value_resolved(&value->base), target);
  ck_assert_str_eq(order, "");
  tfrt_async_value_release(&value->base);
  ck_assert_str_eq(order, "~");
}
END_TEST

START_TEST(the_first_to_resolve_a_value_wins_and_the_second_lets_go) {
  tfrt_indirect_value_t* value = tfrt_indirect_value_create();
  tfrt_async_value_retain_n(&value->base, 2);
  tfrt_async_value_t* first = tfrt_async_value_create_i32(1);
  tfrt_action_queue_forward_take(&queue, &value->base, first);
  tfrt_action_queue_forward_take(&queue, &value->base, new_noted());
  open_lock();
  ck_assert_ptr_eq(tfrt_async_value_resolved(&value->base), first);
  ck_assert_str_eq(order, "~");
  tfrt_async_value_release(&value->base);
}
END_TEST

START_TEST(a_value_becomes_the_error_that_it_was_given) {
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  tfrt_async_value_t* concrete = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_ABORTED, "it broke");
  tfrt_action_queue_fail_take(&queue, tfrt_async_value_retain(&indirect->base), status);
  tfrt_action_queue_fail_take(&queue, tfrt_async_value_retain(concrete), status);
  // The queue has references of its own.
  tfrt_status_release(status);
  open_lock();
  ck_assert(tfrt_async_value_is_error(&indirect->base));
  ck_assert(tfrt_async_value_is_error(concrete));
  ck_assert_ptr_eq(tfrt_async_value_error(concrete), status);
  ck_assert_str_eq(tfrt_status_message(tfrt_async_value_error(&indirect->base)), "it broke");
  tfrt_async_value_release(&indirect->base);
  tfrt_async_value_release(concrete);
}
END_TEST

START_TEST(to_release_nothing_costs_nothing) {
  tfrt_action_queue_release(&queue, NULL);
  open_lock();
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).total_count, 0);
  tfrt_action_queue_release(&queue, new_noted());
  open_lock();
  // For the batch, and the spare one.
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).total_count, 2);
  ck_assert_str_eq(order, "~");
}
END_TEST

START_TEST(and_then_asks_for_the_payload) {
  remote_t remote;
  lettered_t waiter;
  tfrt_async_value_t* value = make_remote(&remote);
  tfrt_action_queue_wait(&queue, value, TFRT_ACTION_AND_THEN, prepare(&waiter, 'w'));
  ck_assert_int_eq(remote.demands, 0);
  open_lock();
  ck_assert_int_ge(remote.demands, 1);
  ck_assert_str_eq(order, "");
  end_remote(&remote);
  ck_assert_str_eq(order, "w");
}
END_TEST

START_TEST(await_asks_only_whether_it_is_settled) {
  remote_t remote;
  lettered_t waiter;
  tfrt_async_value_t* value = make_remote(&remote);
  tfrt_action_queue_wait(&queue, value, TFRT_ACTION_AWAIT, prepare(&waiter, 'w'));
  ck_assert_int_eq(remote.questions, 0);
  open_lock();
  ck_assert_int_ge(remote.questions, 1);
  ck_assert_int_eq(remote.demands, 0);
  ck_assert_str_eq(order, "");
  tfrt_async_value_set_available(remote.settlement);
  ck_assert_str_eq(order, "w");
  tfrt_indirect_value_forward_take(&remote.base, tfrt_async_value_create_i32(1));
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(watch_asks_nothing) {
  remote_t remote;
  lettered_t waiter;
  tfrt_async_value_t* value = make_remote(&remote);
  tfrt_action_queue_wait(&queue, value, TFRT_ACTION_WATCH, prepare(&waiter, 'w'));
  open_lock();
  ck_assert_int_eq(remote.demands + remote.questions, 0);
  ck_assert_str_eq(order, "");
  end_remote(&remote);
  ck_assert_str_eq(order, "w");
}
END_TEST

START_TEST(a_demand_waits_for_nothing) {
  remote_t remote;
  tfrt_async_value_t* value = make_remote(&remote);
  tfrt_action_queue_demand(&queue, value);
  ck_assert_int_eq(remote.demands, 0);
  open_lock();
  ck_assert_int_ge(remote.demands, 1);
  end_remote(&remote);
}
END_TEST

// --- Without memory ----------------------------------------------------------

static int lines_logged;
static void count_line(void* self, tfrt_log_severity_t severity, const char* line, size_t size) {
  (void)self, (void)size;
  ck_assert_int_eq(severity, TFRT_LOG_ERROR);
  ck_assert_ptr_nonnull(strstr(line, "out of memory while forwarding"));
  ++lines_logged;
}

START_TEST(what_one_critical_section_adds_is_not_lost_when_memory_is_out) {
  call("a");
  open_lock();
  books.limit_bytes = tfrt_counting_allocator_counts(&books).current_bytes;
  order[0] = '\0';
  numbers_seen = 0;
  for (intptr_t i = 0; i < TFRT_ACTION_QUEUE_SPARE; ++i) {
    tfrt_action_queue_call(&queue, run_number, (void*)i);
  }
  // An urgent action comes with the others.
  tfrt_action_queue_call_at_once(&queue, run_number, (void*)(intptr_t)TFRT_ACTION_QUEUE_SPARE);
  open_lock();
  ck_assert_int_eq(numbers_seen, TFRT_ACTION_QUEUE_SPARE + 1);
  books.limit_bytes = TFRT_COUNTING_ALLOCATOR_UNLIMITED;
}
END_TEST

START_TEST(without_memory_an_action_is_dropped_and_logged_and_the_others_run) {
  static const tfrt_log_sink_t sink = {.write = count_line};
  tfrt_log_set_sink(&sink);
  numbers_seen = 0;
  tfrt_action_queue_call(&queue, run_number, (void*)(intptr_t)0);
  // The allocator gives no more bytes than it has given now.
  books.limit_bytes = tfrt_counting_allocator_counts(&books).current_bytes;
  intptr_t added = 1;
  while (lines_logged == 0 && added < 1000) {
    tfrt_action_queue_call(&queue, run_number, (void*)added);
    ++added;
  }
  ck_assert_int_eq(lines_logged, 1);
  open_lock();
  ck_assert_int_eq(numbers_seen, (int)added - 1);
  // Memory is back: so is the queue.
  books.limit_bytes = TFRT_COUNTING_ALLOCATOR_UNLIMITED;
  call("a");
  open_lock();
  ck_assert_str_eq(order, "a");
  tfrt_log_set_sink(NULL);
}
END_TEST

// --- Threads -----------------------------------------------------------------

#define THREADS 4
#define ROUNDS 2000

static _Atomic int runs[THREADS];

static void run_counted(void* argument) {
  atomic_fetch_add_explicit((_Atomic int*)argument, 1, memory_order_relaxed);
}

static void run_thread(void* argument) {
  for (int i = 0; i < ROUNDS; ++i) {
    tfrt_node_lock_lock(&lock);
    tfrt_action_queue_call(&queue, run_counted, argument);
    tfrt_node_lock_unlock_and_run(&lock);
  }
}

START_TEST(what_threads_add_runs_once_each) {
  tfrt_node_lock_unlock_and_run(&lock);
  tfrt_thread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    ck_assert_ptr_null(tfrt_thread_create("adder", run_thread, &runs[i], &threads[i]));
  }
  for (int i = 0; i < THREADS; ++i) tfrt_thread_join(&threads[i]);
  for (int i = 0; i < THREADS; ++i) ck_assert_int_eq(runs[i], ROUNDS);
  tfrt_node_lock_lock(&lock);
}
END_TEST

// --- A work queue --------------------------------------------------------------

static tfrt_work_queue_t* work_queue;

static void use_work_queue(void) {
  ck_assert_ptr_null(tfrt_inline_work_queue_create(tfrt_allocator_system(), &work_queue));
  queue.work_queue = work_queue;
}

// Lets the threads of the work queue do what they have.
static void run_work_queue(void) {
  tfrt_node_lock_unlock_and_run(&lock);
  tfrt_work_queue_quiesce(work_queue);
  tfrt_node_lock_lock(&lock);
}

START_TEST(with_a_work_queue_its_threads_carry_out_what_may_take_long) {
  use_work_queue();
  call("a");
  call("b");
  open_lock();
  ck_assert_str_eq(order, "");
  run_work_queue();
  ck_assert_str_eq(order, "ab");
  tfrt_work_queue_release(work_queue);
}
END_TEST

START_TEST(releases_alone_and_urgent_calls_wait_for_no_thread) {
  use_work_queue();
  tfrt_action_queue_release(&queue, new_noted());
  open_lock();
  ck_assert_str_eq(order, "~");
  call("a");
  tfrt_action_queue_release(&queue, new_noted());
  tfrt_action_queue_call_at_once(&queue, run_letter, (void*)(uintptr_t) "!");
  open_lock();
  ck_assert_str_eq(order, "~!");
  run_work_queue();
  ck_assert_str_eq(order, "~!a~");
  tfrt_work_queue_release(work_queue);
}
END_TEST

// Adds an action and opens the lock, as a kernel on a thread of the work queue does.
static void act_in_worker(tfrt_task_t* task) {
  (void)task;
  tfrt_node_lock_lock(&lock);
  call("a");
  tfrt_node_lock_unlock_and_run(&lock);
  note('b');
}

START_TEST(a_thread_of_the_work_queue_hands_nothing_over) {
  use_work_queue();
  tfrt_task_t task;
  tfrt_task_initialize(&task, act_in_worker);
  tfrt_work_queue_add_task(work_queue, &task);
  run_work_queue();
  ck_assert_str_eq(order, "ab");
  tfrt_work_queue_release(work_queue);
}
END_TEST

static void add_tests(TCase* tests) {
  tcase_add_test(tests, nothing_happens_before_the_lock_is_opened_and_then_all_in_order);
  tcase_add_test(tests, what_an_action_adds_runs_behind_the_rest);
  tcase_add_test(tests, any_number_of_actions_runs_each_once_and_in_order);
  tcase_add_test(tests, very_many_actions_are_not_copied_when_more_are_added);
  tcase_add_test(tests, few_actions_at_a_time_take_memory_once);
  tcase_add_test(tests, a_value_is_forwarded_and_both_references_are_given_back);
  tcase_add_test(tests, the_first_to_resolve_a_value_wins_and_the_second_lets_go);
  tcase_add_test(tests, a_value_becomes_the_error_that_it_was_given);
  tcase_add_test(tests, to_release_nothing_costs_nothing);
  tcase_add_test(tests, and_then_asks_for_the_payload);
  tcase_add_test(tests, await_asks_only_whether_it_is_settled);
  tcase_add_test(tests, watch_asks_nothing);
  tcase_add_test(tests, a_demand_waits_for_nothing);
  tcase_add_test(tests, what_one_critical_section_adds_is_not_lost_when_memory_is_out);
  tcase_add_test(tests, without_memory_an_action_is_dropped_and_logged_and_the_others_run);
  tcase_add_test(tests, what_threads_add_runs_once_each);
  tcase_add_test(tests, with_a_work_queue_its_threads_carry_out_what_may_take_long);
  tcase_add_test(tests, releases_alone_and_urgent_calls_wait_for_no_thread);
  tcase_add_test(tests, a_thread_of_the_work_queue_hands_nothing_over);
}

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("action queue");
  TCase* tests = tcase_create("actions");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  add_tests(tests);
  suite_add_tcase(suite, tests);
  return suite;
}
