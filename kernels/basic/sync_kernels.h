// SPDX-License-Identifier: Apache-2.0
//
// The synchronous forms of the basic kernels: constants, arithmetic, comparisons and casts on
// plain values, for functions that are `tfrt.sync`. Private to this room.
//
// Thread rule: kernels are thread-safe. Failure rule: a kernel's failure ends its call.
#ifndef TFRT_KERNELS_BASIC_SYNC_KERNELS_H_
#define TFRT_KERNELS_BASIC_SYNC_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Registers them all in |registry|, which has the asynchronous ones. Thread-compatible.
tfrt_status_t tfrt_basic_sync_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_BASIC_SYNC_KERNELS_H_
