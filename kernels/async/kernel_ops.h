// SPDX-License-Identifier: Apache-2.0
//
// The op table of the dialect `tfrt_async`, to which the compiler lowers asynchronous programs.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_ASYNC_KERNEL_OPS_H_
#define TFRT_KERNELS_ASYNC_KERNEL_OPS_H_

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

extern const tfrt_kernel_table_t tfrt_async_ops;

#endif  // TFRT_KERNELS_ASYNC_KERNEL_OPS_H_
