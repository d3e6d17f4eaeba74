// SPDX-License-Identifier: Apache-2.0
//
// A call that this host runs for another.
//
//   ARRIVED -> WAIT_PROGRAM -> RUNNING -> RETIRED -> GATED -> DONE (record freed)
//     |refused                   |Cancel, deadline, caller dead: its request is cancelled
//     +--------------------------+-------------------> errors in unresolved slots, DONE
//
// Life:
//  1. An Invoke (or Void) makes the slots of its results, also when it is refused, so that a
//     third host that asks for them gets the true error.
//  2. Runs when its program is loaded (execution.h), with a request of its own that only
//     cancels this call and those that it makes.
//  3. This host tells the caller each result as soon as it is known: inline, available, a reference
//     to another host's value, or the error.
//  4. RETIRED when its scope is left for the last time. An argument that is borrowed and still
//     used here then is retained first (see the gate). Then `done` is sent, once,
//     and the record freed.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: a call that can't run is answered: errors and done.
#ifndef TFRT_DISTRIBUTED_CALL_INCOMING_CALL_H_
#define TFRT_DISTRIBUTED_CALL_INCOMING_CALL_H_

#include "distributed/call/execution.h"
#include "distributed/domain/job.h"
#include "distributed/domain/node_part.h"
#include "distributed/value/remote_value.h"

typedef struct tfrt_incoming_call_s tfrt_incoming_call_t;

// --- The gate ----------------------------------------------------------------
//
// `done` passes the gate of a call when every lent value that is still used here, after the call
// has retired, is held for this host by its owner. An argument is lent for as long as the call
// isn't done, so the loan must not end before that. Without memory a value can't be held, and a
// later user may find that it is gone.

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

// --- The call ----------------------------------------------------------------

// How far the caller knows one result.
typedef enum tfrt_incoming_result_state_e {
  TFRT_INCOMING_RESULT_UNKNOWN = 0,
  TFRT_INCOMING_RESULT_KNOWN,
  TFRT_INCOMING_RESULT_TOLD,
} tfrt_incoming_result_state_t;

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

// The execution (+0) of the call |number| that |peer| made, or NULL if the call is over.
tfrt_execution_t* tfrt_incoming_call_find(tfrt_peer_t* peer, uint64_t number);

// The slot of result |index| of |call|, or NULL if nobody holds it any more.
tfrt_object_t* tfrt_incoming_call_slot(tfrt_incoming_call_t* call, uint32_t index);

// Gives |peer| the credit of a call back, which is over or only waits for others.
static inline void tfrt_incoming_call_return_credit(tfrt_peer_t* peer) {
  if (peer->session) tfrt_session_return_credit(peer->session, 1, 0);
}

// --- incoming_result.c -------------------------------------------------------

// Tells the caller each result of an execution as soon as it is known.
extern const tfrt_execution_vtable_t tfrt_incoming_call_vtable;

// When the lock is opened, tells the caller what it doesn't know yet, and ends the call if
// nothing more is to come.
void tfrt_incoming_call_flush_later(tfrt_incoming_call_t* call);

// --- incoming_gate.c ---------------------------------------------------------

// An event that may move the gate of a call.
typedef enum tfrt_incoming_gate_event_e {
  TFRT_INCOMING_GATE_ON_FLUSH,   // the caller is about to hear what it doesn't know yet
  TFRT_INCOMING_GATE_ON_TOLD,    // it has heard that
  TFRT_INCOMING_GATE_ON_CANCEL,  // the call is cancelled: nothing waits for its arguments any more
} tfrt_incoming_gate_event_t;

// |event| has happened to |call|: the gate goes on if it can.
void tfrt_incoming_gate_note(tfrt_incoming_call_t* call, tfrt_incoming_gate_event_t event);

// --- The node ----------------------------------------------------------------

// Has calls end with their owners.
extern const tfrt_node_part_t tfrt_incoming_call_part;

#endif  // TFRT_DISTRIBUTED_CALL_INCOMING_CALL_H_
