// SPDX-License-Identifier: Apache-2.0
#include "tools/kernels/device_platforms.h"

#include "embedding/gpu.h"

tfrt_status_t tfrt_device_platforms_add(tfrt_host_context_t* host,
                                        const char* cuda_library_for_testing) {
  return tfrt_gpu_devices_add(host, cuda_library_for_testing);
}
