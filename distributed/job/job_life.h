// SPDX-License-Identifier: Apache-2.0
//
// The life of a job on a host that takes part in it: opened by its client, answered, closed.
//
//   client            root                     members
//     JobOpen  ------> JobOpened
//     JobOpen  ------------------------------> a session with the root, then JobOpened
//     JobStart ------> job_start.h
//     JobClose ------> JobClose -------------> cancel all, free all
//
// A host that can't take part says so in its JobOpened; its session with the client goes on.
//
// The close ends the open calls of the job. Hundreds of thousands of calls may wait for credit, and
// the end of each takes microseconds: in one go they would hold up all else on this host for a
// second, even heartbeats. So the calls end in *slices*, and between two of them the lock is open.
//
//   close --> no kernel starts --> slice --> slice ... slice --> values, wants, objects --> left
//             `------ one critical section ------'
//
// The life of a close:
//  1. Begun by the close, which cancels what runs here. The first slice is part of that: mostly
//     there is no second one.
//  2. Each further slice is a task on the work queue, after the actions of the slice before it:
//     other work gets its turn, and the earlier slice's memory is free again.
//  3. The last one ends what the calls may have used. The job is active until then.
//
// Between two slices the job is closed, and nothing new of it begins. Calls that end by themselves
// meanwhile, or with their peer, are gone from the job's list.
//
// Thread rule: everything here needs the node's lock; the tasks of a close take it.
// Failure rule: what can't be done is answered; an impossible frame is an error (+1).
#ifndef TFRT_DISTRIBUTED_JOB_JOB_LIFE_H_
#define TFRT_DISTRIBUTED_JOB_JOB_LIFE_H_

#include "distributed/domain/job.h"
#include "distributed/domain/node_part.h"

// Has jobs open and close, and those that wait for a session go on.
extern const tfrt_node_part_t tfrt_job_life_part;

// Closes |job| because of |reason| (+0), OK when it is finished. Once. Its open calls may end
// later: see above.
void tfrt_job_close(tfrt_job_t* job, tfrt_status_t reason);

#endif  // TFRT_DISTRIBUTED_JOB_JOB_LIFE_H_
