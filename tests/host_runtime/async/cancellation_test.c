// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/async/cancellation.h"

#include "tests/support/test_main.h"

typedef struct listener_s {
  tfrt_cancellation_subscription_t subscription;
  _Atomic int run_count;
  tfrt_status_code_t code;
} listener_t;

static void note(tfrt_cancellation_subscription_t* subscription, tfrt_status_t reason) {
  listener_t* listener = TFRT_CONTAINER_OF(subscription, listener_t, subscription);
  listener->code = tfrt_status_code(reason);
  atomic_fetch_add(&listener->run_count, 1);
}

static tfrt_cancellation_t cancellation;

static bool cancel(tfrt_status_code_t code) {
  tfrt_status_t reason = tfrt_status_create(code, "enough");
  bool counted = tfrt_cancellation_cancel(&cancellation, reason);
  tfrt_status_release(reason);
  return counted;
}

START_TEST(the_first_reason_stays) {
  tfrt_cancellation_initialize(&cancellation);
  ck_assert_ptr_null(tfrt_cancellation_reason(&cancellation));
  ck_assert(cancel(TFRT_STATUS_CANCELLED));
  ck_assert(!cancel(TFRT_STATUS_DEADLINE_EXCEEDED));
  tfrt_async_value_t* reason = tfrt_cancellation_reason(&cancellation);
  ck_assert_int_eq(tfrt_status_code(tfrt_async_value_error(reason)), TFRT_STATUS_CANCELLED);
  tfrt_cancellation_deinitialize(&cancellation);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}
END_TEST

START_TEST(subscriptions_run_once_with_the_reason) {
  tfrt_cancellation_initialize(&cancellation);
  listener_t early = {0}, gone = {0}, late = {0};
  tfrt_cancellation_subscribe(&cancellation, &early.subscription, note);
  tfrt_cancellation_subscribe(&cancellation, &gone.subscription, note);
  ck_assert(tfrt_cancellation_unsubscribe(&cancellation, &gone.subscription));
  cancel(TFRT_STATUS_DEADLINE_EXCEEDED);
  cancel(TFRT_STATUS_CANCELLED);
  tfrt_cancellation_subscribe(&cancellation, &late.subscription, note);
  ck_assert_int_eq(early.run_count, 1);
  ck_assert_int_eq(early.code, TFRT_STATUS_DEADLINE_EXCEEDED);
  ck_assert_int_eq(gone.run_count, 0);
  ck_assert_int_eq(late.run_count, 1);
  ck_assert(!tfrt_cancellation_unsubscribe(&cancellation, &early.subscription));
  ck_assert(!tfrt_cancellation_unsubscribe(&cancellation, &late.subscription));
  tfrt_cancellation_deinitialize(&cancellation);
}
END_TEST

#define ROUNDS 1000

static _Atomic int arrived;

static void meet(int* round) {
  ++*round;
  atomic_fetch_add(&arrived, 1);
  while (atomic_load(&arrived) < 2 * *round) tfrt_thread_yield();
}

static void cancel_side(void* argument) {
  (void)argument;
  int round = 0;
  for (int i = 0; i < ROUNDS; ++i) {
    meet(&round);
    ck_assert(cancel(TFRT_STATUS_CANCELLED));
    meet(&round);
  }
}

START_TEST(a_subscription_that_races_with_the_cancel_runs_or_is_taken_back) {
  tfrt_thread_t thread;
  int round = 0;
  ck_assert_ptr_null(tfrt_thread_create("cancel", cancel_side, NULL, &thread));
  for (int i = 0; i < ROUNDS; ++i) {
    tfrt_cancellation_initialize(&cancellation);
    listener_t kept = {0}, taken_back = {0};
    meet(&round);
    tfrt_cancellation_subscribe(&cancellation, &kept.subscription, note);
    tfrt_cancellation_subscribe(&cancellation, &taken_back.subscription, note);
    bool prevented = tfrt_cancellation_unsubscribe(&cancellation, &taken_back.subscription);
    meet(&round);
    ck_assert_int_eq(kept.run_count, 1);
    ck_assert_int_eq(taken_back.run_count, prevented ? 0 : 1);
    tfrt_cancellation_deinitialize(&cancellation);
  }
  tfrt_thread_join(&thread);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("cancellation");
  tcase_add_test(tests, the_first_reason_stays);
  tcase_add_test(tests, subscriptions_run_once_with_the_reason);
  tcase_add_test(tests, a_subscription_that_races_with_the_cancel_runs_or_is_taken_back);
  Suite* suite = suite_create("cancellation");
  suite_add_tcase(suite, tests);
  return suite;
}
