// SPDX-License-Identifier: Apache-2.0
//
// The op table of neural networks: `tfrt_nn.*`. Data only, so that the compiler can read it without
// linking a kernel.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_NN_OPS_OPS_H_
#define TFRT_KERNELS_NN_OPS_OPS_H_

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

// The ops of op_list.h, in that order, and behind them those of constants and conditions.
extern const tfrt_kernel_table_t tfrt_nn_ops;

#endif  // TFRT_KERNELS_NN_OPS_OPS_H_
