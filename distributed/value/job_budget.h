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
//   made          calls of other hosts: of functions, for printed lines,  call: its results are
//                 for messages; a client asks for no limit of them        errors
//   objects       values that others know, and placeholders for theirs,   Invoke: refused
//                 with the results of the new call
//   requests      starts at the root that are not over                    JobStart: refused
//   memory_bytes  payloads that came from other hosts, as long as a       first chunk: the value is
//                 placeholder for them is there, and records of both      an error; calls as above
//                 kinds of calls, TFRT_JOB_BUDGET_CALL_BYTES each
//
// Memory that kernels allocate is not counted: it is the program's own.
//
// A loop whose turns don't wait for each other would make calls until the limit is reached. So,
// when more than half of the calls that the job may make are under way, its loops wait; they go on
// when a quarter is left. Those calls may themselves wait for what a loop does next. So, if none of
// them ends for TFRT_JOB_BUDGET_PATIENCE_NS, loops go on at once until a quarter is left.
//
//   calls made:  0 ...... 1/4 ............... 1/2 ...................... limit
//   loops:       go on <--' (those that wait)   '--> wait, or go on late   error
//
// Thread rule: everything here needs the node's lock.
// Failure rule: see each function.
#ifndef TFRT_DISTRIBUTED_VALUE_JOB_BUDGET_H_
#define TFRT_DISTRIBUTED_VALUE_JOB_BUDGET_H_

#include "distributed/domain/job.h"
#include "distributed/value/remote_value.h"

// Sets the limits of |job|, on a member, to the smaller of what |asked| (may be NULL) and the
// node's options say.
void tfrt_job_budget_initialize(tfrt_job_t* job, const tfrt_wire_job_budgets_t* asked);

// The things that a job may want more of.
typedef enum tfrt_job_budget_kind_e {
  TFRT_JOB_BUDGET_CALL,     // a call of another host, with |amount| results
  TFRT_JOB_BUDGET_START,    // a start
  TFRT_JOB_BUDGET_PAYLOAD,  // a payload of |amount| bytes
  TFRT_JOB_BUDGET_MADE,     // a call that this host makes
} tfrt_job_budget_kind_t;

// OK if one more of |kind| fits; else RESOURCE_EXHAUSTED, which names the limit and how it is
// raised.
tfrt_status_t tfrt_job_budget_check(const tfrt_job_t* job, tfrt_job_budget_kind_t kind,
                                    uint64_t amount) TFRT_MUST_USE;

// A call that this host makes for |job| begins (|change| is 1), or is over (-1).
void tfrt_job_budget_count_made(tfrt_job_t* job, int change);

// |value| has a payload of |size| bytes here.
void tfrt_job_budget_set_payload(tfrt_remote_value_t* value, uint64_t size);

// A value (+1) that is available when loops of |job| may go on; NULL: they may now, or memory is
// out.
tfrt_async_value_t* tfrt_job_budget_room(tfrt_job_t* job);

// Has loops of a job go on that have waited for long, or whose job is closed.
extern const tfrt_node_part_t tfrt_job_budget_part;

#endif  // TFRT_DISTRIBUTED_VALUE_JOB_BUDGET_H_
