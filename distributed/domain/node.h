// SPDX-License-Identifier: Apache-2.0
//
// One process's part in the cluster, as its users see it: its options, and the counts of what is
// alive in it. distributed/host/node.h makes it, has it listen, and closes it.
//
// Life: counted; its last release frees it, which needs that it is drained.
//
// Thread rule: thread-safe.
// Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_DOMAIN_NODE_H_
#define TFRT_DISTRIBUTED_DOMAIN_NODE_H_

#include "distributed/session/session.h"
#include "distributed/transport/transport.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/async/timer_queue.h"
#include "host_runtime/host_context.h"

typedef struct tfrt_node_s tfrt_node_t;

// The limits of one job on a node (job_budget.h); 0: no limit.
typedef struct tfrt_job_limits_s {
  uint64_t memory_bytes;
  uint32_t objects;
  uint32_t calls;
  uint32_t made;  // calls of other hosts
  uint32_t requests;
} tfrt_job_limits_t;

// The options of a node. Allocator and pointers must outlive it; texts are copied.
typedef struct tfrt_node_options_s {
  tfrt_allocator_t allocator;
  tfrt_timer_queue_t* timers;  // its clock is the node's
  tfrt_transport_t* transport;
  tfrt_host_context_t* host;
  tfrt_session_options_t session;  // incarnation 0: drawn at random; no |bulk_acceptor|
  uint32_t max_jobs;               // open at once, for others; 0: the default
  tfrt_job_limits_t job_limits;    // of each of these
  size_t inline_limit;             // bytes that travel in a message unasked; 0: the default
  uint64_t window_size;            // bytes of a payload that may be under way to us; 0: the default
  // Called, with no lock held, when a client asks this process to drain; NULL: no client may.
  void (*on_drain)(void* self);
  void* on_drain_self;
  // Returns a chain (+1, never NULL) that is available if |host| has the device |name|, as
  // "cuda:0", or else an error; must not block. NULL: nobody asks this process.
  tfrt_async_value_t* (*check_device)(tfrt_host_context_t* host, tfrt_string_view_t name);
  // The transport encrypts its connections. Then no payload goes beside the transport, as GPUs'
  // libraries would send it.
  bool is_encrypted;
  // Where this process runs, at most 128 bytes: two that say the same try to lend each other memory
  // of devices instead of sending it (bulk_manager.h). Empty: this one doesn't.
  tfrt_string_view_t place;
  bool logs_events;  // one line when a peer or a job comes or goes (domain.h)
} tfrt_node_options_t;

// The numbers of things that are alive in a node because of other hosts. All zero when every job is
// over, but for |kept_jobs|.
typedef struct tfrt_node_counts_s {
  uint64_t objects;         // values that others know
  uint64_t remote_values;   // placeholders for values of others
  uint64_t outgoing_calls;  // run by others for us
  uint64_t incoming_calls;  // run by us for others
  uint64_t incoming_wants;  // values that others wait for
  uint64_t transfers;       // payloads on bulk channels, in both directions
  uint64_t jobs;            // that are not over
  uint64_t running_jobs;    // of those, that run something or follow a detached job; others ask
  uint64_t kept_jobs;       // detached ones that are over and have left their results
} tfrt_node_counts_t;

// Adds one reference to |node| and returns it. Thread-safe.
tfrt_node_t* tfrt_node_retain(tfrt_node_t* node);

// Drops one reference; NULL is allowed. A node must be drained first, and its transport too.
// Thread-safe.
void tfrt_node_release(tfrt_node_t* node);

// The node's incarnation. Thread-safe.
uint64_t tfrt_node_incarnation(const tfrt_node_t* node);

#endif  // TFRT_DISTRIBUTED_DOMAIN_NODE_H_
