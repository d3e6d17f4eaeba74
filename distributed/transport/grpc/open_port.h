// SPDX-License-Identifier: Apache-2.0
//
// A port that stays open: a listener (listener.h), and another one in its place when gRPC gives the
// port up, as it does once it gets no descriptor for a connection.
//
//   LISTENING --no descriptor--> FULL --room--> LISTENING, with a new listener; the old one keeps
//       |                          |            the calls that it has, and ends with the last
//       +---------close------------+--> CLOSED
//
// Anybody who can connect can use up the descriptors of this process, without a key or a
// certificate. So some are kept in reserve, for the process's own files and dials while it is FULL,
// and for the new listener. Silent connections end after the handshake's limit
// (channel_arguments.h), which makes room. A dialler that connects meanwhile waits in the system's
// queue, is reset when the port changes hands, and comes again.
//
// Life: initialised, with a thread of its own; closed once; drained; deinitialised.
//
// Thread rule: thread-safe but for its life. Failure rule: as tfrt_grpc_listener_allocate(), and
// RESOURCE_EXHAUSTED without threads.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_OPEN_PORT_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_OPEN_PORT_H_

#include <stdbool.h>
#include <stdint.h>

#include "distributed/transport/grpc/listener.h"
#include "distributed/transport/grpc/process.h"
#include "distributed/transport/transport.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"

typedef enum tfrt_grpc_open_port_state_e {
  TFRT_GRPC_OPEN_PORT_LISTENING = 0,
  TFRT_GRPC_OPEN_PORT_FULL,
  TFRT_GRPC_OPEN_PORT_CLOSED,
} tfrt_grpc_open_port_state_t;

typedef struct tfrt_grpc_open_port_s {
  tfrt_grpc_listener_options_t options;       // its address is |address|
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];  // with the port that was given
  tfrt_allocator_t allocator;
  tfrt_grpc_accept_watch_t watch;
  tfrt_thread_t thread;
  int reserve[TFRT_GRPC_RESERVED_DESCRIPTORS];  // -1: not held; belongs to the thread
  int64_t silent_until_ns;                      // the same
  tfrt_mutex_t mutex;
  tfrt_condition_t changed;
  tfrt_grpc_open_port_state_t state;  // guarded by |mutex|, as what follows
  tfrt_list_link_t listeners;         // the current one last; changed by the thread alone
  bool is_serving;
} tfrt_grpc_open_port_t;

// Makes |port| listen as |options| say, whose address is copied, and writes the address at which
// others can dial into |out_address|. Thread-compatible.
tfrt_status_t tfrt_grpc_open_port_initialize(tfrt_grpc_open_port_t* port,
                                             const tfrt_grpc_listener_options_t* options,
                                             tfrt_allocator_t allocator,
                                             char out_address[TFRT_TRANSPORT_ADDRESS_SIZE])
    TFRT_MUST_USE;

// Sets the answer of the health service from now on. Thread-safe.
void tfrt_grpc_open_port_set_serving(tfrt_grpc_open_port_t* port, bool is_serving);

// Stops listening and cancels all calls. To be called once. From no queue's thread. Thread-safe.
void tfrt_grpc_open_port_close(tfrt_grpc_open_port_t* port);

// Waits until all calls of |port|, which is closed, are over. From no queue's thread. Thread-safe.
void tfrt_grpc_open_port_drain(tfrt_grpc_open_port_t* port);

// Gives back what |port|, which is drained, holds. Thread-compatible.
void tfrt_grpc_open_port_deinitialize(tfrt_grpc_open_port_t* port);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_OPEN_PORT_H_
