// SPDX-License-Identifier: Apache-2.0
//
// The standard health service of gRPC, for launchers and probes: grpc.health.v1.Health.
//
//   Check(service)   -> one status
//   Watch(service)   -> the status, then each change of it, until the caller goes
//
//   service          "" or "tfrt.peer.v1.Peer": SERVING, or NOT_SERVING while the process drains
//                    another: Check ends with NOT_FOUND, Watch says SERVICE_UNKNOWN
//
// Requests and responses have one field each, so they are read and written here by hand. Any
// process that can connect may ask: no cluster key is needed, and only the status is answered. So
// that none of them takes more than a little memory, 256 calls may be open at a time, and a further
// one ends with RESOURCE_EXHAUSTED; one whose request does not come within 5 s ends with
// DEADLINE_EXCEEDED.
//
// Life:
//  1. Initialised beside its server, serving.
//  2. Given calls by the listener, told by the process whether it serves.
//  3. Drained when the server has cancelled its calls; deinitialised.
//
// Thread rule: as each function says. Failure rule: a call for which memory is out ends with
// RESOURCE_EXHAUSTED.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_HEALTH_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_HEALTH_H_

#include <grpc/grpc.h>

#include "distributed/transport/grpc/queue.h"
#include "host_runtime/base/list.h"

#define TFRT_GRPC_HEALTH_CHECK_METHOD "/grpc.health.v1.Health/Check"
#define TFRT_GRPC_HEALTH_WATCH_METHOD "/grpc.health.v1.Health/Watch"

typedef struct tfrt_grpc_health_s {
  tfrt_allocator_t allocator;
  tfrt_grpc_queue_t* queue;  // +0
  tfrt_mutex_t mutex;
  tfrt_condition_t changed;
  size_t busy;                // guarded by |mutex|: calls, and |told| while it is posted
  bool is_serving;            // guarded by |mutex|
  bool is_posted;             // guarded by |mutex|
  tfrt_grpc_event_t told;     // tells all watchers
  tfrt_list_link_t watchers;  // belongs to the queue's thread
  size_t call_count;          // the same: calls that are open
} tfrt_grpc_health_t;

// Makes |health| one whose calls are bound to |queue|, which outlives it. Thread-compatible.
void tfrt_grpc_health_initialize(tfrt_grpc_health_t* health, tfrt_grpc_queue_t* queue,
                                 tfrt_allocator_t allocator);

// Answers |call| (taken over), to one of the methods. Belongs to the queue's thread.
void tfrt_grpc_health_take_call(tfrt_grpc_health_t* health, grpc_call* call, bool is_watch);

// Says whether the process serves from now on. Thread-safe.
void tfrt_grpc_health_set_serving(tfrt_grpc_health_t* health, bool is_serving);

// Waits until no call is under way any more, which the server has cancelled. From no queue's
// thread. Thread-safe.
void tfrt_grpc_health_drain(tfrt_grpc_health_t* health);

// True if tfrt_grpc_health_drain() would not wait. Thread-safe.
bool tfrt_grpc_health_is_drained(tfrt_grpc_health_t* health);

// Gives back |health|, which is drained. Thread-compatible.
void tfrt_grpc_health_deinitialize(tfrt_grpc_health_t* health);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_HEALTH_H_
