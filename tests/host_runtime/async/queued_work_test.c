// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/queued_work.h"

#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

static tfrt_work_queue_t* queue;

static void set_up(void) {
  ck_assert_ptr_null(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
}
static void tear_down(void) { tfrt_work_queue_release(queue); }

// The result of the work: its argument, retained.
static tfrt_async_value_t* give(void* argument) { return tfrt_async_value_retain(argument); }

static int32_t i32_of(tfrt_async_value_t* value) {
  return *(int32_t*)tfrt_async_value_payload(tfrt_async_value_resolved(value));
}

START_TEST(the_result_is_there_once_the_queue_has_run_the_work) {
  tfrt_async_value_t* answer = tfrt_async_value_create_i32(42);
  tfrt_async_value_t* result;
  ck_assert_ptr_null(tfrt_work_queue_run(queue, give, answer, tfrt_allocator_system(), &result));
  ck_assert(!tfrt_async_value_is_available(result));
  tfrt_work_queue_quiesce(queue);
  ck_assert_int_eq(i32_of(result), 42);
  tfrt_async_value_release(result);
  tfrt_async_value_release(answer);
}
END_TEST

START_TEST(work_may_give_a_value_that_is_late_or_an_error) {
  tfrt_async_value_t* late = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  tfrt_async_value_t* error =
      tfrt_async_value_create_error_take(tfrt_status_create(TFRT_STATUS_ABORTED, "given up"));
  tfrt_async_value_t* results[2];
  ck_assert_ptr_null(tfrt_work_queue_run(queue, give, late, tfrt_allocator_system(), &results[0]));
  ck_assert_ptr_null(tfrt_work_queue_run(queue, give, error, tfrt_allocator_system(), &results[1]));
  tfrt_work_queue_quiesce(queue);
  ck_assert(!tfrt_async_value_is_available(results[0]));
  ck_assert(tfrt_async_value_is_error(results[1]));
  ck_assert_str_eq(tfrt_status_message(tfrt_async_value_error(results[1])), "given up");
  tfrt_async_value_set_available(late);
  ck_assert(tfrt_async_value_is_available(results[0]));
  for (int i = 0; i < 2; ++i) tfrt_async_value_release(results[i]);
  tfrt_async_value_release(late);
  tfrt_async_value_release(error);
}
END_TEST

START_TEST(work_behind_a_value_is_queued_when_that_is_resolved) {
  tfrt_async_value_t* answer = tfrt_async_value_create_i32(1);
  tfrt_async_value_t* gate = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
  tfrt_async_value_t* result;
  ck_assert_ptr_null(
      tfrt_work_queue_run_after(queue, gate, give, answer, tfrt_allocator_system(), &result));
  tfrt_work_queue_quiesce(queue);
  ck_assert(!tfrt_async_value_is_available(result));
  tfrt_async_value_set_available(gate);
  // Not on the thread that resolved it.
  ck_assert(!tfrt_async_value_is_available(result));
  tfrt_async_value_release(gate);
  tfrt_work_queue_quiesce(queue);
  ck_assert_int_eq(i32_of(result), 1);
  tfrt_async_value_release(result);
  tfrt_async_value_release(answer);
}
END_TEST

START_TEST(what_is_not_taken_is_not_run) {
  tfrt_counting_allocator_t books;
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(), 8);
  tfrt_async_value_t* result;
  tfrt_status_t status =
      tfrt_work_queue_run(queue, NULL, NULL, tfrt_counting_allocator_interface(&books), &result);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  ck_assert_ptr_null(result);
  tfrt_status_release(status);
  // A queue without threads has none for a task that must start at once.
  status = tfrt_work_queue_run_blocking(queue, false, NULL, NULL, tfrt_allocator_system(), &result);
  ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
  ck_assert_str_eq(tfrt_status_message(status),
                   "the single-threaded work queue takes no more blocking tasks");
  ck_assert_ptr_null(result);
  tfrt_status_release(status);
}
END_TEST

START_TEST(threads_run_work_of_both_kinds) {
  tfrt_work_queue_t* pool;
  const tfrt_thread_pool_options_t options = {.thread_count = 2};
  ck_assert_ptr_null(tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &pool));
  tfrt_async_value_t* answer = tfrt_async_value_create_i32(7);
  tfrt_async_value_t* results[200];
  for (int i = 0; i < 200; ++i) {
    tfrt_status_t status =
        i % 2 ? tfrt_work_queue_run(pool, give, answer, tfrt_allocator_system(), &results[i])
              : tfrt_work_queue_run_blocking(pool, true, give, answer, tfrt_allocator_system(),
                                             &results[i]);
    ck_assert_ptr_null(status);
  }
  tfrt_work_queue_await(pool, results, 200);
  for (int i = 0; i < 200; ++i) {
    ck_assert_int_eq(i32_of(results[i]), 7);
    tfrt_async_value_release(results[i]);
  }
  tfrt_work_queue_quiesce(pool);
  tfrt_work_queue_release(pool);
  tfrt_async_value_release(answer);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("queued_work");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, the_result_is_there_once_the_queue_has_run_the_work);
  tcase_add_test(cases, work_may_give_a_value_that_is_late_or_an_error);
  tcase_add_test(cases, work_behind_a_value_is_queued_when_that_is_resolved);
  tcase_add_test(cases, what_is_not_taken_is_not_run);
  tcase_add_test(cases, threads_run_work_of_both_kinds);
  Suite* suite = suite_create("queued_work");
  suite_add_tcase(suite, cases);
  return suite;
}
