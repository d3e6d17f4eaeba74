// SPDX-License-Identifier: Apache-2.0
//
// Jobs that are traced: a client asks for it when it opens one, and each member then records spans
// of what runs; service/tracing.h gives them to the client.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: see each function.
#ifndef TFRT_DISTRIBUTED_JOB_JOB_TRACE_H_
#define TFRT_DISTRIBUTED_JOB_JOB_TRACE_H_

#include "distributed/domain/job.h"
#include "distributed/tuning/tuning.h"

// The client wants this |job|, which it makes, to be traced everywhere.
void tfrt_job_trace_request(tfrt_job_t* job);

// |job| was opened by a frame that says |trace| (NULL: nothing): records, if that is sampled.
//
tfrt_status_t tfrt_job_trace_accept(tfrt_job_t* job, const tfrt_wire_trace_t* trace) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_JOB_JOB_TRACE_H_
