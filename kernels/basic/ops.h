// SPDX-License-Identifier: Apache-2.0
//
// The op table of the scalar kernels: constants, arithmetic, printing, chains. Data
// only, so that the compiler can read it without linking a kernel.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_BASIC_OPS_H_
#define TFRT_KERNELS_BASIC_OPS_H_

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

extern const tfrt_kernel_table_t tfrt_basic_ops;

#endif  // TFRT_KERNELS_BASIC_OPS_H_
