// SPDX-License-Identifier: Apache-2.0
//
// The op table of the dialect `tfrt_gpu`: what programs say about devices. Data only, so that
// the compiler can read it without linking a kernel.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_DEVICE_OPS_H_
#define TFRT_KERNELS_DEVICE_OPS_H_

#include "host_runtime/executor/kernel_descriptor.h"

extern const tfrt_kernel_table_t tfrt_device_ops;

#endif  // TFRT_KERNELS_DEVICE_OPS_H_
