// SPDX-License-Identifier: Apache-2.0
//
// The inside of an incoming call, for its three sources, and for service/, which lists open calls.
//
//   incoming_call.c    its life: begun by an Invoke, refused, cancelled, buried
//   incoming_result.c  what the caller hears of the results, and when the call is done
//   incoming_gate.c    arguments that are still used when the call has retired
//
// Thread rule: everything here needs the node's lock.
// Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_CALL_INCOMING_CALL_IMPL_H_
#define TFRT_DISTRIBUTED_CALL_INCOMING_CALL_IMPL_H_

#include "distributed/call/execution.h"
#include "distributed/call/incoming_call.h"

// How far the caller knows one result.
typedef enum tfrt_incoming_result_state_e {
  TFRT_INCOMING_RESULT_UNKNOWN = 0,
  TFRT_INCOMING_RESULT_KNOWN,
  TFRT_INCOMING_RESULT_TOLD,
} tfrt_incoming_result_state_t;

typedef struct tfrt_incoming_call_s tfrt_incoming_call_t;

// A wait for a lent value that is still used when the call has retired: its owner is to hold it.
typedef struct tfrt_incoming_gate_wait_s {
  tfrt_incoming_call_t* call;
  tfrt_task_t task;
} tfrt_incoming_gate_wait_t;

// The gate of a call that has retired (incoming_gate.c).
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

struct tfrt_incoming_call_s {
  tfrt_execution_t execution;
  tfrt_peer_t* peer;  // NULL: the caller is dead
  tfrt_hash_node_t by_number;
  uint64_t number;
  uint64_t results_wanted;
  size_t size;        // of the block: this record, what |execution| has, the arrays
  uint8_t* states;    // tfrt_incoming_result_state_t, per result
  uint32_t* same_as;  // per result: 1 + the argument that the caller knows it to be, or 0
  tfrt_incoming_gate_t gate;
  tfrt_task_t flush;
  bool flush_deferred;
  bool has_credit_back;   // the caller, before the end of a call that waits for others
  bool results_can_wait;  // for the next batch to the caller
  bool take_inline;       // the caller has no hold on a result that goes inline
};

static inline tfrt_incoming_call_t* tfrt_incoming_call_cast(tfrt_execution_t* execution) {
  return TFRT_CONTAINER_OF(execution, tfrt_incoming_call_t, execution);
}

// True if the caller has been told that |call| is done.
static inline bool tfrt_incoming_call_is_done(const tfrt_incoming_call_t* call) {
  return call->execution.state == TFRT_EXECUTION_FINISHED;
}

// The name of result |index| of |call|.
static inline tfrt_wire_object_id_t tfrt_incoming_call_slot_id(const tfrt_incoming_call_t* call,
                                                               uint32_t index) {
  return (tfrt_wire_object_id_t){
      .namer = call->execution.caller, .number = call->number, .index = index};
}

// --- incoming_result.c ---------------------------------------------------------

// The slot of result |index| of |call|, or NULL if nobody holds it any more.
tfrt_object_t* tfrt_incoming_call_slot(tfrt_incoming_call_t* call, uint32_t index);

// Result |index| of the call of |execution| has become known: tells the caller.
void tfrt_incoming_call_known(tfrt_execution_t* execution, uint32_t index);

// The call of |execution| only waits now: gives the caller the credit back, so that calls that this
// one waits for never lack it.
void tfrt_incoming_call_waits(tfrt_execution_t* execution);

// Everything that the call of |execution| has started is over.
void tfrt_incoming_call_retired(tfrt_execution_t* execution);

// When the lock is opened, tells the caller what it doesn't know yet, and ends the call if
// nothing more is to come.
void tfrt_incoming_call_flush_later(tfrt_incoming_call_t* call);
void tfrt_incoming_call_run_flush(tfrt_task_t* task);

// --- incoming_gate.c -----------------------------------------------------------

// Closes the gate of a call that has retired, if nothing is borrowed, or the time has come: then
// each lent argument that somebody else uses is to be held.
void tfrt_incoming_call_advance_gate(tfrt_incoming_call_t* call);

// If the call has retired, the caller knows all its results, and something is borrowed: gives back
// the call's own references to its arguments and results. The gate closes when the deferred
// releases of that have run. An argument that is there even then has another user.
void tfrt_incoming_call_try_leave(tfrt_incoming_call_t* call);

// The call is cancelled because of |reason| (+0): ends the waits for arguments that it has left.
void tfrt_incoming_call_fail_watched(tfrt_incoming_call_t* call, tfrt_status_t reason);

#endif  // TFRT_DISTRIBUTED_CALL_INCOMING_CALL_IMPL_H_
