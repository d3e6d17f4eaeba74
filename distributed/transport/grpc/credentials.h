// SPDX-License-Identifier: Apache-2.0
//
// How a transport over gRPC proves who it is and hides what it says.
//
//   plain text  not at all: a host that listens so must refuse all interfaces but the loopback
//               one
//   TLS         mutual, version 1.3: both sides show a certificate of an authority that the
//               other trusts, the listener's must name the address that was dialled, and
//               not a byte of a peer that did not is looked at
//
// Thread rule: a value. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_CREDENTIALS_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_CREDENTIALS_H_

#include <stdint.h>

#include "distributed/security/certificate_check.h"
#include "distributed/tuning/tuning.h"

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

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_CREDENTIALS_H_
