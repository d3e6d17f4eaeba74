// SPDX-License-Identifier: Apache-2.0
//
// The same functions for bef_executor_small, which has no kernel that could use a device.
#include "tools/kernels/device_platforms.h"

static tfrt_status_t device_platforms_refuse(void) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "this executor has no kernels for devices; use bef_executor");
}

tfrt_status_t tfrt_device_platforms_load(const char* list) {
  return list ? device_platforms_refuse() : NULL;
}

tfrt_status_t tfrt_device_platforms_add(tfrt_host_context_t* host,
                                        const char* cuda_library_for_testing) {
  (void)host;
  if (!cuda_library_for_testing || cuda_library_for_testing[0] == '\0') return NULL;
  return device_platforms_refuse();
}
