// SPDX-License-Identifier: Apache-2.0
//
// The smallest transport: messages between transports of one thread, without a copy, a fault or a
// clock. It is the pattern for others (docs/guides/transport.md); tests of distributed/ use the
// simulated network, which has all that.
//
//   network --> transport a, transport b ...      an address each, once they listen
//           --> stream    dialler's end <-> listener's end
//
// A write stays with its owner until the reader has asked for a message: then both have their
// callbacks. So a reader that doesn't ask holds the writer back.
//
// Life:
//  1. A network is allocated; transports are created in it, and used as any transport.
//  2. tfrt_memory_network_step() makes the callbacks, until there is nothing to do. A transport on
//  a
//     real network makes them on a thread of its own.
//  3. The transports are released, which makes the steps that are left; the network is freed.
//
// Thread rule: one thread. Failure rule: a dial where nobody listens is REFUSED.
#ifndef TFRT_TESTS_DISTRIBUTED_MEMORY_MEMORY_NETWORK_H_
#define TFRT_TESTS_DISTRIBUTED_MEMORY_MEMORY_NETWORK_H_

#include "distributed/transport/transport.h"
#include "host_runtime/base/allocator.h"

typedef struct tfrt_memory_network_s tfrt_memory_network_t;

// A new network; NULL when memory is out.
tfrt_memory_network_t* tfrt_memory_network_allocate(tfrt_allocator_t allocator);

// Gives |network| back; its transports are released, and so are all connections.
void tfrt_memory_network_free(tfrt_memory_network_t* network);

// A new transport (+1) in |network|; NULL when memory is out.
tfrt_transport_t* tfrt_memory_network_create_transport(tfrt_memory_network_t* network);

// Does the next thing that is to be done; false if there is none.
bool tfrt_memory_network_step(tfrt_memory_network_t* network);

#endif  // TFRT_TESTS_DISTRIBUTED_MEMORY_MEMORY_NETWORK_H_
