// SPDX-License-Identifier: Apache-2.0
//
// One process's part in the cluster: it has sessions with others, runs calls for them, and
// has calls run by them.
//
// Life:
//  1. Created from its parts, which outlive it.
//  2. Listens (a worker), or only dials (a coordinator).
//  3. refuse_jobs, if the jobs that run shall end in peace first.
//  4. close: refuses new work and ends its sessions in order; every call that is under way
//     ends, if need be as an error.
//  5. drain: waits for that. Then release.
//
// Thread rule: thread-safe.
// Failure rule: creation fails with RESOURCE_EXHAUSTED, or INVALID_ARGUMENT for options that
// can't work. What happens between hosts arrives as errors of values.
#ifndef TFRT_DISTRIBUTED_HOST_NODE_H_
#define TFRT_DISTRIBUTED_HOST_NODE_H_

#include "distributed/session/session_manager.h"
#include "distributed/transport/transport.h"
#include "host_runtime/async/timer_queue.h"
#include "host_runtime/host_context.h"

typedef struct tfrt_node_s tfrt_node_t;

// Jobs that may be open on a node at once, unless its options say otherwise.
#define TFRT_NODE_DEFAULT_MAX_JOBS 256u

// What one job may use on a node (job_budget.h); 0: no limit.
typedef struct tfrt_job_limits_s {
  uint64_t memory_bytes;
  uint32_t objects;
  uint32_t calls;
  uint32_t requests;
} tfrt_job_limits_t;

// What a node is made of. Allocator and pointers must outlive it; texts are copied.
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
  // Called, with no lock held, when somebody asks this process to drain; NULL: nobody may.
  void (*on_drain)(void* self);
  void* on_drain_self;
  // Returns a chain (+1, never NULL) that is available if |host| has the device |name|, as
  // "cuda:0", or else an error; must not block. NULL: nobody asks this process.
  tfrt_async_value_t* (*check_device)(tfrt_host_context_t* host, tfrt_string_view_t name);
  // What the transport carries is. Then no payload goes beside it, as GPUs' libraries would send
  // it.
  bool is_encrypted;
  bool logs_events;  // one line when a peer or a job comes or goes (event_log.h)
} tfrt_node_options_t;

// What is alive in a node because of others. All zero when every job is over.
typedef struct tfrt_node_counts_s {
  uint64_t objects;         // values that others know
  uint64_t remote_values;   // placeholders for values of others
  uint64_t outgoing_calls;  // run by others for us
  uint64_t incoming_calls;  // run by us for others
  uint64_t incoming_wants;  // values that others wait for
  uint64_t transfers;       // payloads on lanes, in both directions
} tfrt_node_counts_t;

// Sets |*out_options| to the defaults; allocator and pointers stay to be set. Thread-safe.
void tfrt_node_options_initialize(tfrt_node_options_t* out_options);

// Sets |*out_node| (+1) to a new node. Thread-safe.
tfrt_status_t tfrt_node_create(const tfrt_node_options_t* options, tfrt_node_t** out_node)
    TFRT_MUST_USE;

// Adds one reference to |node| and returns it. Thread-safe.
tfrt_node_t* tfrt_node_retain(tfrt_node_t* node);

// Drops one reference; NULL is allowed. A node must be drained first, and its transport too.
// Thread-safe.
void tfrt_node_release(tfrt_node_t* node);

// Lets others dial |address|; as tfrt_transport_listen(). Thread-safe.
tfrt_status_t tfrt_node_listen(tfrt_node_t* node, tfrt_string_view_t address,
                               char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) TFRT_MUST_USE;

// Sets the name by which others know this process, as tfrt_session_manager_set_name().
// Thread-safe.
tfrt_status_t tfrt_node_set_name(tfrt_node_t* node, tfrt_string_view_t name) TFRT_MUST_USE;

// Takes no new jobs any more, and tells the peers so. The jobs that run go on, with all that
// they need: tfrt_node_running_job_count() tells when they are over. Idempotent. Thread-safe.
void tfrt_node_refuse_jobs(tfrt_node_t* node);

// Refuses new work, closes all jobs and ends all sessions, saying goodbye. Idempotent.
// Thread-safe.
void tfrt_node_close(tfrt_node_t* node);

// True if nothing that close has left under way goes on any more. Thread-safe.
bool tfrt_node_is_drained(tfrt_node_t* node);

// Waits, after close, until the network is done. For a transport and timers that have
// threads of their own. What this has led to may still be on the host's work queue, which must
// be quiescent before the node is released. Thread-safe (from no callback).
void tfrt_node_drain(tfrt_node_t* node);

// The node's incarnation. Thread-safe.
uint64_t tfrt_node_incarnation(const tfrt_node_t* node);

// What is alive now. Thread-safe.
tfrt_node_counts_t tfrt_node_counts(tfrt_node_t* node);

// The number of jobs that are not over, of those among them that run something or follow one that
// is detached (the others only ask), of detached ones that are and have left their results, and
// of what happened between sessions. Thread-safe.
size_t tfrt_node_job_count(tfrt_node_t* node);
size_t tfrt_node_running_job_count(tfrt_node_t* node);
size_t tfrt_node_kept_count(tfrt_node_t* node);
void tfrt_node_session_counters(tfrt_node_t* node, tfrt_session_counters_t* out_counters);

#endif  // TFRT_DISTRIBUTED_HOST_NODE_H_
