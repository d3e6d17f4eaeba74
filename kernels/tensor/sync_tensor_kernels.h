// SPDX-License-Identifier: Apache-2.0
//
// Shapes and tensors in functions that are `tfrt.sync`: the kernels of ops/sync_tensor_ops.c.
// They do what their namesakes do under chains, in the order in which they are written.
//
// Thread rule: registration is thread-compatible; the kernels are thread-safe.
// Failure rule: a kernel's failure ends the call.
#ifndef TFRT_KERNELS_TENSOR_SYNC_TENSOR_KERNELS_H_
#define TFRT_KERNELS_TENSOR_SYNC_TENSOR_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Adds the kernels of this file to |registry|. Thread-compatible.
tfrt_status_t tfrt_sync_tensor_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_SYNC_TENSOR_KERNELS_H_
