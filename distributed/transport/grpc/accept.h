// SPDX-License-Identifier: Apache-2.0
//
// The listener's side of a connection.
//
// A call that somebody made here, shown to the acceptor before a byte of a message is read, and
// then accepted or rejected.
//
//   accepted   initial metadata at once: that is the answer for which the dialler waits
//   rejected   the acceptor's code and message as the stream's status, with a mark in its
//              trailing metadata that tells a rejection from an end
//
// Thread rule: see the function. Failure rule: see distributed/transport/transport.h.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_ACCEPT_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_ACCEPT_H_

#include "distributed/transport/grpc/connection.h"

// The most names and values that one stream may come with.
#define TFRT_GRPC_MAX_METADATA 32

// The context that a listener gives to each call that it takes; borrowed.
typedef struct tfrt_grpc_accept_context_s {
  tfrt_transport_acceptor_t* acceptor;  // NULL: for methods that do not exist
  tfrt_grpc_queue_t* queue;             // the call is bound to it
  tfrt_grpc_connection_set_t* set;
  tfrt_grpc_admission_t* admission;  // NULL: gRPC accepts
  bool may_bundle;                   // all calls of the method come on |queue|
  tfrt_allocator_t allocator;
} tfrt_grpc_accept_context_t;

// Makes |call| (taken over) another stream of a connection, if it comes as that (bundle.h); else a
// connection of |kind|, and shows it with |metadata| to the acceptor of
// |context|. With no acceptor, the call is for a method that does not exist, and is rejected as
// that. Belongs to the queue's thread.
void tfrt_grpc_accept_take_call(grpc_call* call, tfrt_transport_kind_t kind,
                                const grpc_metadata_array* metadata,
                                const tfrt_grpc_accept_context_t* context);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_ACCEPT_H_
