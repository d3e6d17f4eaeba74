// SPDX-License-Identifier: Apache-2.0
//
// The op table of the dialect `tfrt_dist`, by which programs use hosts. Data only, so that the
// compiler can read it without linking a kernel.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_DISTRIBUTED_OPS_H_
#define TFRT_KERNELS_DISTRIBUTED_OPS_H_

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

extern const tfrt_kernel_table_t tfrt_distributed_ops;

#endif  // TFRT_KERNELS_DISTRIBUTED_OPS_H_
