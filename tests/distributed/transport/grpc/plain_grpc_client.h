// SPDX-License-Identifier: Apache-2.0
//
// gRPC by itself, the end that calls a plain_grpc_server.h. One connection, one completion queue,
// read by the calling thread; registered methods; no retries, which take gRPC a tenth of a small
// call's time; each unary call is one batch.
//
// Thread rule: thread-compatible.
// Failure rule: a wrong answer, or none within a minute, is an INTERNAL error.
#ifndef TFRT_TESTS_DISTRIBUTED_TRANSPORT_GRPC_PLAIN_GRPC_CLIENT_H_
#define TFRT_TESTS_DISTRIBUTED_TRANSPORT_GRPC_PLAIN_GRPC_CLIENT_H_

#include <stdint.h>

#include "distributed/transport/grpc/credentials.h"
#include "host_runtime/base/status.h"

// Bytes of each message.
#define PLAIN_GRPC_MESSAGE_SIZE 64

// Calls that plain_grpc_client_call() keeps on their way.
#define PLAIN_GRPC_OUTSTANDING 64

typedef struct plain_grpc_client_s plain_grpc_client_t;

// Sets |*out_client| to a client of the server at |address|, which it calls in the clear or as
// |credentials| say.
tfrt_status_t plain_grpc_client_allocate(const char* address,
                                         const tfrt_grpc_credentials_t* credentials,
                                         plain_grpc_client_t** out_client) TFRT_MUST_USE;

// Makes |count| calls that send a message and get it back.
tfrt_status_t plain_grpc_client_call(plain_grpc_client_t* client, int64_t count) TFRT_MUST_USE;

// Sends |count| messages over one stream, each with the hint that more come, so that gRPC puts
// them together; returns when the server has said that it has all of them.
tfrt_status_t plain_grpc_client_send(plain_grpc_client_t* client, int64_t count) TFRT_MUST_USE;

// Sends |count| messages over one stream, each when the one before has come back.
tfrt_status_t plain_grpc_client_bounce(plain_grpc_client_t* client, int64_t count) TFRT_MUST_USE;

// Gives back |client|; NULL is allowed.
void plain_grpc_client_free(plain_grpc_client_t* client);

#endif  // TFRT_TESTS_DISTRIBUTED_TRANSPORT_GRPC_PLAIN_GRPC_CLIENT_H_
