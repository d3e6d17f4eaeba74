// SPDX-License-Identifier: Apache-2.0
//
// A call that stays on its host and has its own deadline, earlier than that of the request around
// it. It runs in a request of its own, which differs only in the deadline.
//
//   request --cancel--> request of the call --> kernels, calls to other hosts
//   timer --DEADLINE_EXCEEDED--^   '--> results that are not known yet: errors
//
// Life:
//  1. Executed: the function runs on the calling thread, as a call without a deadline does.
//  2. Cancelled at its deadline, if that comes first: on the thread of the timers, however busy the
//     workers are. One of these has the results fail then, or, if the function has not returned by
//     that time, the thread that it runs on.
//  3. Over when everything that it started is; the scope around it is left then.
//
// Thread rule: thread-safe.
// Failure rule: without memory the results are errors.
#ifndef TFRT_DISTRIBUTED_CALL_LOCAL_CALL_H_
#define TFRT_DISTRIBUTED_CALL_LOCAL_CALL_H_

#include "distributed/domain/job.h"

// Runs |call| of |job| on this host until |deadline_ns| of the node's clock. Thread-safe (the lock
// is not held).
void tfrt_local_call_execute(tfrt_job_t* job, const tfrt_routed_call_t* call, int64_t deadline_ns);

#endif  // TFRT_DISTRIBUTED_CALL_LOCAL_CALL_H_
