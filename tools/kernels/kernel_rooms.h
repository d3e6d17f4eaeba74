// SPDX-License-Identifier: Apache-2.0
//
// All kernel rooms of the project, and the kernel libraries that were loaded (shared_libraries.h),
// in one place: what the mains hand to the kernel registry.
//
// Thread rule: thread-compatible. Failure rule: a room that contradicts its op table fails.
#ifndef TFRT_TOOLS_KERNELS_KERNEL_ROOMS_H_
#define TFRT_TOOLS_KERNELS_KERNEL_ROOMS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Registers the kernels and types of all rooms and of all loaded libraries. Thread-compatible.
tfrt_status_t tfrt_kernel_rooms_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_KERNELS_KERNEL_ROOMS_H_
