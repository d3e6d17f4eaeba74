// SPDX-License-Identifier: Apache-2.0
//
// The parker in every order of the waiter and its wakers. A futex that the explorer sees replaces
// the system's: a sleeper that nobody wakes ends the test.
#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tests/support/interleaving_atomics.h"

static long model_futex(long number, ...);
#define syscall model_futex
// Behind it: the real code, with its atomic operations as points.
#include "host_runtime/base/parker.c"
#undef syscall
#include "tests/support/test_main.h"

static tfrt_parker_t parker;
static tfrt_parker_t answer;
static bool is_asleep[2];       // at the one, at the other
static bool wakes_for_nothing;  // as a signal does: each sleep, once
static int handed;              // by wakers
static int seen;                // by the owner

static bool is_first_awake(void) { return !is_asleep[0]; }
static bool is_second_awake(void) { return !is_asleep[1]; }

static long model_futex(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  uint32_t* address = va_arg(arguments, uint32_t*);
  int operation = va_arg(arguments, int);
  int value = va_arg(arguments, int);
  va_end(arguments);
  ck_assert_int_eq(number, SYS_futex);
  const bool is_second = address == (uint32_t*)&answer.state;
  if (operation == FUTEX_WAKE_PRIVATE) {
    is_asleep[is_second] = false;
  } else if (*address == (uint32_t)value) {
    is_asleep[is_second] = !wakes_for_nothing;
    wakes_for_nothing = false;
    interleaving_sleep(is_second ? is_second_awake : is_first_awake);
  }
  return 0;
}

static void set_up(void) {
  parker = answer = (tfrt_parker_t){0};
  is_asleep[0] = is_asleep[1] = wakes_for_nothing = false;
  handed = seen = 0;
}
static void set_up_with_signal(void) {
  set_up();
  wakes_for_nothing = true;
}
static void wait_once(void) {
  tfrt_parker_wait(&parker);
  seen = handed;
}
static void hand_and_wake(void) {
  ++handed;
  tfrt_parker_wake(&parker);
}
static void check_seen(void) { ck_assert_int_ge(seen, 1); }

START_TEST(a_wake_is_never_lost) {
  interleaving_scenario_t scenario = {.set_up = set_up,
                                      .threads = {wait_once, hand_and_wake, hand_and_wake},
                                      .check = check_seen,
                                      .max_preemptions = INTERLEAVING_ALL_PREEMPTIONS};
  ck_assert_uint_gt(interleaving_explore(&scenario), 10);
  scenario.set_up = set_up_with_signal;
  ck_assert_uint_gt(interleaving_explore(&scenario), 10);
}
END_TEST

static void ask_twice(void) {
  hand_and_wake();
  tfrt_parker_wait(&answer);
  hand_and_wake();
}
static void answer_twice(void) {
  tfrt_parker_wait(&parker);
  ck_assert_int_eq(handed, 1);
  tfrt_parker_wake(&answer);
  tfrt_parker_wait(&parker);
  ck_assert_int_eq(handed, 2);
}
static void check_turns(void) { ck_assert_int_eq(handed, 2); }

START_TEST(a_parker_serves_again_and_a_wait_never_returns_too_early) {
  const interleaving_scenario_t scenario = {.set_up = set_up,
                                            .threads = {ask_twice, answer_twice},
                                            .check = check_turns,
                                            .max_preemptions = INTERLEAVING_ALL_PREEMPTIONS};
  ck_assert_uint_gt(interleaving_explore(&scenario), 10);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("parker_interleaving");
  TCase* cases = tcase_create("parker_interleaving");
  tcase_add_test(cases, a_wake_is_never_lost);
  tcase_add_test(cases, a_parker_serves_again_and_a_wait_never_returns_too_early);
  suite_add_tcase(suite, cases);
  return suite;
}
