// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/job_budget.h"

#include <inttypes.h>

#include "distributed/tuning/tuning.h"
#include "distributed/value/object_table.h"
#include "host_runtime/async/builtin_types.h"

static uint64_t job_budget_smaller(uint64_t asked, uint64_t own) {
  if (asked == 0 || own == 0) return asked + own;
  return asked < own ? asked : own;
}

void tfrt_job_budget_initialize(tfrt_job_t* job, const tfrt_wire_job_budgets_t* asked) {
  job->usage.limits = job->node->options.job_limits;
  if (!asked) return;
  tfrt_job_limits_t* limits = &job->usage.limits;
  limits->memory_bytes = job_budget_smaller(asked->memory_bytes, limits->memory_bytes);
  limits->objects = (uint32_t)job_budget_smaller(asked->objects, limits->objects);
  limits->calls = (uint32_t)job_budget_smaller(asked->calls, limits->calls);
  limits->requests = (uint32_t)job_budget_smaller(asked->requests, limits->requests);
}

// The error for |limit| of |what|; |own| is the host's own limit, and |flag| raises it.
static tfrt_status_t job_budget_error(const tfrt_job_t* job, uint64_t limit, uint64_t own,
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

static uint64_t job_budget_count_objects(const tfrt_job_t* job) {
  uint64_t count = job->usage.objects;
  const tfrt_list_link_t* head = &job->remote_values;
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) ++count;
  return count;
}

// The memory of calls and payloads of |job|.
static uint64_t job_budget_used_bytes(const tfrt_job_t* job) {
  const tfrt_job_usage_t* usage = &job->usage;
  return ((uint64_t)usage->calls + usage->made) * TFRT_JOB_BUDGET_CALL_BYTES + usage->payload_bytes;
}

// OK if |size| bytes more fit.
static tfrt_status_t job_budget_check_memory(const tfrt_job_t* job, uint64_t size) {
  uint64_t limit = job->usage.limits.memory_bytes;
  if (limit == 0) return NULL;
  uint64_t used = job_budget_used_bytes(job);
  if (size <= limit && used <= limit - size) return NULL;
  return job_budget_error(job, limit, job->node->options.job_limits.memory_bytes,
                          "bytes of calls and of values of others", "job-memory");
}

static tfrt_status_t job_budget_check_call(const tfrt_job_t* job, uint64_t result_count) {
  const tfrt_node_t* node = job->node;
  const tfrt_job_limits_t* own = &node->options.job_limits;
  uint32_t limit = job->usage.limits.calls;
  if (limit > 0 && job->usage.calls >= limit) {
    return job_budget_error(job, limit, own->calls, "calls at once", "job-calls");
  }
  TFRT_RETURN_IF_ERROR(job_budget_check_memory(job, TFRT_JOB_BUDGET_CALL_BYTES));
  limit = job->usage.limits.objects;
  if (limit == 0) return NULL;
  // Mostly all jobs together have no more than the limit, and nothing need be counted.
  uint64_t all = tfrt_object_table_count(node->objects) + node->counts.remote_values;
  if (all + result_count <= limit) return NULL;
  if (job_budget_count_objects(job) + result_count <= limit) return NULL;
  return job_budget_error(job, limit, own->objects, "values", "job-objects");
}

static tfrt_status_t job_budget_check_start(const tfrt_job_t* job) {
  uint32_t limit = job->usage.limits.requests;
  uint32_t count = 0;
  const tfrt_list_link_t* head = &job->starts.list;
  for (const tfrt_list_link_t* link = head->next; link != head; link = link->next) ++count;
  if (limit == 0 || count < limit) return NULL;
  return job_budget_error(job, limit, job->node->options.job_limits.requests, "requests at once",
                          "job-requests");
}

static tfrt_status_t job_budget_check_made(const tfrt_job_t* job) {
  uint32_t limit = job->usage.limits.made;
  if (limit > 0 && job->usage.made >= limit) {
    return job_budget_error(job, limit, job->node->options.job_limits.made,
                            "calls of other hosts under way", "job-calls");
  }
  return job_budget_check_memory(job, TFRT_JOB_BUDGET_CALL_BYTES);
}

tfrt_status_t tfrt_job_budget_check(const tfrt_job_t* job, tfrt_job_budget_kind_t kind,
                                    uint64_t amount) {
  switch (kind) {
    case TFRT_JOB_BUDGET_CALL:
      return job_budget_check_call(job, amount);
    case TFRT_JOB_BUDGET_START:
      return job_budget_check_start(job);
    case TFRT_JOB_BUDGET_MADE:
      return job_budget_check_made(job);
    default:
      return job_budget_check_memory(job, amount);
  }
}

void tfrt_job_budget_set_payload(tfrt_remote_value_t* value, uint64_t size) {
  value->job->usage.payload_bytes += size - value->bytes.here;
  value->bytes.here = size;
}

// --- The pace of loops -----------------------------------------------------------

// The most calls that |job| may make at once; 0: no limit.
static uint64_t job_budget_most_made(const tfrt_job_t* job) {
  uint64_t by_memory = job->usage.limits.memory_bytes / TFRT_JOB_BUDGET_CALL_BYTES;
  if (job->usage.limits.memory_bytes > 0 && by_memory == 0) by_memory = 1;
  return job_budget_smaller(job->usage.limits.made, by_memory);
}

// |job| has |pace| from now on. If that lets loops go on, those that wait do.
static void job_budget_set_pace(tfrt_job_t* job, tfrt_job_pace_t pace) {
  tfrt_job_usage_t* usage = &job->usage;
  usage->pace = pace;
  atomic_store_explicit(&job->router.is_crowded, pace == TFRT_JOB_PACE_CROWDED,
                        memory_order_relaxed);
  if (pace == TFRT_JOB_PACE_CROWDED || !usage->room) return;
  tfrt_action_queue_forward_take(&job->node->actions, usage->room, tfrt_async_value_ready_chain());
  usage->room = NULL;
}

static void job_budget_begin_made(tfrt_job_t* job) {
  uint64_t most = job_budget_most_made(job);
  ++job->usage.made;
  if (most == 0 || job->usage.pace != TFRT_JOB_PACE_FREE || job->usage.made <= most / 2) return;
  job->usage.moved_ns = job->node->tick_ns;
  if (!tfrt_job_is_closed(job)) job_budget_set_pace(job, TFRT_JOB_PACE_CROWDED);
}

static void job_budget_end_made(tfrt_job_t* job) {
  --job->usage.made;
  if (job->usage.pace == TFRT_JOB_PACE_FREE) return;
  job->usage.moved_ns = job->node->tick_ns;
  if (job->usage.made <= job_budget_most_made(job) / 4) {
    job_budget_set_pace(job, TFRT_JOB_PACE_FREE);
  }
}

void tfrt_job_budget_count_made(tfrt_job_t* job, int change) {
  if (change > 0) {
    job_budget_begin_made(job);
  } else {
    job_budget_end_made(job);
  }
}

tfrt_async_value_t* tfrt_job_budget_room(tfrt_job_t* job) {
  tfrt_job_usage_t* usage = &job->usage;
  if (usage->pace != TFRT_JOB_PACE_CROWDED) return NULL;
  if (!usage->room) {
    tfrt_indirect_value_t* room = tfrt_indirect_value_create();
    if (!room) return NULL;
    usage->room = &room->base;
  }
  return tfrt_async_value_retain(usage->room);
}

// Has loops go on that have waited for long.
static void job_budget_on_node_tick(const tfrt_owner_end_t* end) {
  tfrt_node_t* node = end->node;
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) {
    tfrt_job_t* job = TFRT_CONTAINER_OF(link, tfrt_job_t, link);
    if (job->usage.pace != TFRT_JOB_PACE_CROWDED) continue;
    if (node->tick_ns - job->usage.moved_ns < TFRT_JOB_BUDGET_PATIENCE_NS) continue;
    job_budget_set_pace(job, TFRT_JOB_PACE_HASTY);
  }
}

static void job_budget_on_job_closed(const tfrt_owner_end_t* end) {
  job_budget_set_pace(end->job, TFRT_JOB_PACE_FREE);
}

static const tfrt_owner_rule_t tfrt_job_budget_rules[] = {
    {TFRT_OWNER_NODE_TICK, TFRT_OWNER_CALLS, job_budget_on_node_tick},
    {TFRT_OWNER_JOB_CLOSED, TFRT_OWNER_CALLS, job_budget_on_job_closed},
};

const tfrt_node_part_t tfrt_job_budget_part = {
    .rules = tfrt_job_budget_rules,
    .rule_count = TFRT_ARRAY_SIZE(tfrt_job_budget_rules),
};
