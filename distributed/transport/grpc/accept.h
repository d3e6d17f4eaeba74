// SPDX-License-Identifier: Apache-2.0
//
// The listener's side of a connection: a call that somebody made here, shown to the
// acceptor before a byte of a message is read, and then accepted or rejected.
//
//   accepted   initial metadata at once: that is the answer for which the dialler waits
//   rejected   the acceptor's code and message as the stream's status, with a mark in its
//              trailing metadata that tells a rejection from an end
//
// Thread rule and failure rule: see connection.h.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_ACCEPT_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_ACCEPT_H_

#include <grpc/grpc.h>

#include "distributed/transport/grpc/connection.h"
#include "distributed/transport/grpc/connection_set.h"
#include "distributed/transport/grpc/queue.h"
#include "distributed/transport/transport.h"
#include "host_runtime/base/allocator.h"

// The most names and values that one stream may come with.
#define TFRT_GRPC_MAX_METADATA 32

// Makes |call| (taken over), which is bound to |queue|, a connection of |kind| in |set|,
// and shows it with |metadata| to |acceptor|. With no acceptor, the call is for a method
// that does not exist, and is rejected as that. Belongs to the queue's thread.
void tfrt_grpc_accept_take_call(grpc_call* call, tfrt_transport_kind_t kind,
                                const grpc_metadata_array* metadata,
                                tfrt_transport_acceptor_t* acceptor, tfrt_grpc_queue_t* queue,
                                tfrt_grpc_connection_set_t* set, tfrt_allocator_t allocator);

// Gives back what only a listener's side has. Belongs to the queue's thread.
void tfrt_grpc_accept_deinitialize(tfrt_grpc_connection_t* connection);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_ACCEPT_H_
