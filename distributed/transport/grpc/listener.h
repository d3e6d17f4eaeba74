// SPDX-License-Identifier: Apache-2.0
//
// A gRPC server that offers the service Peer and turns each call into a connection; beside it, the
// health service.
//
// gRPC hands out a call only in answer to a request for one. Each queue keeps a few requests open
// for each method that it serves. Each request is a *slot*, which asks again as soon as it got a
// call:
//
//   slot:  asking --call--> judged (connection.h) --> asking ... --shutdown--> retired
//
// One more slot takes calls of methods that don't exist, which would otherwise wait for
// ever.
//
// Life:
//  1. Created: it listens.
//  2. Retired, perhaps: it listens no more; its calls go on. Closed: its calls are cancelled, too.
//  3. Drained: all slots are retired.
//  4. Freed, before the queues are shut down.
//
// Thread rule: thread-safe. Failure rule: creation fails as tfrt_transport_listen() does.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_LISTENER_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_LISTENER_H_

#include "distributed/transport/grpc/connection.h"
#include "distributed/transport/grpc/grpc_library.h"
#include "distributed/transport/grpc/queue.h"
#include "distributed/transport/transport.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

// Made and freed by listener.c, which has the rest of it.
typedef struct tfrt_grpc_listener_s {
  tfrt_list_link_t link;  // for the owner's list
} tfrt_grpc_listener_t;

// The queues of a transport; borrowed.
typedef struct tfrt_grpc_queues_s {
  tfrt_grpc_queue_t** control;
  uint32_t control_count;
  tfrt_grpc_queue_t** bulk;  // may be |control|
  uint32_t bulk_count;
} tfrt_grpc_queues_t;

typedef struct tfrt_grpc_listener_options_s {
  tfrt_string_view_t address;
  tfrt_transport_acceptor_t* acceptor;
  tfrt_grpc_queues_t queues;
  tfrt_grpc_connection_set_t* set;
  tfrt_grpc_channel_settings_t settings;
} tfrt_grpc_listener_options_t;

// Begins to listen as |options| say and writes the address at which others can dial into
// |out_address|. Thread-safe.
tfrt_status_t tfrt_grpc_listener_allocate(const tfrt_grpc_listener_options_t* options,
                                          tfrt_allocator_t allocator,
                                          char out_address[TFRT_TRANSPORT_ADDRESS_SIZE],
                                          tfrt_grpc_listener_t** out_listener) TFRT_MUST_USE;

// Sets the answer of the health service from now on. Thread-safe.
void tfrt_grpc_listener_set_serving(tfrt_grpc_listener_t* listener, bool is_serving);

// How far a listener is stopped.
typedef enum tfrt_grpc_listener_stop_e {
  TFRT_GRPC_LISTENER_RETIRED,  // it listens no more, and takes no new call; existing calls go on
  TFRT_GRPC_LISTENER_CLOSED,   // the same, and all calls are cancelled
} tfrt_grpc_listener_stop_t;

// Stops |listener| as |stop| says; CLOSED is to be called once. Thread-safe.
void tfrt_grpc_listener_stop(tfrt_grpc_listener_t* listener, tfrt_grpc_listener_stop_t stop);

// Waits until |listener|, which is stopped, asks for no call any more and all of its calls are
// over, at most until |deadline_ns| of the system's clock (TFRT_TIME_INFINITE: for ever; 0: it
// doesn't wait). Returns whether they are. From no queue's thread. Thread-safe.
bool tfrt_grpc_listener_drain(tfrt_grpc_listener_t* listener, int64_t deadline_ns);

// Gives back |listener|, which is drained. Thread-compatible.
void tfrt_grpc_listener_free(tfrt_grpc_listener_t* listener);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_LISTENER_H_
