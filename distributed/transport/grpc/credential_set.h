// SPDX-License-Identifier: Apache-2.0
//
// A transport's credentials as gRPC's objects, for both sides, made once: with TLS, a
// watch looks after the files (certificate_watch.h), and all channels share it.
//
// Connections that exist keep what they began with when a file changes; new ones begin with
// the new files.
//
// TLS versions below 1.3 are refused. gRPC's C interface has no setting for that, but one for the
// cipher suites of older versions. It gets a suite that needs a shared secret, which nobody has, so
// no older version can be agreed upon. That setting is the process's environment variable
// GRPC_SSL_CIPHER_SUITES, which gRPC reads once.
//
// Life: initialised when gRPC has started, before channels and servers; deinitialised after
// them, before gRPC shuts down.
//
// Thread rule: what is in it may be used by any thread; initialising with TLS writes to the
// process's environment. Failure rule: INVALID_ARGUMENT for TLS without files, the watch's errors
// for files that can't be read.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_CREDENTIAL_SET_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_CREDENTIAL_SET_H_

#include <grpc/grpc_security.h>
#include <stdbool.h>

#include "distributed/transport/grpc/certificate_watch.h"
#include "distributed/transport/grpc/credentials.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"

typedef struct tfrt_grpc_credential_set_s {
  grpc_channel_credentials* channel;
  grpc_server_credentials* server;
  tfrt_certificate_watch_t* watch;  // NULL: no TLS
  bool is_encrypted;
} tfrt_grpc_credential_set_t;

// Makes |set| what |credentials| say. Thread-compatible.
tfrt_status_t tfrt_grpc_credential_set_initialize(tfrt_grpc_credential_set_t* set,
                                                  const tfrt_grpc_credentials_t* credentials)
    TFRT_MUST_USE;

// Gives back what |set| holds; one of zeroes holds nothing. Thread-compatible.
void tfrt_grpc_credential_set_deinitialize(tfrt_grpc_credential_set_t* set);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_CREDENTIAL_SET_H_
