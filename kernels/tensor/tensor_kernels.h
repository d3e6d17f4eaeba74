// SPDX-License-Identifier: Apache-2.0
//
// Shapes, tensors, tensors from files, and the maths of small networks. The op table, ops/ops.c,
// describes each kernel.
//
// Thread rule: registration is thread-compatible; the kernels are thread-safe.
// Failure rule: a kernel's failure is its results' error; operands whose dtypes or shapes
// don't fit give INVALID_ARGUMENT with both in the message.
#ifndef TFRT_KERNELS_TENSOR_TENSOR_KERNELS_H_
#define TFRT_KERNELS_TENSOR_TENSOR_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Registers the types of host_runtime/tensor and adds the kernels of this room to
// |registry|. Thread-compatible.
tfrt_status_t tfrt_tensor_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_TENSOR_KERNELS_H_
