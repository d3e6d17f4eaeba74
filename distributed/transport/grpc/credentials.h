// SPDX-License-Identifier: Apache-2.0
//
// How a transport over gRPC proves who it is and hides what it says:
//
//   plain text  not at all: a host that listens so must refuse all interfaces but the loopback
//               one
//   TLS         mutual, version 1.3: both sides show a certificate of an authority that the
//               other trusts, the listener's must name the address that was dialled, and
//               not a byte of a peer that did not is looked at
//
// The *set* holds the same as gRPC's objects, made once, for both sides. With TLS, a watch looks
// after the files: connections that exist keep what they began with when a file changes; new ones
// begin with the new files.
//
// TLS versions below 1.3 are refused. gRPC's C interface has no setting for that, but one for the
// cipher suites of older versions. It gets a suite that needs a shared secret, which nobody has, so
// no older version can be agreed upon. That setting is the process's environment variable
// GRPC_SSL_CIPHER_SUITES, which gRPC reads once.
//
// Life of a set: initialised when gRPC has started, before channels and servers; deinitialised
// after them, before gRPC shuts down.
//
// Thread rule: the contents of a set may be used by any thread; initialising one with TLS writes to
// the process's environment. Failure rule: INVALID_ARGUMENT for TLS without files, errors of file.h
// for a file that can't be read, RESOURCE_EXHAUSTED without memory, descriptors or threads.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_CREDENTIALS_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_CREDENTIALS_H_

#include <stdbool.h>
#include <stdint.h>

#include "distributed/security/certificate_check.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"

typedef enum tfrt_grpc_credentials_kind_e {
  TFRT_GRPC_CREDENTIALS_PLAIN_TEXT = 0,
  TFRT_GRPC_CREDENTIALS_TLS = 1,
} tfrt_grpc_credentials_kind_t;

typedef struct tfrt_grpc_credentials_s {
  tfrt_grpc_credentials_kind_t kind;
  // For TLS: copied when a transport is created, read again when they change. Bad files only make
  // handshakes fail here; tfrt_certificate_check() finds what is wrong with them.
  tfrt_certificate_files_t files;
  uint32_t reload_s;  // 0: TFRT_GRPC_CREDENTIALS_RELOAD_S
} tfrt_grpc_credentials_t;

typedef struct tfrt_certificate_watch_s tfrt_certificate_watch_t;

typedef struct tfrt_grpc_credential_set_s {
  struct grpc_channel_credentials* channel;
  struct grpc_server_credentials* server;
  tfrt_certificate_watch_t* watch;  // NULL: no TLS
  tfrt_certificate_files_t files;   // those that a set with TLS was made of; the texts are its own
  bool is_encrypted;
} tfrt_grpc_credential_set_t;

// Makes |set| what |credentials| say. Thread-compatible.
tfrt_status_t tfrt_grpc_credential_set_initialize(tfrt_grpc_credential_set_t* set,
                                                  const tfrt_grpc_credentials_t* credentials)
    TFRT_MUST_USE;

// Gives back what |set| holds; one of zeroes holds nothing. Thread-compatible.
void tfrt_grpc_credential_set_deinitialize(tfrt_grpc_credential_set_t* set);

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_CREDENTIALS_H_
