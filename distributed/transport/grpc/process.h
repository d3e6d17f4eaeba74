// SPDX-License-Identifier: Apache-2.0
//
// gRPC as a part of this process: started with the first user, shut down with the last,
// and made to keep quiet. What gRPC has to say goes to the log as *debug*: all that
// matters of it reaches somebody as an error, and an error is told once.
//
// Thread rule: thread-safe. Failure rule: RESOURCE_EXHAUSTED.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_PROCESS_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_PROCESS_H_

#include "host_runtime/base/status.h"

// Starts gRPC, or adds a user. RESOURCE_EXHAUSTED where the system has too few descriptors or
// threads left for it: then there is no new user. Thread-safe.
tfrt_status_t tfrt_grpc_process_enter(void) TFRT_MUST_USE;

// Removes a user; with the last one, returns when gRPC has shut down. From no thread of
// gRPC's. Thread-safe.
void tfrt_grpc_process_leave(void);

// Has |on_deaf| called with |self|, on a thread of gRPC's, when gRPC gives up a port: once it gets
// no descriptor for somebody who dials, it accepts nobody any more, and tells only its log. NULL:
// nobody. Where the environment has gRPC talk (GRPC_VERBOSITY), nobody is called. Thread-safe.
void tfrt_grpc_process_set_on_deaf(void (*on_deaf)(void* self), void* self);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_PROCESS_H_
