// SPDX-License-Identifier: Apache-2.0
//
// The suite that every transport must pass, over gRPC with TLS.
#include "tests/distributed/transport/grpc/suite_network.h"
#include "tests/support/test_main.h"

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("grpc_tls_transport_suite");
  tfrt_transport_suite_add(suite, &tfrt_suite_network_tls);
  return suite;
}
