// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/join.h"

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

static _Atomic int run_count;
static void count_run(tfrt_task_t* task) {
  (void)task;
  atomic_fetch_add(&run_count, 1);
}

static tfrt_counting_allocator_t books;
static tfrt_task_t task;

static tfrt_allocator_t prepare(int64_t limit_bytes) {
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), limit_bytes);
  tfrt_task_initialize(&task, count_run);
  return tfrt_counting_allocator_interface(&books);
}

static tfrt_async_value_t* new_chain(void) {
  return tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
}

START_TEST(nothing_to_wait_for_runs_at_once_and_allocates_nothing) {
  tfrt_allocator_t allocator = prepare(0);
  tfrt_async_value_t* values[2] = {tfrt_async_value_ready_chain(), tfrt_async_value_create_i32(1)};
  ck_assert_ptr_null(tfrt_join_and_then(values, 2, &task, allocator));
  ck_assert_int_eq(run_count, 1);
  ck_assert_ptr_null(tfrt_join_and_then(NULL, 0, &task, allocator));
  ck_assert_int_eq(run_count, 2);
  tfrt_async_value_release(values[1]);
}
END_TEST

START_TEST(one_pending_value_allocates_nothing) {
  tfrt_allocator_t allocator = prepare(0);
  tfrt_async_value_t* values[2] = {tfrt_async_value_ready_chain(), new_chain()};
  ck_assert_ptr_null(tfrt_join_and_then(values, 2, &task, allocator));
  ck_assert_int_eq(run_count, 0);
  tfrt_async_value_set_available(values[1]);
  ck_assert_int_eq(run_count, 1);
  tfrt_async_value_release(values[1]);
}
END_TEST

START_TEST(the_last_of_many_runs_the_task_and_errors_count) {
  tfrt_allocator_t allocator = prepare(TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_async_value_t* values[5];
  for (int i = 0; i < 5; ++i) values[i] = new_chain();
  tfrt_status_t error = tfrt_status_create(TFRT_STATUS_ABORTED, "x");
  ck_assert_ptr_null(tfrt_join_and_then(values, 5, &task, allocator));
  for (int i = 0; i < 4; ++i) tfrt_async_value_set_available(values[i]);
  ck_assert_int_eq(run_count, 0);
  tfrt_async_value_set_error(values[4], error);
  ck_assert_int_eq(run_count, 1);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
  for (int i = 0; i < 5; ++i) tfrt_async_value_release(values[i]);
  tfrt_status_release(error);
}
END_TEST

START_TEST(the_same_value_may_be_joined_twice) {
  tfrt_allocator_t allocator = prepare(TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_async_value_t* value = new_chain();
  tfrt_async_value_t* values[2] = {value, value};
  ck_assert_ptr_null(tfrt_join_and_then(values, 2, &task, allocator));
  tfrt_async_value_set_available(value);
  ck_assert_int_eq(run_count, 1);
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(without_memory_the_task_is_not_taken) {
  tfrt_allocator_t allocator = prepare(10);
  tfrt_async_value_t* values[2] = {new_chain(), new_chain()};
  tfrt_status_t status = tfrt_join_and_then(values, 2, &task, allocator);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  tfrt_status_release(status);
  for (int i = 0; i < 2; ++i) {
    tfrt_async_value_set_available(values[i]);
    tfrt_async_value_release(values[i]);
  }
  ck_assert_int_eq(run_count, 0);
}
END_TEST

#define VALUE_COUNT 64
static tfrt_async_value_t* shared[VALUE_COUNT];
static void resolve_odd(void* argument) {
  (void)argument;
  for (int i = 1; i < VALUE_COUNT; i += 2) tfrt_async_value_set_available(shared[i]);
}

START_TEST(values_that_are_resolved_meanwhile_are_not_waited_for) {
  tfrt_allocator_t allocator = prepare(TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  for (int round = 0; round < 200; ++round) {
    atomic_store(&run_count, 0);
    for (int i = 0; i < VALUE_COUNT; ++i) shared[i] = new_chain();
    tfrt_thread_t thread;
    ck_assert_ptr_null(tfrt_thread_create("resolve", resolve_odd, NULL, &thread));
    ck_assert_ptr_null(tfrt_join_and_then(shared, VALUE_COUNT, &task, allocator));
    for (int i = 0; i < VALUE_COUNT; i += 2) tfrt_async_value_set_available(shared[i]);
    tfrt_thread_join(&thread);
    ck_assert_int_eq(atomic_load(&run_count), 1);
    for (int i = 0; i < VALUE_COUNT; ++i) tfrt_async_value_release(shared[i]);
  }
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_bytes, 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("join");
  tcase_add_test(tests, nothing_to_wait_for_runs_at_once_and_allocates_nothing);
  tcase_add_test(tests, one_pending_value_allocates_nothing);
  tcase_add_test(tests, the_last_of_many_runs_the_task_and_errors_count);
  tcase_add_test(tests, the_same_value_may_be_joined_twice);
  tcase_add_test(tests, without_memory_the_task_is_not_taken);
  tcase_add_test(tests, values_that_are_resolved_meanwhile_are_not_waited_for);
  Suite* suite = suite_create("join");
  suite_add_tcase(suite, tests);
  return suite;
}
