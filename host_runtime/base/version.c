// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/version.h"

uint32_t tfrt_api_version(void) { return TFRT_API_VERSION; }

const char* tfrt_version(void) { return TFRT_VERSION; }

const void* tfrt_runtime_identity(void) {
  static const char identity = 0;
  return &identity;
}
