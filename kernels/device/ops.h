// SPDX-License-Identifier: Apache-2.0
//
// The op tables of the dialect `tfrt_gpu`: what programs say about devices, and about vendors'
// libraries on them. Data only, so that the compiler can read them without linking a kernel.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_DEVICE_OPS_H_
#define TFRT_KERNELS_DEVICE_OPS_H_

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

extern const tfrt_kernel_table_t tfrt_device_ops;
extern const tfrt_kernel_table_t tfrt_blas_ops;  // tfrt_gpu.blas.*
extern const tfrt_kernel_table_t tfrt_dnn_ops;   // tfrt_gpu.dnn.*
extern const tfrt_kernel_table_t tfrt_ccl_ops;   // tfrt_gpu.ccl.*

#endif  // TFRT_KERNELS_DEVICE_OPS_H_
