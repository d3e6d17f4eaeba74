// SPDX-License-Identifier: Apache-2.0
#include "distributed/job/ended_jobs.h"

#include <string.h>

#include "distributed/job/job.h"

void tfrt_ended_jobs_add(tfrt_ended_jobs_t* jobs, const tfrt_job_t* job) {
  if (job->is_finished) return;
  tfrt_ended_job_t* entry = &jobs->entries[jobs->next];
  jobs->next = (jobs->next + 1) % TFRT_ENDED_JOBS_CAPACITY;
  tfrt_status_release(entry->reason);
  memcpy(entry->id, job->id, sizeof(entry->id));
  entry->rank = job->rank;
  entry->reason = tfrt_status_retain(job->closed_by);
}

const tfrt_ended_job_t* tfrt_ended_jobs_find(const tfrt_ended_jobs_t* jobs, tfrt_string_view_t id) {
  for (uint32_t i = 0; i < TFRT_ENDED_JOBS_CAPACITY; ++i) {
    const tfrt_ended_job_t* entry = &jobs->entries[i];
    bool is_it = entry->reason && id.size == sizeof(entry->id) &&
                 memcmp(entry->id, id.data, sizeof(entry->id)) == 0;
    if (is_it) return entry;
  }
  return NULL;
}

void tfrt_ended_jobs_clear(tfrt_ended_jobs_t* jobs) {
  for (uint32_t i = 0; i < TFRT_ENDED_JOBS_CAPACITY; ++i) {
    tfrt_status_release(jobs->entries[i].reason);
  }
  memset(jobs, 0, sizeof(*jobs));
}
