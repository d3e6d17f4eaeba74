// SPDX-License-Identifier: Apache-2.0
//
// How much is alive in a node, and how much has happened between its sessions.
//
// Thread rule: thread-safe; takes the node's lock.
// Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_SERVICE_NODE_COUNTS_H_
#define TFRT_DISTRIBUTED_SERVICE_NODE_COUNTS_H_

#include "distributed/domain/node.h"

// The number of live objects now. Thread-safe.
tfrt_node_counts_t tfrt_node_counts(tfrt_node_t* node);

// The number of jobs that are not over. Thread-safe.
size_t tfrt_node_job_count(tfrt_node_t* node);

// The number of those jobs that run something or follow a detached job; the others only ask.
// Thread-safe.
size_t tfrt_node_running_job_count(tfrt_node_t* node);

// The number of detached jobs that are over and have left their results. Thread-safe.
size_t tfrt_node_kept_count(tfrt_node_t* node);

// Sets |*out_counters| to the counters of all sessions. Thread-safe.
void tfrt_node_session_counters(tfrt_node_t* node, tfrt_session_counters_t* out_counters);

#endif  // TFRT_DISTRIBUTED_SERVICE_NODE_COUNTS_H_
