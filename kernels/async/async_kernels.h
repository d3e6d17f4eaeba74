// SPDX-License-Identifier: Apache-2.0
//
// The kernels of asynchronous programs: regions as tasks, groups, functions of several blocks,
// scalars. Their op table, kernel_ops.c, says what each does.
//
// Thread rule: registration is thread-compatible; the kernels are thread-safe.
// Failure rule: a kernel's failure is its results' error.
#ifndef TFRT_KERNELS_ASYNC_ASYNC_KERNELS_H_
#define TFRT_KERNELS_ASYNC_ASYNC_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Adds the kernels of this room to |registry|. Thread-compatible.
tfrt_status_t tfrt_async_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_ASYNC_ASYNC_KERNELS_H_
