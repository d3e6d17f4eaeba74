// SPDX-License-Identifier: Apache-2.0
#include "tools/kernels/kernel_rooms.h"

#include "tools/kernels/built_in_rooms.h"
#include "tools/kernels/shared_libraries.h"

tfrt_status_t tfrt_kernel_rooms_register(tfrt_kernel_registry_t* registry) {
  // kernel_rooms_test shows that no name is there twice.
  tfrt_kernel_registry_set_trust(registry, true);
  tfrt_status_t status = tfrt_built_in_rooms_register(registry);
  tfrt_kernel_registry_set_trust(registry, false);
  return status ? status : tfrt_shared_libraries_register(registry);
}
