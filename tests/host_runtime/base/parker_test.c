// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/parker.h"

#include "host_runtime/base/sync.h"
#include "tests/support/test_main.h"

START_TEST(a_wake_before_the_wait_is_kept_and_two_are_one) {
  tfrt_parker_t parker = {0};
  tfrt_parker_wake(&parker);
  tfrt_parker_wake(&parker);
  tfrt_parker_wait(&parker);
  ck_assert_uint_eq(atomic_load_explicit(&parker.state, memory_order_relaxed), 0);
}
END_TEST

START_TEST(a_wait_ends_when_its_time_is_over) {
  tfrt_parker_t parker = {0};
  ck_assert(!tfrt_parker_wait_for(&parker, 1000));
  tfrt_parker_wake(&parker);
  ck_assert(tfrt_parker_wait_for(&parker, 1000));
  // Neither of both leaves anything.
  ck_assert(!tfrt_parker_wait_for(&parker, 0));
  ck_assert_uint_eq(atomic_load_explicit(&parker.state, memory_order_relaxed), 0);
}
END_TEST

static void wake_later(void* parker) { tfrt_parker_wake(parker); }

START_TEST(a_wake_ends_a_wait_of_any_length) {
  for (int i = 0; i < 200; ++i) {
    tfrt_parker_t parker = {0};
    tfrt_thread_t waker;
    ck_assert_ptr_null(tfrt_thread_create("waker", wake_later, &parker, &waker));
    // An hour; every other time one that may be over before.
    const bool is_woken = tfrt_parker_wait_for(&parker, i % 2 ? INT64_C(3600000000000) : 20000);
    ck_assert(is_woken || i % 2 == 0);
    if (!is_woken) tfrt_parker_wait(&parker);
    tfrt_thread_join(&waker);
  }
}
END_TEST

#define TURNS 2000

typedef struct table_s {
  tfrt_parker_t sides[2];
  int64_t turns;  // no atomic: the parkers hand it over
} table_t;

static void play(table_t* table, int side) {
  for (int i = 0; i < TURNS; ++i) {
    tfrt_parker_wait(&table->sides[side]);
    ++table->turns;
    tfrt_parker_wake(&table->sides[1 - side]);
  }
}

static void play_second(void* table) { play(table, 1); }

START_TEST(two_threads_take_turns_and_see_what_the_other_did) {
  table_t table = {0};
  tfrt_thread_t second;
  ck_assert_ptr_null(tfrt_thread_create("second", play_second, &table, &second));
  tfrt_parker_wake(&table.sides[0]);
  play(&table, 0);
  tfrt_thread_join(&second);
  ck_assert_int_eq(table.turns, 2 * TURNS);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tests = tcase_create("parker");
  tcase_add_test(tests, a_wake_before_the_wait_is_kept_and_two_are_one);
  tcase_add_test(tests, a_wait_ends_when_its_time_is_over);
  tcase_add_test(tests, a_wake_ends_a_wait_of_any_length);
  tcase_add_test(tests, two_threads_take_turns_and_see_what_the_other_did);
  Suite* suite = suite_create("parker");
  suite_add_tcase(suite, tests);
  return suite;
}
