// SPDX-License-Identifier: Apache-2.0
//
// The states of an outgoing call, of an execution, and of the gate of an incoming call, against the
// pictures in their headers. The transitions that a picture has are made, and all others are
// refused by builds with assertions.
#include <check.h>
#include <signal.h>

#include "distributed/call/execution.h"
#include "distributed/call/incoming_call.h"
#include "distributed/call/outgoing_call.h"
#include "tests/support/test_main.h"

#define MOST_STATES 6

#define BIT(state) (1u << (state))

// A record with states: what sets one, and the states that may follow each.
typedef struct machine_s {
  int (*set)(int from, int to);  // returns the state that the record has then
  int state_count;
  uint32_t allowed[MOST_STATES];
} machine_t;

static int set_outgoing_call(int from, int to) {
  static tfrt_outgoing_call_t call;
  call.state = (tfrt_outgoing_call_state_t)from;
  tfrt_outgoing_call_set_state(&call, (tfrt_outgoing_call_state_t)to);
  return (int)call.state;
}

static int set_execution(int from, int to) {
  static tfrt_execution_t execution;
  execution.state = (tfrt_execution_state_t)from;
  tfrt_execution_set_state(&execution, (tfrt_execution_state_t)to);
  return (int)execution.state;
}

static int set_gate(int from, int to) {
  static tfrt_incoming_gate_t gate;
  gate.state = (tfrt_incoming_gate_state_t)from;
  tfrt_incoming_gate_set_state(&gate, (tfrt_incoming_gate_state_t)to);
  return (int)gate.state;
}

static const machine_t machines[] = {
    {set_outgoing_call,
     TFRT_OUTGOING_CALL_ENDED + 1,
     {
         [TFRT_OUTGOING_CALL_PREPARED] =
             BIT(TFRT_OUTGOING_CALL_OPEN) | BIT(TFRT_OUTGOING_CALL_ENDED),
         [TFRT_OUTGOING_CALL_OPEN] =
             BIT(TFRT_OUTGOING_CALL_CANCELLED) | BIT(TFRT_OUTGOING_CALL_ENDED),
         [TFRT_OUTGOING_CALL_CANCELLED] = BIT(TFRT_OUTGOING_CALL_ENDED),
     }},
    {set_execution,
     TFRT_EXECUTION_FINISHED + 1,
     {
         [TFRT_EXECUTION_MADE] = BIT(TFRT_EXECUTION_WAITING) | BIT(TFRT_EXECUTION_FINISHED),
         [TFRT_EXECUTION_WAITING] = BIT(TFRT_EXECUTION_TELLING) | BIT(TFRT_EXECUTION_RUNNING),
         [TFRT_EXECUTION_TELLING] = BIT(TFRT_EXECUTION_RETIRED),
         [TFRT_EXECUTION_RUNNING] = BIT(TFRT_EXECUTION_RETIRED),
         [TFRT_EXECUTION_RETIRED] = BIT(TFRT_EXECUTION_FINISHED),
     }},
    {set_gate,
     TFRT_INCOMING_GATE_PASSED + 1,
     {
         [TFRT_INCOMING_GATE_OPEN] =
             BIT(TFRT_INCOMING_GATE_LEAVING_LIST) | BIT(TFRT_INCOMING_GATE_LEAVING) |
             BIT(TFRT_INCOMING_GATE_HOLDING) | BIT(TFRT_INCOMING_GATE_PASSED),
         [TFRT_INCOMING_GATE_LEAVING_LIST] =
             BIT(TFRT_INCOMING_GATE_LEAVING) | BIT(TFRT_INCOMING_GATE_PASSED),
         [TFRT_INCOMING_GATE_LEAVING] =
             BIT(TFRT_INCOMING_GATE_DUE) | BIT(TFRT_INCOMING_GATE_PASSED),
         [TFRT_INCOMING_GATE_DUE] =
             BIT(TFRT_INCOMING_GATE_HOLDING) | BIT(TFRT_INCOMING_GATE_PASSED),
         [TFRT_INCOMING_GATE_HOLDING] = BIT(TFRT_INCOMING_GATE_PASSED),
     }},
};

#define MACHINE_COUNT ((int)(sizeof(machines) / sizeof(machines[0])))

START_TEST(a_transition_of_the_picture_is_made) {
  const machine_t* machine = &machines[_i];
  for (int from = 0; from < machine->state_count; ++from) {
    for (int to = 0; to < machine->state_count; ++to) {
      if (machine->allowed[from] & BIT(to)) ck_assert_int_eq(machine->set(from, to), to);
    }
  }
}
END_TEST

#ifndef NDEBUG
// One process for each pair of states. A pair of the picture, or of states that the record doesn't
// have, aborts by itself, so that all pairs can expect the same.
START_TEST(any_other_transition_is_refused) {
  const machine_t* machine = &machines[_i / (MOST_STATES * MOST_STATES)];
  int from = _i / MOST_STATES % MOST_STATES;
  int to = _i % MOST_STATES;
  bool is_pair = from < machine->state_count && to < machine->state_count;
  if (!is_pair || (machine->allowed[from] & BIT(to))) raise(SIGABRT);
  machine->set(from, to);
}
END_TEST
#endif

Suite* tfrt_test_suite(void) {
  TCase* cases = tcase_create("states");
  tcase_add_loop_test(cases, a_transition_of_the_picture_is_made, 0, MACHINE_COUNT);
#ifndef NDEBUG
  tcase_add_loop_test_raise_signal(cases, any_other_transition_is_refused, SIGABRT, 0,
                                   MACHINE_COUNT * MOST_STATES * MOST_STATES);
#endif
  Suite* suite = suite_create("call_states");
  suite_add_tcase(suite, cases);
  return suite;
}
