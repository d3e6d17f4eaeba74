// SPDX-License-Identifier: Apache-2.0
//
// gRPC as a part of this process: started with the first user, shut down with the last,
// and made to keep quiet. Its log lines go to the log as *debug*: everything that matters in them
// reaches a caller as an error, and an error is reported once.
//
// Thread rule: thread-safe. Failure rule: RESOURCE_EXHAUSTED.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_PROCESS_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_PROCESS_H_

#include "host_runtime/base/list.h"
#include "host_runtime/base/status.h"

// Starts gRPC, or adds a user. RESOURCE_EXHAUSTED where the system has too few descriptors or
// threads left for it: then there is no new user. Thread-safe.
tfrt_status_t tfrt_grpc_process_enter(void) TFRT_MUST_USE;

// Removes a user; with the last one, returns when gRPC has shut down. From no thread of
// gRPC's. Thread-safe.
void tfrt_grpc_process_leave(void);

// Waits for gRPC to give up a port, which it does once it gets no descriptor for a connection: it
// accepts none any more, and tells only its log (library_text.h).
typedef struct tfrt_grpc_accept_watch_s tfrt_grpc_accept_watch_t;
typedef void (*tfrt_grpc_accept_watch_fn_t)(tfrt_grpc_accept_watch_t* watch);
struct tfrt_grpc_accept_watch_s {
  tfrt_list_link_t link;
  tfrt_grpc_accept_watch_fn_t on_no_descriptor;
};

// Has |on_no_descriptor| called with |watch|, on a thread of gRPC's, whenever gRPC gives up a port
// of this process; it may not call gRPC. Where the environment keeps gRPC from logging errors
// (GRPC_VERBOSITY=NONE), it is not called. Thread-safe.
void tfrt_grpc_process_watch_accepting(tfrt_grpc_accept_watch_t* watch,
                                       tfrt_grpc_accept_watch_fn_t on_no_descriptor);
// Ends that; not called any more when this returns. Thread-safe.
void tfrt_grpc_process_unwatch_accepting(tfrt_grpc_accept_watch_t* watch);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_PROCESS_H_
