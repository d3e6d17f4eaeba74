// SPDX-License-Identifier: Apache-2.0
//
// The test kernels of synchronous functions. Private to this room.
//
// Thread rule: thread-safe. Failure rule: a kernel's failure ends its call.
#ifndef TFRT_KERNELS_TEST_SYNC_TEST_KERNELS_H_
#define TFRT_KERNELS_TEST_SYNC_TEST_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Registers them in |registry|. Thread-compatible.
tfrt_status_t tfrt_test_sync_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TEST_SYNC_TEST_KERNELS_H_
