// SPDX-License-Identifier: Apache-2.0
//
// How a transport over gRPC proves who it is and hides what it says. So far in one way:
// not at all. Bytes travel in plain text, so whoever lets hosts listen has to refuse all
// but the loopback interface. Keys and certificates get their kind and fields here.
//
// Thread rule: a value. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_GRPC_CREDENTIALS_H_
#define TFRT_DISTRIBUTED_GRPC_CREDENTIALS_H_

typedef enum tfrt_grpc_credentials_kind_e {
  TFRT_GRPC_CREDENTIALS_PLAIN_TEXT = 0,
} tfrt_grpc_credentials_kind_t;

typedef struct tfrt_grpc_credentials_s {
  tfrt_grpc_credentials_kind_t kind;
} tfrt_grpc_credentials_t;

#endif  // TFRT_DISTRIBUTED_GRPC_CREDENTIALS_H_
