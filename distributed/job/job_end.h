// SPDX-License-Identifier: Apache-2.0
//
// JobEnd: the results of a start, for the client. It is one message, whatever its results are.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_JOB_JOB_END_H_
#define TFRT_DISTRIBUTED_JOB_JOB_END_H_

#include "distributed/call/execution.h"

// Tells |client|, which has a session, the results of |execution|, which are all known, or why
// there are none. |start| is what the client calls it.
void tfrt_job_end_send(tfrt_execution_t* execution, uint64_t start, tfrt_peer_t* client);

#endif  // TFRT_DISTRIBUTED_JOB_JOB_END_H_
