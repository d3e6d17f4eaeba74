// SPDX-License-Identifier: Apache-2.0
//
// The native functions of tests, by the names that TFRT's tests call them. Private to this
// room.
//
// Thread rule: thread-safe. Failure rule: a function's failure is its results' error.
#ifndef TFRT_KERNELS_TEST_NATIVE_FUNCTIONS_H_
#define TFRT_KERNELS_TEST_NATIVE_FUNCTIONS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Registers them in |registry|. Thread-compatible.
tfrt_status_t tfrt_test_native_functions_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TEST_NATIVE_FUNCTIONS_H_
