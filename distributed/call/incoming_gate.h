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
//   OPEN --all results told, arguments left--> WAITING --deferred releases have run--> DUE -->
//   CLOSED
//    |                                            `--the caller is dead--------------------------^
//    `--nothing is borrowed, or the caller is dead-----------------------------------------------'
typedef enum tfrt_incoming_gate_state_e {
  TFRT_INCOMING_GATE_OPEN = 0,
  TFRT_INCOMING_GATE_WAITING,  // the call itself has none of its arguments and results any more
  TFRT_INCOMING_GATE_DUE,      // the next flush closes it
  TFRT_INCOMING_GATE_CLOSED,
} tfrt_incoming_gate_state_t;

typedef struct tfrt_incoming_gate_s {
  tfrt_incoming_gate_state_t state;
  bool has_list;                     // among the arguments
  uint32_t open_count;               // of |waits|
  tfrt_incoming_gate_wait_t* waits;  // per argument, then per result
  tfrt_remote_value_watch_t*
      watches;      // per argument: at the users it has when the call has left it
  tfrt_task_t due;  // makes it DUE, if |has_list|
} tfrt_incoming_gate_t;

// Closes the gate of a call that has retired, if nothing is borrowed, or the time has come: then
// each lent argument that somebody else uses is to be held.
void tfrt_incoming_call_advance_gate(tfrt_incoming_call_t* call);

// If the call has retired, the caller knows all its results, and something is borrowed: gives back
// the call's own references to its arguments and results. The gate closes when the deferred
// releases of that have run. An argument that is there even then has another user.
void tfrt_incoming_call_try_leave(tfrt_incoming_call_t* call);

// The call is cancelled because of |reason| (+0): ends the waits for arguments that it has left.
void tfrt_incoming_call_fail_watched(tfrt_incoming_call_t* call, tfrt_status_t reason);

#endif  // TFRT_DISTRIBUTED_CALL_INCOMING_GATE_H_
