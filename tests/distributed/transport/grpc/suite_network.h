// SPDX-License-Identifier: Apache-2.0
//
// Two transports over gRPC on the loopback interface, for the suite that every transport must
// pass: in plain text, and over TLS with certificates made for each test.
//
// Thread rule and failure rule: see tests/distributed/transport/transport_suite.h.
#ifndef TFRT_TESTS_DISTRIBUTED_TRANSPORT_GRPC_SUITE_NETWORK_H_
#define TFRT_TESTS_DISTRIBUTED_TRANSPORT_GRPC_SUITE_NETWORK_H_

#include "tests/distributed/transport/transport_suite.h"

extern const tfrt_transport_suite_network_vtable_t tfrt_suite_network_plain_text;
extern const tfrt_transport_suite_network_vtable_t tfrt_suite_network_tls;

#endif  // TFRT_TESTS_DISTRIBUTED_TRANSPORT_GRPC_SUITE_NETWORK_H_
