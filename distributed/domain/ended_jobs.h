// SPDX-License-Identifier: Apache-2.0
//
// The jobs that have ended on this host before their time, and why. A host that hasn't heard of the
// end yet and asks something of such a job gets the reason as the answer (fence.h).
//
//   a job ends: cancelled, past its deadline, its root lost    remembered, the oldest one forgotten
//   a job ends: finished                                       nothing to say
//
// A question about a forgotten job is answered without a reason, as for an unknown job. Such
// questions come within moments, while the news is on its way to all members.
//
// Life: zeroed, with the node; cleared with it.
//
// Thread rule: everything here needs the node's lock.
// Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_DOMAIN_ENDED_JOBS_H_
#define TFRT_DISTRIBUTED_DOMAIN_ENDED_JOBS_H_

#include <stdint.h>

#include "distributed/tuning/tuning.h"
#include "distributed/wire/limits.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

typedef struct tfrt_ended_job_s {
  uint8_t id[TFRT_WIRE_JOB_ID_SIZE];
  uint32_t rank;         // ours
  tfrt_status_t reason;  // +1; NULL: there is no such entry
} tfrt_ended_job_t;

typedef struct tfrt_ended_jobs_s {
  tfrt_ended_job_t entries[TFRT_ENDED_JOBS_CAPACITY];  // a ring
  uint32_t next;                                       // the oldest one, or a free place
} tfrt_ended_jobs_t;

// Remembers that the job |id|, in which this host has |rank|, ends because of |reason| (+0).
void tfrt_ended_jobs_add(tfrt_ended_jobs_t* jobs, const uint8_t id[TFRT_WIRE_JOB_ID_SIZE],
                         uint32_t rank, tfrt_status_t reason);

// The entry (+0, until the next job ends) of the job with |id|, or NULL.
const tfrt_ended_job_t* tfrt_ended_jobs_find(const tfrt_ended_jobs_t* jobs, tfrt_string_view_t id);

// Forgets all.
void tfrt_ended_jobs_clear(tfrt_ended_jobs_t* jobs);

#endif  // TFRT_DISTRIBUTED_DOMAIN_ENDED_JOBS_H_
