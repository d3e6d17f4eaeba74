// SPDX-License-Identifier: Apache-2.0
//
// The starts of a job at its root: functions that the client starts (JobStart), which the root
// executes, so that it is the caller of everything below; and the request that each start is on all
// hosts.
//
//   client            root                     members
//     JobStart ------> execution ...calls...
//     <------ JobEnd   retired, all results known
//                      EndRequest -----------> forget the request
//     CancelRequest -> CancelRequest --------> cancel what runs of it, and what will come
//
// Life:
//  1. A start lives in its job's list from JobStart to JobEnd. JobEnd has all results, or the
//  reason
//     why there are none. It is one message, whatever its results are.
//  2. When a request is over on all living hosts, they forget four things about it: its cancel
//     (domain/job.h), the turns of kernels that met in it (turn_table.h), the end of such
//     meetings, and messages that nobody received (mailbox.h). If no kernels can have met in the
//     request, the root sends no EndRequest. The members then remember nothing of it but messages
//     that nobody received, which go with the job.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: what can't be done is answered; an impossible frame is an error (+1).
#ifndef TFRT_DISTRIBUTED_JOB_JOB_START_H_
#define TFRT_DISTRIBUTED_JOB_JOB_START_H_

#include "distributed/call/execution.h"
#include "distributed/domain/node_part.h"

// Visits the starts of |job|, whose root we are, that are not over.
typedef void (*tfrt_job_start_visit_fn_t)(void* self, uint64_t number,
                                          const tfrt_execution_t* execution);
void tfrt_job_start_visit_all(const tfrt_job_t* job, tfrt_job_start_visit_fn_t visit, void* self);

// Has jobs start, and starts and requests end.
extern const tfrt_node_part_t tfrt_job_start_part;

#endif  // TFRT_DISTRIBUTED_JOB_JOB_START_H_
