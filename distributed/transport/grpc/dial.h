// SPDX-License-Identifier: Apache-2.0
//
// The dialler's side of a connection.
//
// A channel of its own (so a TCP connection of its own), the call on it, the time limit for an
// answer, and what gRPC's last word means.
//
//   gRPC's status             and                                    reported as
//   OK                                                               ENDED
//   any                       the time was up before an answer       NO_ANSWER
//   any                       the listener marked it, no message     REJECTED
//   UNAUTHENTICATED, PERMISSION_DENIED, UNIMPLEMENTED, no message    REJECTED
//   UNAVAILABLE               before an answer, with a text          REFUSED, or NO_ANSWER
//                             (grpc_library.h): refused; no way
//   UNAVAILABLE               no trust, the same                     REJECTED, as
//                                                                    UNAUTHENTICATED
//   UNAVAILABLE               turned away, the same: a guess         RESET, likewise; UNAVAILABLE
//                                                                    where it took too long
//   UNAVAILABLE               no descriptor is left here             RESET, as RESOURCE_EXHAUSTED
//   any other                                                        RESET
//
// Thread rule: see the function. Failure rule: see distributed/transport/transport.h.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_DIAL_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_DIAL_H_

#include "distributed/transport/grpc/connection.h"

// The context that a transport gives to each of its dialled connections.
typedef struct tfrt_grpc_dial_context_s {
  tfrt_grpc_queue_t* queue;
  tfrt_grpc_connection_set_t* set;
  tfrt_grpc_channel_settings_t settings;
  tfrt_allocator_t allocator;
} tfrt_grpc_dial_context_t;

// Creates a connection (+1) that begins to dial. INVALID_ARGUMENT for an address that is
// none, FAILED_PRECONDITION when the set is closed. Thread-safe.
tfrt_status_t tfrt_grpc_dial(const tfrt_grpc_dial_context_t* context,
                             const tfrt_transport_dial_options_t* options,
                             tfrt_transport_handler_t* handler,
                             tfrt_transport_connection_t** out_connection) TFRT_MUST_USE;

// Why the listener at |address| closed a connection, dialled with |credentials|, |took_ns| after
// the dial had begun, which it doesn't say (+1). UNAVAILABLE if that is the time that it gives
// strangers; else it is about trust. Thread-safe.
tfrt_status_t tfrt_grpc_dial_turned_away(const tfrt_grpc_credential_set_t* credentials,
                                         const char* address, int64_t took_ns) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_DIAL_H_
