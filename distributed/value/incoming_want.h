// SPDX-License-Identifier: Apache-2.0
//
// A request of another host for a value that this host owns.
//
//   Want --object known--> waits for the value --> Resolve (available, inline, on_bulk, error)
//        --slot of a call that has not said what it is--> waits for that
//        --not promised yet (its namer's call is under way) --> HELD --Invoke--> as above
//        --gone, or never promised--------------------------------------------> Resolve(error)
//
// A PushTo of the namer is the same wish, on behalf of a third host (push_inbox.h); it is never
// held.
//
// A held want costs no entry in the table of objects. It waits in the list of the namer's peer
// until the Invoke comes, the namer dies, or its heartbeat proves that it never made that promise.
//
// Life: made by a Want; answered once; freed by its answer, by an Unwant, or by the death of the
// asking host. A payload that is too big for a message goes by a bulk channel (bulk_manager.h) and
// keeps it, and the value, until the Unwant. A Want that resumes another takes over its transfer.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: an impossible want (a number that was used) is an error (+1).
#ifndef TFRT_DISTRIBUTED_VALUE_INCOMING_WANT_H_
#define TFRT_DISTRIBUTED_VALUE_INCOMING_WANT_H_

#include "distributed/domain/job.h"
#include "distributed/domain/node_part.h"
#include "distributed/value/object_table.h"

// The slots of |peer|'s |invoke| exist. Pushes the results that |invoke| names to their borrowers,
// once they are known, unless a borrower asks before. A result that can't be pushed is left to be
// asked for.
void tfrt_incoming_want_push(const tfrt_peer_t* peer, tfrt_job_t* job,
                             const tfrt_wire_invoke_t* invoke);

// The value (+1) of |reference|, a name of this host in |job|: the object's value, or an error. If
// the Invoke that promises the value has not come yet, an indirect that is forwarded to it then.
tfrt_async_value_t* tfrt_incoming_want_own_value(tfrt_job_t* job,
                                                 const tfrt_wire_reference_t* reference);

// The slots of |peer|'s calls up to its watermark exist now: serves the wants that were held
// for them.
void tfrt_incoming_want_serve_held(tfrt_peer_t* peer);

// |object|, a slot, has been told what it is: serves the wants that wait for that.
void tfrt_incoming_want_serve_waiting(tfrt_object_t* object);

// Has wants end with their owners.
extern const tfrt_node_part_t tfrt_incoming_want_part;

#endif  // TFRT_DISTRIBUTED_VALUE_INCOMING_WANT_H_
