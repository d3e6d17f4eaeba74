// SPDX-License-Identifier: Apache-2.0
//
// The test kernels that run ops by their names, here or on other hosts. Private to this room.
//
// Thread rule: thread-safe. Failure rule: a kernel's failure is its results' error.
#ifndef TFRT_KERNELS_TEST_EAGER_KERNELS_H_
#define TFRT_KERNELS_TEST_EAGER_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_frame.h"

// Kernels as ops.c describes them. Thread-safe.
void tfrt_test_run_op_on(tfrt_kernel_frame_t* frame);
void tfrt_test_sum_on(tfrt_kernel_frame_t* frame);

#endif  // TFRT_KERNELS_TEST_EAGER_KERNELS_H_
