// SPDX-License-Identifier: Apache-2.0
//
// The op table of the kernels that only tests and benchmarks use. Data only, so that
// the compiler can read it without linking a kernel.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_TEST_OPS_H_
#define TFRT_KERNELS_TEST_OPS_H_

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

extern const tfrt_kernel_table_t tfrt_test_ops;

#endif  // TFRT_KERNELS_TEST_OPS_H_
