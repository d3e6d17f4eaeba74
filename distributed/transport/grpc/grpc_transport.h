// SPDX-License-Identifier: Apache-2.0
//
// The transport between real hosts (distributed/transport/transport.h): HTTP/2, by gRPC's C core.
//
// A connection is one call of the service Peer (proto/peer.proto) on a TCP connection of
// its own: CONTROL is its method Control, BULK its method Bulk. A message is the bytes of
// one protobuf message, so that any gRPC client can talk to a host. With one control thread at the
// listener, a CONTROL connection of two hosts has several calls, used in turn (bundle.h).
//
//   caller's threads          queue thread (each connection has one)        gRPC
//     write, receive  ----------------- start batch ----------------------->
//     close, abort    ---- post --->  settle: read, finish, tell  <-- events ---
//                                       |
//                                       +-> on_message, on_written, on_closed, accept
//
// Each completion queue has one thread at a time, and each connection lives on one queue:
// that is what makes callbacks come one at a time for each connection and never from
// inside of a call. Tasks that a callback causes may run on the same thread, behind it
// (distributed/threads/reader_pair.h). Bulk connections share the threads of control connections
// unless they are given their own. With their own, big messages come in beside small ones. But gRPC
// lets one idle thread at a time read all sockets of the process. With two threads a control
// message often passes from one to the other, which doubles the round trip on two processors.
//
// Life:
//  1. Created; gRPC is started in the process and the threads run.
//  2. Used through distributed/transport/transport.h.
//  3. Closed; drained, which waits for the tasks of callbacks, too; released: threads joined, gRPC
//     shut down.
// A connection that is still held then may only be released.
//
// The end that a dialler gets: REFUSED if the machine refuses the TCP connection, at once; REJECTED
// if the acceptor said no, or one side does not trust the other; NO_ANSWER if the time is up or no
// way leads there; RESET for all that broke later. A write to a peer that has stopped reading from
// its socket can't be called back from the kernel: its bytes stay borrowed, and on_closed waits,
// until the connection has stalled for |stall_limit_ms|.
//
// At a port in plain text the first message of a stream that brings no cluster key has at most 64
// KiB with all that is sent behind it; a longer one may break the connection (admission.h).
//
// Addresses: "127.0.0.1:8000", "[::1]:8000", "name:8000" and "unix:/path".
//
// Thread rule: thread-safe.
// Failure rule: as distributed/transport/transport.h. gRPC itself aborts when memory is out.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_GRPC_TRANSPORT_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_GRPC_TRANSPORT_H_

#include <stdint.h>

#include "distributed/transport/grpc/credentials.h"
#include "distributed/transport/transport.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"

typedef struct tfrt_grpc_transport_options_s {
  tfrt_grpc_credentials_t credentials;
  uint32_t control_thread_count;  // 1 to TFRT_GRPC_MAX_THREADS
  uint32_t bulk_thread_count;     // 0: bulk connections share the control threads
  int32_t stall_limit_ms;         // positive; for how long bytes may go nowhere
} tfrt_grpc_transport_options_t;

// Plain text, one thread for all, 10 seconds. Thread-safe.
tfrt_grpc_transport_options_t tfrt_grpc_transport_default_options(void);

// Creates a transport (+1) as |options| say. INVALID_ARGUMENT for options out of range,
// RESOURCE_EXHAUSTED when threads or memory are out. Thread-safe.
tfrt_status_t tfrt_grpc_transport_create(const tfrt_grpc_transport_options_t* options,
                                         tfrt_allocator_t allocator,
                                         tfrt_transport_t** out_transport) TFRT_MUST_USE;

// Sets whether gRPC's health service answers SERVING for |transport|, which
// tfrt_grpc_transport_create() has made, if it listens. At first it does. Thread-safe.
void tfrt_grpc_transport_set_serving(tfrt_transport_t* transport, bool is_serving);

// As tfrt_transport_drain(), of a |transport| that tfrt_grpc_transport_create() has made and that
// is closed, but waits for the ends of its connections for |limit_ms| at most: where memory is
// short, gRPC may never tell one. False: one is missing, and may still come. Then |transport| can't
// be released, nor may anything be freed that a handler of its connections uses. Thread-safe.
bool tfrt_grpc_transport_drain_within(tfrt_transport_t* transport, int64_t limit_ms) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_GRPC_TRANSPORT_H_
