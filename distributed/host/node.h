// SPDX-License-Identifier: Apache-2.0
//
// One process's part in the cluster: it has sessions with others, runs calls for them, and
// has calls run by them.
//
// Life:
//  1. Created from its parts, which outlive it.
//  2. Listens (a worker), or only dials (a coordinator).
//  3. refuse_jobs, if running jobs shall finish first.
//  4. close: refuses new work and ends its sessions in order; every call under way ends, some with
//     an error.
//  5. drain: waits for that. Then release.
//
// Thread rule: thread-safe.
// Failure rule: creation fails with RESOURCE_EXHAUSTED, or INVALID_ARGUMENT for options that
// can't work. Failures between hosts arrive as errors of values.
#ifndef TFRT_DISTRIBUTED_HOST_NODE_H_
#define TFRT_DISTRIBUTED_HOST_NODE_H_

#include "distributed/domain/node.h"

// Sets |*out_options| to the defaults; allocator and pointers stay to be set. Thread-safe.
void tfrt_node_options_initialize(tfrt_node_options_t* out_options);

// Sets |*out_node| (+1) to a new node. Thread-safe.
tfrt_status_t tfrt_node_create(const tfrt_node_options_t* options, tfrt_node_t** out_node)
    TFRT_MUST_USE;

// Lets others dial |address|; as tfrt_transport_listen(). Thread-safe.
tfrt_status_t tfrt_node_listen(tfrt_node_t* node, tfrt_string_view_t address,
                               char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) TFRT_MUST_USE;

// Sets the name by which others know this process, as tfrt_session_manager_set_name().
// Thread-safe.
tfrt_status_t tfrt_node_set_name(tfrt_node_t* node, tfrt_string_view_t name) TFRT_MUST_USE;

// Takes no new jobs any more, and tells the peers so. The jobs that run go on, with all that
// they need: the count |running_jobs| tells when they are over. Idempotent. Thread-safe.
void tfrt_node_refuse_jobs(tfrt_node_t* node);

// Refuses new work, closes all jobs and ends all sessions, saying goodbye. Idempotent.
// Thread-safe.
void tfrt_node_close(tfrt_node_t* node);

// True if all work that close left under way has ended. Thread-safe.
bool tfrt_node_is_drained(tfrt_node_t* node);

// The numbers of what is alive now. Thread-safe.
tfrt_node_counts_t tfrt_node_counts(tfrt_node_t* node);

// Sets |*out_counters| to the counters of all sessions. Thread-safe.
void tfrt_node_session_counters(tfrt_node_t* node, tfrt_session_counters_t* out_counters);

// Waits, after close, until the network is done. For a transport and timers that have
// threads of their own. Work that the network caused may still be on the host's work queue, which
// must be quiescent before the node is released. Thread-safe (from no callback).
void tfrt_node_drain(tfrt_node_t* node);

#endif  // TFRT_DISTRIBUTED_HOST_NODE_H_
