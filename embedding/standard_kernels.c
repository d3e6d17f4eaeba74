// SPDX-License-Identifier: Apache-2.0
#include "embedding/standard_kernels.h"

#include "kernels/async/async_kernels.h"
#include "kernels/basic/basic_kernels.h"
#include "kernels/control_flow/control_flow_kernels.h"
#include "kernels/distributed/distributed_kernels.h"
#include "kernels/nn/nn_kernels.h"
#include "kernels/tensor/tensor_kernels.h"

tfrt_status_t tfrt_standard_kernels_register(tfrt_kernel_registry_t* registry) {
  TFRT_RETURN_IF_ERROR(tfrt_basic_kernels_register(registry));
  TFRT_RETURN_IF_ERROR(tfrt_control_flow_kernels_register(registry));
  TFRT_RETURN_IF_ERROR(tfrt_async_kernels_register(registry));
  TFRT_RETURN_IF_ERROR(tfrt_tensor_kernels_register(registry));
  TFRT_RETURN_IF_ERROR(tfrt_nn_kernels_register(registry));
  return tfrt_distributed_kernels_register(registry);
}
