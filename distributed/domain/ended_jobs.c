// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/ended_jobs.h"

#include <string.h>

void tfrt_ended_jobs_add(tfrt_ended_jobs_t* jobs, const uint8_t id[TFRT_WIRE_JOB_ID_SIZE],
                         uint32_t rank, tfrt_status_t reason) {
  tfrt_ended_job_t* entry = &jobs->entries[jobs->next];
  jobs->next = (jobs->next + 1) % TFRT_ENDED_JOBS_CAPACITY;
  tfrt_status_release(entry->reason);
  memcpy(entry->id, id, sizeof(entry->id));
  entry->rank = rank;
  entry->reason = tfrt_status_retain(reason);
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
