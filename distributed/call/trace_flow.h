// SPDX-License-Identifier: Apache-2.0
//
// Calls between hosts in the traces of both: where one leaves a host and where the other begins it,
// so that arrows can be drawn.
//
// Thread rule: thread-safe.
// Failure rule: none fails; an entry that the trace has no room for is counted there.
#ifndef TFRT_DISTRIBUTED_CALL_TRACE_FLOW_H_
#define TFRT_DISTRIBUTED_CALL_TRACE_FLOW_H_

#include "distributed/domain/job.h"

// The ends of a call between hosts in the traces of both: a moment within the kernel that calls,
// and one at the begin of what it runs. Both have the same name, CALLER.NUMBER.CALLEE, by which a
// viewer ties them together.
#define TFRT_TRACE_FLOW_OUT "flow.out"
#define TFRT_TRACE_FLOW_IN "flow.in"

// Adds one of them, |category|, to the trace of |job|, if it is traced, at the present time and on
// the calling thread. Thread-safe.
void tfrt_trace_flow_add(const tfrt_job_t* job, const char* category, uint64_t caller,
                         uint64_t number, uint64_t callee, uint64_t request);

#endif  // TFRT_DISTRIBUTED_CALL_TRACE_FLOW_H_
