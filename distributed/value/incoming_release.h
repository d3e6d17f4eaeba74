// SPDX-License-Identifier: Apache-2.0
//
// Values of this host that a peer gives back, by ranges of their names.
//
// Thread rule: needs the node's lock.
// Failure rule: none fails; names that stand for nothing are passed over.
#ifndef TFRT_DISTRIBUTED_VALUE_INCOMING_RELEASE_H_
#define TFRT_DISTRIBUTED_VALUE_INCOMING_RELEASE_H_

#include "distributed/domain/job.h"

// A Release came from |peer| for |job|; NULL: it is over here.
void tfrt_incoming_release_on_release(tfrt_peer_t* peer, const tfrt_job_t* job,
                                      const tfrt_wire_release_t* release);

#endif  // TFRT_DISTRIBUTED_VALUE_INCOMING_RELEASE_H_
