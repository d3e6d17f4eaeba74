// SPDX-License-Identifier: Apache-2.0
//
// How much is alive in a node, and how much has happened between its sessions.
//
// Thread rule: thread-safe; takes the node's lock.
// Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_SERVICE_NODE_COUNTS_H_
#define TFRT_DISTRIBUTED_SERVICE_NODE_COUNTS_H_

#include "distributed/domain/node.h"

// What is alive now. Thread-safe.
tfrt_node_counts_t tfrt_node_counts(tfrt_node_t* node);

// The number of jobs that are not over, of those among them that run something or follow one that
// is detached (the others only ask), of detached ones that are and have left their results, and
// of what happened between sessions. Thread-safe.
size_t tfrt_node_job_count(tfrt_node_t* node);
size_t tfrt_node_running_job_count(tfrt_node_t* node);
size_t tfrt_node_kept_count(tfrt_node_t* node);
void tfrt_node_session_counters(tfrt_node_t* node, tfrt_session_counters_t* out_counters);

#endif  // TFRT_DISTRIBUTED_SERVICE_NODE_COUNTS_H_
