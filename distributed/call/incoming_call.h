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
//     used here then is retained first (the gate, outgoing_retain.h). Then `done` is sent, once,
//     and the record freed.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: a call that can't run is answered: errors and done.
#ifndef TFRT_DISTRIBUTED_CALL_INCOMING_CALL_H_
#define TFRT_DISTRIBUTED_CALL_INCOMING_CALL_H_

#include "distributed/call/execution.h"
#include "distributed/domain/job.h"

// An Invoke, or a Void, came from |peer| for |job| (NULL: closed here; it is refused). Returns
// an error (+1) for what is impossible: a call number that is not the next one.
tfrt_status_t tfrt_incoming_call_on_invoke(tfrt_peer_t* peer, tfrt_job_t* job,
                                           const tfrt_wire_invoke_t* invoke, uint64_t request,
                                           int64_t deadline_ns) TFRT_MUST_USE;
tfrt_status_t tfrt_incoming_call_on_void(tfrt_peer_t* peer, tfrt_job_t* job,
                                         const tfrt_wire_void_t* call, uint64_t request)
    TFRT_MUST_USE;

// A Cancel came from |peer|; late ones are ignored.
void tfrt_incoming_call_on_cancel(tfrt_peer_t* peer, const tfrt_wire_cancel_t* cancel);

// A Hurry came from |peer|: the Results of the call wait no longer, those that do included.
void tfrt_incoming_call_on_hurry(tfrt_peer_t* peer, const tfrt_wire_hurry_t* hurry);

// The execution (+0) of the call |number| that |peer| made, or NULL if the call is over.
tfrt_execution_t* tfrt_incoming_call_find(tfrt_peer_t* peer, uint64_t number);

// Has calls end with their owners.
void tfrt_incoming_call_register(tfrt_owner_rules_t* rules);

#endif  // TFRT_DISTRIBUTED_CALL_INCOMING_CALL_H_
