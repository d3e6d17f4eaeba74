// SPDX-License-Identifier: Apache-2.0
//
// The kernel rooms of bef_executor_small: all that a program needs that works on scalars, and
// TFRT's test kernels; neither tensors nor other hosts.
#include "kernels/basic/basic_kernels.h"
#include "kernels/control_flow/control_flow_kernels.h"
#include "kernels/test/test_kernels.h"
#include "tools/kernels/built_in_rooms.h"

tfrt_status_t tfrt_built_in_rooms_register(tfrt_kernel_registry_t* registry) {
  TFRT_RETURN_IF_ERROR(tfrt_basic_kernels_register(registry));
  TFRT_RETURN_IF_ERROR(tfrt_control_flow_kernels_register(registry));
  return tfrt_test_kernels_register(registry);
}
