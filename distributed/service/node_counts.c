// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/node_counts.h"

#include "distributed/job/detached_job.h"
#include "distributed/value/object_table.h"

tfrt_node_counts_t tfrt_node_counts(tfrt_node_t* node) {
  tfrt_node_lock_tables(node);
  tfrt_node_counts_t counts = node->counts;
  counts.objects = tfrt_object_table_count(node->objects);
  tfrt_lane_counts_t lanes = tfrt_lane_manager_counts(node->lanes);
  counts.transfers = lanes.sending + lanes.receiving;
  tfrt_node_unlock(node);
  return counts;
}

size_t tfrt_node_job_count(tfrt_node_t* node) {
  size_t count = 0;
  tfrt_node_lock_tables(node);
  for (tfrt_list_link_t* link = node->jobs.next; link != &node->jobs; link = link->next) ++count;
  tfrt_node_unlock(node);
  return count;
}

size_t tfrt_node_running_job_count(tfrt_node_t* node) {
  tfrt_node_lock_tables(node);
  size_t count = tfrt_job_count_running(node, NULL);
  tfrt_node_unlock(node);
  return count;
}

size_t tfrt_node_kept_count(tfrt_node_t* node) {
  tfrt_node_lock_tables(node);
  size_t count = tfrt_detached_job_count_kept(node);
  tfrt_node_unlock(node);
  return count;
}

void tfrt_node_session_counters(tfrt_node_t* node, tfrt_session_counters_t* out_counters) {
  tfrt_node_lock_tables(node);
  tfrt_session_manager_counters(node->sessions, out_counters);
  tfrt_node_unlock(node);
}
