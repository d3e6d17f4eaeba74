// SPDX-License-Identifier: Apache-2.0
//
// Names that a peer gives back (Release). A frame of 20 bytes can give back 65,536, and to look for
// one of those takes up to a microsecond, whether it is held or not: in one go nothing else would
// go on on this host for 60 ms, and for minutes with a batch of such frames. So they are looked for
// in *slices*, and between two the lock is open. Who gives back that many waits meanwhile, as its
// next frame is not looked at before; so there is no queue.
//
//   Release --> slice --> lock open --> slice --> ... --> next frame
//
// Thread rule: needs the node's lock, and opens it.
// Failure rule: without memory for the names it is all one slice.
#ifndef TFRT_DISTRIBUTED_VALUE_INCOMING_RELEASE_H_
#define TFRT_DISTRIBUTED_VALUE_INCOMING_RELEASE_H_

#include "distributed/job/job.h"

// So many names are looked for in one critical section: at most half a millisecond.
#define TFRT_INCOMING_RELEASE_SLICE 512u

// |peer| gives |release| back, of |job| (NULL: it is over here). When this returns the peer may be
// dead and its memory given back, and what |release| was decoded into may have other use.
void tfrt_incoming_release_on_release(tfrt_peer_t* peer, tfrt_job_t* job,
                                      const tfrt_wire_release_t* release);

#endif  // TFRT_DISTRIBUTED_VALUE_INCOMING_RELEASE_H_
