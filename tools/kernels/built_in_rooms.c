// SPDX-License-Identifier: Apache-2.0
#include "tools/kernels/built_in_rooms.h"

#include "embedding/standard_kernels.h"
#include "kernels/device/device_kernels.h"
#include "kernels/test/test_kernels.h"

tfrt_status_t tfrt_built_in_rooms_register(tfrt_kernel_registry_t* registry) {
  TFRT_RETURN_IF_ERROR(tfrt_standard_kernels_register(registry));
  TFRT_RETURN_IF_ERROR(tfrt_device_kernels_register(registry));
  return tfrt_test_kernels_register(registry);
}
