// SPDX-License-Identifier: Apache-2.0
//
// gRPC by itself, the end that serves: what its C core can do with no runtime above it, for
// benchmarks to stand beside. One completion queue, read by one thread; registered methods; each
// unary call takes one batch.
//
//   /plain/echo    unary: the message goes back as it came
//   /plain/drain   a stream of messages; the answer is how many there were, and of how many bytes
//   /plain/bounce  a stream on which each message goes back as it came
//
// Life: started; served by one thread until another one stops it.
//
// Thread rule: thread-compatible, unless a function says otherwise; one server in a process.
// Failure rule: starting fails with UNAVAILABLE; calls that break are dropped.
#ifndef TFRT_TESTS_DISTRIBUTED_TRANSPORT_GRPC_PLAIN_GRPC_SERVER_H_
#define TFRT_TESTS_DISTRIBUTED_TRANSPORT_GRPC_PLAIN_GRPC_SERVER_H_

#include <stddef.h>
#include <stdint.h>

#include "distributed/transport/grpc/credentials.h"
#include "host_runtime/base/status.h"

#define PLAIN_GRPC_ECHO "/plain/echo"
#define PLAIN_GRPC_DRAIN "/plain/drain"
#define PLAIN_GRPC_BOUNCE "/plain/bounce"

// The answer to a stream that was drained, in the byte order of the machine.
typedef struct plain_grpc_drained_s {
  uint64_t messages;
  uint64_t bytes;
} plain_grpc_drained_t;

// Listens on a free port of the loopback interface, in the clear or as |credentials| say, and
// writes the address, with its NUL, into the |size| bytes at |out_address|.
tfrt_status_t plain_grpc_server_start(const tfrt_grpc_credentials_t* credentials, char* out_address,
                                      size_t size) TFRT_MUST_USE;

// Serves on the calling thread until the server is stopped, and gives it back.
void plain_grpc_server_serve(void);

// Ends what is served and has plain_grpc_server_serve() return. Thread-safe, but only once.
void plain_grpc_server_stop(void);

#endif  // TFRT_TESTS_DISTRIBUTED_TRANSPORT_GRPC_PLAIN_GRPC_SERVER_H_
