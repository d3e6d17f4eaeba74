// SPDX-License-Identifier: Apache-2.0
//
// How gRPC is set up for this transport, on both sides: what is switched off because the
// layers above do it (retries, keepalive, service configuration, compression), and the
// windows, which fit messages of one MiB.
//
// Thread rule: thread-safe. Failure rule: none fails; gRPC aborts when memory is out.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_CHANNEL_ARGUMENTS_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_CHANNEL_ARGUMENTS_H_

#include <grpc/grpc.h>
#include <stdint.h>

#include "distributed/transport/grpc/credential_set.h"

// The methods of the service Peer (proto/peer.proto).
#define TFRT_GRPC_CONTROL_METHOD "/tfrt.peer.v1.Peer/Control"
#define TFRT_GRPC_BULK_METHOD "/tfrt.peer.v1.Peer/Bulk"

typedef struct tfrt_grpc_channel_settings_s {
  const tfrt_grpc_credential_set_t* credentials;  // outlives what is made with it
  // For how long the kernel may fail to pass on bytes before the connection is broken.
  int32_t stall_limit_ms;
} tfrt_grpc_channel_settings_t;

// Makes a channel to |target| that shares its TCP connection with no other. It is closed
// by grpc_channel_destroy(). Thread-safe.
grpc_channel* tfrt_grpc_channel_open(const char* target,
                                     const tfrt_grpc_channel_settings_t* settings);

// Makes a server that has not started. Thread-safe.
grpc_server* tfrt_grpc_server_open(const tfrt_grpc_channel_settings_t* settings);

// Makes |server| listen on |address| when it starts, and returns the port, or 0 if that
// does not work. Thread-compatible.
int tfrt_grpc_server_bind(grpc_server* server, const char* address,
                          const tfrt_grpc_channel_settings_t* settings);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_CHANNEL_ARGUMENTS_H_
