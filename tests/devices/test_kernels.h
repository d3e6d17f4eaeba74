// SPDX-License-Identifier: Apache-2.0
//
// The kernels of devices/conformance/test_kernels.cu, and that of docs/gpu_programs.md, as C
// functions: for devices that are none.
//
// Thread rule: constant data. Failure rule: test_fault fails, always.
#ifndef TFRT_TESTS_DEVICES_TEST_KERNELS_H_
#define TFRT_TESTS_DEVICES_TEST_KERNELS_H_

#include "devices/cpu/cpu_platform.h"

#define TFRT_TEST_KERNEL_COUNT 5

extern const tfrt_cpu_kernel_t tfrt_test_kernels[TFRT_TEST_KERNEL_COUNT];

#endif  // TFRT_TESTS_DEVICES_TEST_KERNELS_H_
