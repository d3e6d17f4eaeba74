// SPDX-License-Identifier: Apache-2.0
//
// This host's holds on values of others: what it asks for with Retain, and gives back with Release.
//
// A value that was lent to this host may be used beyond the call. This host asks the owner to hold
// it, and the call is not done before the owner answers.
//
//   borrower                                owner
//     Retain x   ------------------------->   holders: + borrower
//                <-------------------------   Retained x: held       the call may be done
//     ...
//     Release x  ------------------------->   holders: - borrower
//
// Each Retain is one hold, and each result of an own call is one; a Release gives back one. So two
// handles of one value don't have to know each other.
//
// Life of a Retain: sent once for a remote value; answered once, or ended by the owner's death or
// the job's close. Meanwhile it keeps the value.
//
// Holds are given back many in one message. Results of calls have numbers in a row, so one Release
// names many values by a few ranges.
//
//   value gone --give back--> job at peer: (A, 7..9, 0) (A, 12, 0) --flush--> Release
//
// Nobody waits for a Release, so it goes with the next batch, or after the delay of an
// acknowledgement without one; at once when it is much. Until then the owner keeps what it could
// have freed. As the owner counts holds, it is right to give back late, also behind a Retain of the
// same.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: what can't be held becomes an error, where its payload is not here. A Release that
// can't be sent ends the session (peer.h).
#ifndef TFRT_DISTRIBUTED_VALUE_OUTGOING_HOLD_H_
#define TFRT_DISTRIBUTED_VALUE_OUTGOING_HOLD_H_

#include "distributed/domain/job.h"
#include "distributed/domain/node_part.h"
#include "distributed/value/remote_value.h"

// Has the owner of |value|, which was lent to us, hold it for us. Returns an AsyncValue (+0, lives
// as long as |value|) that is available when it does, or never will; NULL if memory is out.
tfrt_async_value_t* tfrt_outgoing_hold_ask(tfrt_remote_value_t* value);

// |value| was lost, and isn't any more. If another host has it now, at |value->location|, what was
// put off goes on there. Else it is resolved, or a value of this host: nothing is waited for.
void tfrt_outgoing_hold_go_on(tfrt_remote_value_t* value);

// Gives back to |peer| the hold of |job| on |id|. |is_urgent|: it is worth a batch of its own.
void tfrt_outgoing_hold_give_back(tfrt_peer_t* peer, tfrt_job_t* job,
                                  const tfrt_wire_object_id_t* id, bool is_urgent);

// Appends to the session of |peer| what all jobs are about to give back to it.
void tfrt_outgoing_hold_flush(tfrt_peer_t* peer);

// Has questions end with their owners.
extern const tfrt_node_part_t tfrt_outgoing_hold_part;

#endif  // TFRT_DISTRIBUTED_VALUE_OUTGOING_HOLD_H_
