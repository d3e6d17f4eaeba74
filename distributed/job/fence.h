// SPDX-License-Identifier: Apache-2.0
//
// The fence between a job and a member that has no part in it any more, though its session lives.
// Such a member has closed the job: it has lost the root or the client, shuts down, or got a
// cancel. Or its session has died, and it comes back with a new one. To the job it is as lost as a
// dead host.
//
//   M                                         H, which has closed the job
//     JobDetach  <--------------------------    known to M before: its last frame of the job
//   or
//     JobAttach(job)  --------------------->    not known, and M asks it something
//     calls, wants ...  ------------------->    dropped
//                <--------------------------  JobGone(job): no answer will come
//   either: M raises the fence: all that waits for H in the job becomes an error that names H, or
//   the reason that H gives for the job's end there: CANCELLED, say
//
// Life:
//  1. Down, while the member has its part in the job.
//  2. Raised once, for good: the funeral of the job's part of the session. Questions to the member
//     are lost, its calls are cancelled, its holds and the receives from it end; its frames in this
//     job are of no job any more. Behind the fence of its root a job can't go on.
//
// So a wait for a host that lives ends as one for a dead host does, without a clock. The waiting
// host has attached the job to the session with that host, which answers the attachment once,
// before or after.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: a frame that must be sent and can't be ends the session (peer.h).
#ifndef TFRT_DISTRIBUTED_JOB_FENCE_H_
#define TFRT_DISTRIBUTED_JOB_FENCE_H_

#include "distributed/domain/job.h"
#include "distributed/domain/node_part.h"

// Has jobs lose peers that die.
extern const tfrt_node_part_t tfrt_fence_part;

#endif  // TFRT_DISTRIBUTED_JOB_FENCE_H_
