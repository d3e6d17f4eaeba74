// SPDX-License-Identifier: Apache-2.0
//
// The limits of one job on this host. A call, start or payload over a limit gets an error that says
// so; the rest of the job, and other jobs, go on.
//
//   JobOpen.budgets, the node's options --the smaller of both, 0 is none--> job->limits
//                                                       check --> OK, or RESOURCE_EXHAUSTED
//
//   limit         what is counted                                         where it is checked
//   calls         functions of programs that run for other hosts          Invoke: refused
//   objects       values that others know, and placeholders for theirs,   Invoke: refused
//                 with the results of the new call
//   requests      starts at the root that are not over                    JobStart: refused
//   memory_bytes  payloads that came from other hosts, as long as a       first chunk: the value is
//                 placeholder for them is there                           an error
//
// Memory that kernels allocate is not counted: it is the program's own.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: see each function.
#ifndef TFRT_DISTRIBUTED_VALUE_JOB_BUDGET_H_
#define TFRT_DISTRIBUTED_VALUE_JOB_BUDGET_H_

#include "distributed/domain/job.h"

// Sets the limits of |job|, on a member, to the smaller of what |asked| (may be NULL) and the
// node's options say.
void tfrt_job_budget_initialize(tfrt_job_t* job, const tfrt_wire_job_budgets_t* asked);

// OK if another call with |result_count| results, another start, or another payload of |size| bytes
// fits; else RESOURCE_EXHAUSTED, which names the limit and how it is raised.
tfrt_status_t tfrt_job_budget_check_call(const tfrt_job_t* job, uint32_t result_count)
    TFRT_MUST_USE;
tfrt_status_t tfrt_job_budget_check_start(const tfrt_job_t* job) TFRT_MUST_USE;
tfrt_status_t tfrt_job_budget_check_payload(const tfrt_job_t* job, uint64_t size) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_VALUE_JOB_BUDGET_H_
