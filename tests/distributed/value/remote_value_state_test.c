// SPDX-License-Identifier: Apache-2.0
//
// The states of a remote value, against the picture in remote_value.h: the transitions that it has
// are made, and all others are refused by builds with assertions.
#include <check.h>
#include <signal.h>

#include "distributed/value/remote_value.h"
#include "host_runtime/base/macros.h"
#include "tests/support/test_main.h"

typedef struct transition_s {
  tfrt_remote_value_state_t from;
  tfrt_remote_value_state_t to;
} transition_t;

static const transition_t allowed[] = {
    {TFRT_REMOTE_VALUE_UNKNOWN, TFRT_REMOTE_VALUE_UNKNOWN},
    {TFRT_REMOTE_VALUE_UNKNOWN, TFRT_REMOTE_VALUE_AWAITING_PUSH},
    {TFRT_REMOTE_VALUE_UNKNOWN, TFRT_REMOTE_VALUE_THERE},
    {TFRT_REMOTE_VALUE_UNKNOWN, TFRT_REMOTE_VALUE_COMING_HOME},
    {TFRT_REMOTE_VALUE_UNKNOWN, TFRT_REMOTE_VALUE_LOST},
    {TFRT_REMOTE_VALUE_UNKNOWN, TFRT_REMOTE_VALUE_RESOLVED},
    {TFRT_REMOTE_VALUE_AWAITING_PUSH, TFRT_REMOTE_VALUE_UNKNOWN},
    {TFRT_REMOTE_VALUE_AWAITING_PUSH, TFRT_REMOTE_VALUE_RESOLVED},
    {TFRT_REMOTE_VALUE_THERE, TFRT_REMOTE_VALUE_UNKNOWN},
    {TFRT_REMOTE_VALUE_THERE, TFRT_REMOTE_VALUE_THERE},
    {TFRT_REMOTE_VALUE_THERE, TFRT_REMOTE_VALUE_COMING_HOME},
    {TFRT_REMOTE_VALUE_THERE, TFRT_REMOTE_VALUE_LOST},
    {TFRT_REMOTE_VALUE_THERE, TFRT_REMOTE_VALUE_RESOLVED},
    {TFRT_REMOTE_VALUE_COMING_HOME, TFRT_REMOTE_VALUE_UNKNOWN},
    {TFRT_REMOTE_VALUE_COMING_HOME, TFRT_REMOTE_VALUE_LOST},
    {TFRT_REMOTE_VALUE_COMING_HOME, TFRT_REMOTE_VALUE_RESOLVED},
    {TFRT_REMOTE_VALUE_LOST, TFRT_REMOTE_VALUE_UNKNOWN},
    {TFRT_REMOTE_VALUE_LOST, TFRT_REMOTE_VALUE_LOST},
    {TFRT_REMOTE_VALUE_LOST, TFRT_REMOTE_VALUE_RESOLVED},
};

#define STATE_COUNT (TFRT_REMOTE_VALUE_RESOLVED + 1)

static bool is_allowed(int from, int to) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(allowed); ++i) {
    if ((int)allowed[i].from == from && (int)allowed[i].to == to) return true;
  }
  return false;
}

START_TEST(a_transition_of_the_picture_is_made) {
  static tfrt_remote_value_t value;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(allowed); ++i) {
    value.state = allowed[i].from;
    tfrt_remote_value_set_state(&value, allowed[i].to);
    ck_assert_int_eq(value.state, allowed[i].to);
  }
}
END_TEST

START_TEST(the_predicates_follow_the_state) {
  static tfrt_remote_value_t value;
  for (int state = 0; state < STATE_COUNT; ++state) {
    value.state = (tfrt_remote_value_state_t)state;
    ck_assert_int_eq(tfrt_remote_value_is_there(&value), state == TFRT_REMOTE_VALUE_THERE);
    ck_assert_int_eq(tfrt_remote_value_is_lost(&value), state == TFRT_REMOTE_VALUE_LOST);
    ck_assert_int_eq(tfrt_remote_value_is_resolved(&value), state == TFRT_REMOTE_VALUE_RESOLVED);
  }
}
END_TEST

#ifndef NDEBUG
// One process for each pair of states. A pair of the picture aborts by itself, so that all pairs
// can expect the same.
START_TEST(any_other_transition_is_refused) {
  int from = _i / STATE_COUNT;
  int to = _i % STATE_COUNT;
  if (is_allowed(from, to)) raise(SIGABRT);
  static tfrt_remote_value_t value;
  value.state = (tfrt_remote_value_state_t)from;
  tfrt_remote_value_set_state(&value, (tfrt_remote_value_state_t)to);
}
END_TEST
#endif

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("states");
  tcase_add_test(cases, a_transition_of_the_picture_is_made);
  tcase_add_test(cases, the_predicates_follow_the_state);
#ifndef NDEBUG
  tcase_add_loop_test_raise_signal(cases, any_other_transition_is_refused, SIGABRT, 0,
                                   STATE_COUNT * STATE_COUNT);
#endif
  Suite* suite = suite_create("remote_value_state");
  suite_add_tcase(suite, cases);
  return suite;
}
