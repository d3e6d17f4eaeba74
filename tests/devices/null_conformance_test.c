// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite over the device that computes nothing.
#include "devices/null/null_platform.h"
#include "tests/devices/conformance.h"

Suite* tfrt_test_suite(void) {
  static const tfrt_conformance_backend_t backend = {
      .name = "null",
      .open = tfrt_null_platform_open,
      .features = 0,
  };
  return tfrt_conformance_suite(&backend);
}
