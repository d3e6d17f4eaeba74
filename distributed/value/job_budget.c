// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/job_budget.h"

#include <inttypes.h>

#include "distributed/value/object_table.h"
#include "distributed/value/remote_value.h"

static uint64_t tfrt_job_budget_smaller(uint64_t asked, uint64_t own) {
  if (asked == 0 || own == 0) return asked + own;
  return asked < own ? asked : own;
}

void tfrt_job_budget_initialize(tfrt_job_t* job, const tfrt_wire_job_budgets_t* asked) {
  job->usage.limits = job->node->options.job_limits;
  if (!asked) return;
  tfrt_job_limits_t* limits = &job->usage.limits;
  limits->memory_bytes = tfrt_job_budget_smaller(asked->memory_bytes, limits->memory_bytes);
  limits->objects = (uint32_t)tfrt_job_budget_smaller(asked->objects, limits->objects);
  limits->calls = (uint32_t)tfrt_job_budget_smaller(asked->calls, limits->calls);
  limits->requests = (uint32_t)tfrt_job_budget_smaller(asked->requests, limits->requests);
}

// The error for |limit| of |what|; |own| is the host's own limit, and |flag| raises it.
static tfrt_status_t tfrt_job_budget_error(const tfrt_job_t* job, uint64_t limit, uint64_t own,
                                           const char* what, const char* flag) {
  if (own == limit) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "the job would have more than %" PRIu64
                              " %s on host %u, which is what that allows a job: start "
                              "tfrt_worker there with a larger --%s",
                              limit, what, job->rank, flag);
  }
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                            "the job would have more than %" PRIu64
                            " %s on host %u, which is what its client allows it in "
                            "JobOpen.budgets",
                            limit, what, job->rank);
}

static uint64_t tfrt_job_budget_count_objects(const tfrt_job_t* job) {
  uint64_t count = 0;
  tfrt_hash_table_t* objects = &job->node->objects->by_id;
  for (tfrt_hash_node_t* node = tfrt_hash_table_first(objects); node;
       node = tfrt_hash_table_next(objects, node)) {
    count += TFRT_CONTAINER_OF(node, tfrt_object_t, by_id)->job == job;
  }
  const tfrt_list_link_t* head = &job->remote_values;
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) ++count;
  return count;
}

tfrt_status_t tfrt_job_budget_check_call(const tfrt_job_t* job, uint32_t result_count) {
  const tfrt_node_t* node = job->node;
  const tfrt_job_limits_t* own = &node->options.job_limits;
  uint32_t limit = job->usage.limits.calls;
  if (limit > 0 && job->usage.calls >= limit) {
    return tfrt_job_budget_error(job, limit, own->calls, "calls at once", "job-calls");
  }
  limit = job->usage.limits.objects;
  if (limit == 0) return NULL;
  // Mostly all jobs together have no more than the limit, and nothing need be counted.
  uint64_t all = tfrt_object_table_count(node->objects) + node->counts.remote_values;
  if (all + result_count <= limit) return NULL;
  if (tfrt_job_budget_count_objects(job) + result_count <= limit) return NULL;
  return tfrt_job_budget_error(job, limit, own->objects, "values", "job-objects");
}

tfrt_status_t tfrt_job_budget_check_start(const tfrt_job_t* job) {
  uint32_t limit = job->usage.limits.requests;
  uint32_t count = 0;
  const tfrt_list_link_t* head = &job->starts.list;
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) ++count;
  if (limit == 0 || count < limit) return NULL;
  return tfrt_job_budget_error(job, limit, job->node->options.job_limits.requests,
                               "requests at once", "job-requests");
}

tfrt_status_t tfrt_job_budget_check_payload(const tfrt_job_t* job, uint64_t size) {
  uint64_t limit = job->usage.limits.memory_bytes;
  if (limit == 0) return NULL;
  uint64_t used = 0;
  const tfrt_list_link_t* head = &job->remote_values;
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) {
    used += TFRT_CONTAINER_OF(link, tfrt_remote_value_t, in_job)->bytes.here;
  }
  if (size <= limit && used <= limit - size) return NULL;
  return tfrt_job_budget_error(job, limit, job->node->options.job_limits.memory_bytes,
                               "bytes of values of others", "job-memory");
}
