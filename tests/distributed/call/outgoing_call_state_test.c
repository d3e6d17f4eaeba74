// SPDX-License-Identifier: Apache-2.0
//
// The states of an outgoing call, against the picture in outgoing_call.h: the transitions that
// it has are made, and all others are refused by builds with assertions.
#include <check.h>
#include <signal.h>

#include "distributed/call/outgoing_call.h"
#include "tests/support/test_main.h"

#define STATE_COUNT (TFRT_OUTGOING_CALL_ENDED + 1)

static const bool allowed[STATE_COUNT][STATE_COUNT] = {
    [TFRT_OUTGOING_CALL_PREPARED] =
        {[TFRT_OUTGOING_CALL_OPEN] = true, [TFRT_OUTGOING_CALL_ENDED] = true},
    [TFRT_OUTGOING_CALL_OPEN] =
        {[TFRT_OUTGOING_CALL_CANCELLED] = true, [TFRT_OUTGOING_CALL_ENDED] = true},
    [TFRT_OUTGOING_CALL_CANCELLED] = {[TFRT_OUTGOING_CALL_ENDED] = true},
};

START_TEST(a_transition_of_the_picture_is_made) {
  static tfrt_outgoing_call_t call;
  for (int from = 0; from < STATE_COUNT; ++from) {
    for (int to = 0; to < STATE_COUNT; ++to) {
      if (!allowed[from][to]) continue;
      call.state = (tfrt_outgoing_call_state_t)from;
      tfrt_outgoing_call_set_state(&call, (tfrt_outgoing_call_state_t)to);
      ck_assert_int_eq(call.state, to);
    }
  }
}
END_TEST

#ifndef NDEBUG
// One process for each pair of states. A pair of the picture aborts by itself, so that all pairs
// can expect the same.
START_TEST(any_other_transition_is_refused) {
  int from = _i / STATE_COUNT;
  int to = _i % STATE_COUNT;
  if (allowed[from][to]) raise(SIGABRT);
  static tfrt_outgoing_call_t call;
  call.state = (tfrt_outgoing_call_state_t)from;
  tfrt_outgoing_call_set_state(&call, (tfrt_outgoing_call_state_t)to);
}
END_TEST
#endif

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("states");
  tcase_add_test(cases, a_transition_of_the_picture_is_made);
#ifndef NDEBUG
  tcase_add_loop_test_raise_signal(cases, any_other_transition_is_refused, SIGABRT, 0,
                                   STATE_COUNT * STATE_COUNT);
#endif
  Suite* suite = suite_create("outgoing_call_state");
  suite_add_tcase(suite, cases);
  return suite;
}
