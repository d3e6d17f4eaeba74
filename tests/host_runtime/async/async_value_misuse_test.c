// SPDX-License-Identifier: Apache-2.0
//
// Each mistake with a value ends the process in builds with assertions, which all test builds are.
#include "host_runtime/async/async_value_misuse.h"

#include <signal.h>
#include <string.h>

#include "host_runtime/async/async_value.h"
#include "host_runtime/async/builtin_types.h"
#include "tests/support/test_main.h"

static tfrt_async_value_t* new_value(void) {
  return tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
}

static void do_nothing(tfrt_task_t* task) { (void)task; }

static tfrt_task_t a_task = {.run = do_nothing};

// --- Each mistake, alone in its process ---------------------------------------

START_TEST(a_reference_too_many_is_released) {
  tfrt_async_value_t* value = new_value();
  tfrt_async_value_release(value);
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(a_freed_value_is_retained) {
  tfrt_async_value_t* value = tfrt_async_value_create_i32(1);
  tfrt_async_value_release(value);
  tfrt_async_value_retain(value);
}
END_TEST

START_TEST(a_freed_value_is_read) {
  tfrt_async_value_t* value = tfrt_async_value_create_i32(1);
  tfrt_async_value_release(value);
  ck_assert_ptr_nonnull(tfrt_async_value_payload(value));
}
END_TEST

START_TEST(a_freed_value_is_resolved) {
  tfrt_async_value_t* value = new_value();
  tfrt_async_value_release(value);
  tfrt_async_value_set_available(value);
}
END_TEST

START_TEST(a_freed_value_is_waited_for) {
  tfrt_async_value_t* value = new_value();
  tfrt_async_value_release(value);
  tfrt_async_value_and_then(value, &a_task);
}
END_TEST

START_TEST(two_references_are_released_of_one) {
  tfrt_async_value_release_n(tfrt_async_value_retain(new_value()), 3);
}
END_TEST

START_TEST(a_value_is_resolved_twice) {
  tfrt_async_value_t* value = new_value();
  tfrt_async_value_set_available(value);
  tfrt_async_value_set_available(value);
}
END_TEST

START_TEST(a_value_is_emplaced_twice) {
  tfrt_async_value_t* value = new_value();
  int32_t number = 1;
  tfrt_async_value_emplace(value, &number, sizeof(number));
  tfrt_async_value_emplace(value, &number, sizeof(number));
}
END_TEST

START_TEST(an_available_value_becomes_an_error) {
  tfrt_async_value_t* value = tfrt_async_value_create_i32(1);
  tfrt_async_value_set_error(value, tfrt_status_out_of_memory());
}
END_TEST

START_TEST(the_payload_of_an_error_is_read) {
  ck_assert_ptr_nonnull(tfrt_async_value_payload(tfrt_async_value_out_of_memory()));
}
END_TEST

START_TEST(the_payload_of_an_indirect_is_read) {
  tfrt_indirect_value_t* value = tfrt_indirect_value_create();
  ck_assert_ptr_nonnull(tfrt_async_value_payload(&value->base));
}
END_TEST

START_TEST(a_value_is_forwarded_to_itself) {
  tfrt_indirect_value_t* value = tfrt_indirect_value_create();
  (void)tfrt_indirect_value_forward(value, &value->base);
}
END_TEST

START_TEST(three_values_are_forwarded_in_a_circle) {
  tfrt_indirect_value_t* values[3];
  for (int i = 0; i < 3; ++i) values[i] = tfrt_indirect_value_create();
  for (int i = 0; i < 3; ++i) {
    (void)tfrt_indirect_value_forward(values[i], &values[(i + 1) % 3]->base);
  }
}
END_TEST

START_TEST(the_last_reference_goes_while_a_task_waits) {
  tfrt_async_value_t* value = new_value();
  tfrt_async_value_and_then(value, &a_task);
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(a_borrowed_value_is_given_away_as_a_result) {
  tfrt_async_value_t* value = new_value();
  tfrt_async_value_require_kept(&value, 1, &value, 1);
}
END_TEST

// --- No mistake ------------------------------------------------------------------

START_TEST(what_is_retained_may_be_given_away) {
  tfrt_async_value_t* borrowed[] = {new_value(), tfrt_async_value_ready_chain(), new_value()};
  tfrt_async_value_t* results[] = {tfrt_async_value_retain(borrowed[0]), borrowed[1], NULL};
  tfrt_async_value_require_kept(borrowed, 3, results, 3);
  tfrt_async_value_release_n(borrowed[0], 2);
  tfrt_async_value_release(borrowed[2]);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}
END_TEST

START_TEST(a_long_row_of_forwards_is_no_circle) {
  enum { COUNT = 1000 };
  static tfrt_indirect_value_t* values[COUNT];
  for (int i = 0; i < COUNT; ++i) values[i] = tfrt_indirect_value_create();
  for (int i = COUNT - 1; i > 0; --i) {
    ck_assert(tfrt_indirect_value_forward(values[i - 1], &values[i]->base));
  }
  ck_assert(tfrt_indirect_value_forward_take(values[COUNT - 1], tfrt_async_value_create_i32(7)));
  ck_assert_int_eq(*(int32_t*)tfrt_async_value_get(&values[0]->base, TFRT_TYPE_I32), 7);
  for (int i = 0; i < COUNT; ++i) tfrt_async_value_release(&values[i]->base);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}
END_TEST

Suite* tfrt_test_suite(void) {
  const TTest* const mistakes[] = {a_reference_too_many_is_released, a_freed_value_is_retained,
                                   a_freed_value_is_read, a_freed_value_is_resolved,
                                   a_freed_value_is_waited_for};
  TCase* tests = tcase_create("async_value_misuse");
#ifndef TFRT_SANITIZED
  // A sanitizer reports these itself, before the value does.
  for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); ++i) {
    tcase_add_test_raise_signal(tests, mistakes[i], SIGABRT);
  }
#else
  (void)mistakes;
#endif
  tcase_add_test_raise_signal(tests, two_references_are_released_of_one, SIGABRT);
  tcase_add_test_raise_signal(tests, a_value_is_resolved_twice, SIGABRT);
  tcase_add_test_raise_signal(tests, a_value_is_emplaced_twice, SIGABRT);
  tcase_add_test_raise_signal(tests, an_available_value_becomes_an_error, SIGABRT);
  tcase_add_test_raise_signal(tests, the_payload_of_an_error_is_read, SIGABRT);
  tcase_add_test_raise_signal(tests, the_payload_of_an_indirect_is_read, SIGABRT);
  tcase_add_test_raise_signal(tests, a_value_is_forwarded_to_itself, SIGABRT);
  tcase_add_test_raise_signal(tests, three_values_are_forwarded_in_a_circle, SIGABRT);
  tcase_add_test_raise_signal(tests, the_last_reference_goes_while_a_task_waits, SIGABRT);
  tcase_add_test_raise_signal(tests, a_borrowed_value_is_given_away_as_a_result, SIGABRT);
  tcase_add_test(tests, what_is_retained_may_be_given_away);
  tcase_add_test(tests, a_long_row_of_forwards_is_no_circle);
  Suite* suite = suite_create("async_value_misuse");
  suite_add_tcase(suite, tests);
  return suite;
}
