// SPDX-License-Identifier: Apache-2.0
//
// The node's use of lanes: opens them for each session, and receives the payloads of its wants into
// values. (Sending is the business of incoming_want.h.)
//
//   lane: begin  --want open--> the type's codec makes the value, its body is to be filled; of a
//                               type with streams, its sink takes the bytes
//         complete -----------> the value is published, the placeholder stands for it, Unwant;
//                               with a sink, when it has the value
//         interrupted --------> the rest is asked for under a new want
//         aborted ------------> the placeholder is an error that names the owner's host
//         lost ---------------> the session is closed, with all that needs it
//
// Life: the handler is embedded in the node and lives until the lanes are drained. A value
// that is being filled belongs to its transfer: from begin to complete or aborted.
//
// Thread rule: the handler is called with no lock held, and takes the node's; buffers are
// made, checked and freed without it. The function here needs the lock.
// Failure rule: what can't be received is an error of that value only.
#ifndef TFRT_DISTRIBUTED_VALUE_TRANSFER_H_
#define TFRT_DISTRIBUTED_VALUE_TRANSFER_H_

#include "distributed/domain/domain.h"

// The functions by which the node receives payloads.
extern const tfrt_lane_handler_vtable_t tfrt_transfer_handler_vtable;

// Makes the session of |peer|, which is open now, known to the lanes.
void tfrt_transfer_open_lanes(tfrt_peer_t* peer);

#endif  // TFRT_DISTRIBUTED_VALUE_TRANSFER_H_
