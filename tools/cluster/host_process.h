// SPDX-License-Identifier: Apache-2.0
//
// The parts of a process of a cluster, worker and coordinator alike: a clock with timers, the
// network, kernels with a work queue, and the node that ties them to other processes.
//
//   timers (a thread) --+
//   gRPC transport -----+--> node --> sessions, jobs, calls
//   host context -------+
//
// Life:
//  1. Initialised: threads run; nothing is dialled and nobody can dial in yet.
//  2. Used through |node|: tfrt_node_listen(), tfrt_client_create().
//  3. Shut down: sessions say goodbye, calls under way end as errors, threads are joined.
//
// Thread rule: thread-compatible; what is in it is thread-safe.
// Failure rule: INVALID_ARGUMENT for options that can't work, RESOURCE_EXHAUSTED; a process
// that could not be initialised needs no shut-down.
#ifndef TFRT_TOOLS_CLUSTER_HOST_PROCESS_H_
#define TFRT_TOOLS_CLUSTER_HOST_PROCESS_H_

#include "distributed/host/node.h"
#include "distributed/security/certificates.h"
#include "host_runtime/async/timer_queue.h"
#include "host_runtime/host_context.h"

// How often processes show each other that they live, and the silence after which a peer is
// dead, in ms, unless flags say otherwise.
#define TFRT_HOST_PROCESS_HEARTBEAT_MS 1000
#define TFRT_HOST_PROCESS_SILENCE_MS 5000

typedef struct tfrt_host_process_options_s {
  tfrt_string_view_t name;         // for people: in logs and errors of others
  tfrt_string_view_t cluster_key;  // empty: none
  tfrt_certificate_files_t tls;    // no paths: plain text; copied, but read again when they change
  int64_t threads;                 // compute threads; 0: one per processor
  int64_t heartbeat_ms;            // from 1
  int64_t silence_ms;              // at least two heartbeats
  int64_t linger_ms;               // for saying goodbye at the end; 0: the protocol's default
  const char* data_directory;      // as in host_context.h; outlives the process, or NULL
  bool checks_types;               // of all arguments and results of kernels, at each run
  bool checks_races;               // of accesses of memory, likewise
  bool lends_memory;               // of devices, to processes of this machine
  tfrt_job_limits_t job_limits;    // as in node.h
  bool logs_events;                // the same
  void (*on_drain)(void* self);    // the same
  void* on_drain_self;
} tfrt_host_process_options_t;

typedef struct tfrt_host_process_s {
  tfrt_timer_queue_t timers;
  tfrt_transport_t* transport;
  tfrt_host_context_t* host;
  tfrt_node_t* node;
} tfrt_host_process_t;

// Sets |*out_options| to the defaults. Thread-safe.
void tfrt_host_process_options_initialize(tfrt_host_process_options_t* out_options);

// Makes |process| ready. Thread-compatible.
tfrt_status_t tfrt_host_process_initialize(tfrt_host_process_t* process,
                                           const tfrt_host_process_options_t* options)
    TFRT_MUST_USE;

// Says to those who ask the health service of gRPC whether |process| serves; while it listens it
// does at first. Thread-safe.
void tfrt_host_process_set_serving(tfrt_host_process_t* process, bool is_serving);

// Ends everything in |process|, and waits for it: bounded by the session's linger time, the kernels
// that run and, at 13 seconds, the network. Work that is not over by then is logged at *warning*
// and goes on. It uses |process| until the operating system's process ends, so |process| must not
// be on a stack that ends before. Thread-compatible.
void tfrt_host_process_shut_down(tfrt_host_process_t* process);

#endif  // TFRT_TOOLS_CLUSTER_HOST_PROCESS_H_
