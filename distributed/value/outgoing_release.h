// SPDX-License-Identifier: Apache-2.0
//
// Gives back this host's holds on values of other hosts, many in one message. Results of calls have
// numbers in a row, so one Release names many values by a few ranges.
//
//   value gone --add--> job at peer: (A, 7..9, 0) (A, 12, 0) --flush--> Release
//
// Nobody waits for it, so it goes with the next batch, or after the delay of an acknowledgement
// without one; at once when it is much. Until then the owner keeps what it could have freed. As the
// owner counts holds, it is right to give back late, also behind a Retain of the same.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: a Release that can't be sent ends the session (peer.h).
#ifndef TFRT_DISTRIBUTED_VALUE_OUTGOING_RELEASE_H_
#define TFRT_DISTRIBUTED_VALUE_OUTGOING_RELEASE_H_

#include "distributed/domain/job.h"

// Gives back to |peer| the hold of |job| on |id|. |is_urgent|: it is worth a batch of its own.
void tfrt_outgoing_release_add(tfrt_peer_t* peer, tfrt_job_t* job, const tfrt_wire_object_id_t* id,
                               bool is_urgent);

// Appends to the session of |peer| what all jobs are about to give back to it.
void tfrt_outgoing_release_flush(tfrt_peer_t* peer);

#endif  // TFRT_DISTRIBUTED_VALUE_OUTGOING_RELEASE_H_
