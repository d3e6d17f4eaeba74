// SPDX-License-Identifier: Apache-2.0
//
// The gate of a call that this host runs for another: `done` passes when every lent value that is
// still used here, after the call has retired, is held for this host by its owner. An argument is
// lent for as long as the call isn't done, so the loan must not end before that.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: none fails. Without memory a value can't be held, and a later user may find that it
// is gone.
#ifndef TFRT_DISTRIBUTED_CALL_INCOMING_GATE_H_
#define TFRT_DISTRIBUTED_CALL_INCOMING_GATE_H_

#include "distributed/value/remote_value.h"

typedef struct tfrt_incoming_call_s tfrt_incoming_call_t;

// A wait for a lent value that is still used when the call has retired: its owner is to hold it.
typedef struct tfrt_incoming_gate_wait_s {
  tfrt_incoming_call_t* call;
  tfrt_task_t task;
} tfrt_incoming_gate_wait_t;

// The state of a gate.
//
//   OPEN --left, with a list--> LEAVING_LIST --releases have run--> LEAVING --the same--> DUE
//    |`--left--------------------------------------------------------^                     |
//    |--nothing is borrowed among the arguments--> HOLDING <--some are used----------------|
//    |                                              |all are held                          |
//    `--nothing to hold-------------------------> PASSED <--none is used-------------------'
//
// From each state but HOLDING it is PASSED when the caller is dead.
typedef enum tfrt_incoming_gate_state_e {
  TFRT_INCOMING_GATE_OPEN = 0,
  // The call itself has none of its arguments and results any more. The releases of those have run
  // when the actions that were queued before have; for a list, when the task has run, too, in which
  // the list may have arrived.
  TFRT_INCOMING_GATE_LEAVING_LIST,
  TFRT_INCOMING_GATE_LEAVING,
  TFRT_INCOMING_GATE_DUE,      // others use what is still there: the next flush has it held
  TFRT_INCOMING_GATE_HOLDING,  // owners were asked to hold values for this host
  TFRT_INCOMING_GATE_PASSED,   // the call may be done
} tfrt_incoming_gate_state_t;

typedef struct tfrt_incoming_gate_s {
  tfrt_incoming_gate_state_t state;  // changed by tfrt_incoming_gate_set_state()
  uint32_t open_count;               // of |waits|, in HOLDING
  tfrt_incoming_gate_wait_t* waits;  // per argument, then per result
  tfrt_remote_value_watch_t*
      watches;      // per argument: at the users it has when the call has left it
  tfrt_task_t due;  // ends LEAVING_LIST
} tfrt_incoming_gate_t;

// |gate| is in |state| from now on. Builds with assertions refuse a transition that the picture
// doesn't have.
void tfrt_incoming_gate_set_state(tfrt_incoming_gate_t* gate, tfrt_incoming_gate_state_t state);

// If the call has retired, and nothing is borrowed or the gate is due: has each lent argument held
// that somebody else uses.
void tfrt_incoming_call_advance_gate(tfrt_incoming_call_t* call);

// If the call has retired, the caller knows all its results, and something is borrowed: gives back
// the call's own references to its arguments and results. The gate is due when the deferred
// releases of that have run. An argument that is there even then has another user.
void tfrt_incoming_call_try_leave(tfrt_incoming_call_t* call);

// The call is cancelled because of |reason| (+0): ends the waits for arguments that it has left.
void tfrt_incoming_call_fail_watched(tfrt_incoming_call_t* call, tfrt_status_t reason);

#endif  // TFRT_DISTRIBUTED_CALL_INCOMING_GATE_H_
