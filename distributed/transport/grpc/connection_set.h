// SPDX-License-Identifier: Apache-2.0
//
// The connections of a transport whose on_closed is still to come. So close finds all of them, and
// drain knows when the last one is gone.
//
// Life: initialised; connections are added until the set is closed, and each removes itself after
// its on_closed; deinitialised when it is empty.
//
// Thread rule: thread-safe after initialisation. Locks: the set's is taken before that of
// a connection, never the other way round.
// Failure rule: adding to a closed set is refused.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_CONNECTION_SET_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_CONNECTION_SET_H_

#include <stdbool.h>

#include "host_runtime/base/list.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/sync.h"

typedef struct tfrt_grpc_connection_s tfrt_grpc_connection_t;

typedef struct tfrt_grpc_connection_set_s {
  tfrt_mutex_t mutex;
  tfrt_condition_t emptied;
  tfrt_list_link_t connections;  // guarded by |mutex|
  bool is_closed;                // guarded by |mutex|
} tfrt_grpc_connection_set_t;

// Makes |set| an open one without members. Thread-compatible.
void tfrt_grpc_connection_set_initialize(tfrt_grpc_connection_set_t* set);

// Gives back |set|, which is empty. Thread-compatible.
void tfrt_grpc_connection_set_deinitialize(tfrt_grpc_connection_set_t* set);

// Adds |connection|, which must live until it is removed, and returns true, or returns
// false if |set| is closed. Thread-safe.
bool tfrt_grpc_connection_set_add(tfrt_grpc_connection_set_t* set,
                                  tfrt_grpc_connection_t* connection) TFRT_MUST_USE;

// Removes |connection|, a member. Thread-safe.
void tfrt_grpc_connection_set_remove(tfrt_grpc_connection_set_t* set,
                                     tfrt_grpc_connection_t* connection);

// Closes |set| and aborts all members; idempotent. Thread-safe.
void tfrt_grpc_connection_set_close(tfrt_grpc_connection_set_t* set);

// Waits until |set| is empty, at most until |deadline_ns| of the system's clock
// (TFRT_TIME_INFINITE: for ever). Returns whether it is. Thread-safe.
bool tfrt_grpc_connection_set_drain(tfrt_grpc_connection_set_t* set, int64_t deadline_ns)
    TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_CONNECTION_SET_H_
