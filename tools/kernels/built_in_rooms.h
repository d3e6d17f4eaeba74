// SPDX-License-Identifier: Apache-2.0
//
// The kernel rooms that are linked into a tool: all of the project's (built_in_rooms.c), or those
// of bef_executor_small, which are some of them (small_built_in_rooms.c). The build file of a tool
// chooses one.
//
// Thread rule: thread-compatible. Failure rule: a room that contradicts its op table fails.
#ifndef TFRT_TOOLS_KERNELS_BUILT_IN_ROOMS_H_
#define TFRT_TOOLS_KERNELS_BUILT_IN_ROOMS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Registers the kernels and types of these rooms. Thread-compatible.
tfrt_status_t tfrt_built_in_rooms_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_TOOLS_KERNELS_BUILT_IN_ROOMS_H_
