// SPDX-License-Identifier: Apache-2.0
//
// The text of an address: what a user may write, what gRPC wants to be given, and why one
// can't be listened on.
//
//   text               meaning                        gRPC's target
//   127.0.0.1:8000     an IPv4 address and a port     ipv4:127.0.0.1:8000
//   [::1]:8000         an IPv6 address and a port     ipv6:[::1]:8000
//   [fe80::1%if]:80    of the interface "if"          ipv6:[fe80::1%25N]:80
//   name:8000          a name to be resolved          dns:///name:8000
//   unix:/path         a unix socket                  unix:/path
//
// Numbers never go through a resolver.
//
// Thread rule: thread-safe. Failure rule: INVALID_ARGUMENT names the text and the form.
#ifndef TFRT_DISTRIBUTED_TRANSPORT_GRPC_ADDRESS_H_
#define TFRT_DISTRIBUTED_TRANSPORT_GRPC_ADDRESS_H_

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "distributed/transport/transport.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

// Room for gRPC's form of an address with its NUL.
#define TFRT_GRPC_TARGET_SIZE (TFRT_TRANSPORT_ADDRESS_SIZE + 48)

// Writes gRPC's target for the address |text|, where others are to be dialled, into
// |out_target|. INVALID_ARGUMENT for what is no address, or has port 0. Thread-safe.
tfrt_status_t tfrt_grpc_address_target(tfrt_string_view_t text,
                                       char out_target[TFRT_GRPC_TARGET_SIZE]) TFRT_MUST_USE;

// Checks that |text| is an address to listen on and copies it, NUL-terminated, to
// |out_address|. INVALID_ARGUMENT; ALREADY_EXISTS for a unix socket that somebody listens on: gRPC
// would take its place, and nobody would get there any more. Thread-safe.
tfrt_status_t tfrt_grpc_address_check_listen(tfrt_string_view_t text,
                                             char out_address[TFRT_TRANSPORT_ADDRESS_SIZE])
    TFRT_MUST_USE;

// Writes |address|, an address to listen on, with |port| in place of its port into
// |out_address|. Thread-safe.
void tfrt_grpc_address_with_port(const char* address, int port,
                                 char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]);

typedef enum tfrt_grpc_address_kind_e {
  TFRT_GRPC_ADDRESS_OTHER = 0,  // a unix socket, or no address
  TFRT_GRPC_ADDRESS_NUMERIC,    // of IPv4 or IPv6, in numbers
  TFRT_GRPC_ADDRESS_NAME,       // has a name that must be looked up
} tfrt_grpc_address_kind_t;

// Returns the kind of |address|. Thread-safe.
tfrt_grpc_address_kind_t tfrt_grpc_address_kind(const char* address);

// Writes |address|, which is numeric, as the system's to |out_address|, which holds one of IPv4,
// too, and returns its size. Thread-safe.
socklen_t tfrt_grpc_address_to_socket(const char* address, struct sockaddr_in6* out_address);

// Returns the error (never OK) why |address|, an address to listen on, can't be listened
// on: ALREADY_EXISTS when it is in use. Asks the system by trying. Thread-safe.
tfrt_status_t tfrt_grpc_address_explain(const char* address) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_TRANSPORT_GRPC_ADDRESS_H_
