// SPDX-License-Identifier: Apache-2.0
//
// Scalars, strings of text, chains: the `tfrt.*` kernels that have neither control flow
// nor tensors. The op table, ops.c, describes each kernel.
//
// Thread rule: registration is thread-compatible; the kernels are thread-safe.
// Failure rule: a kernel's failure is its results' error.
#ifndef TFRT_KERNELS_BASIC_BASIC_KERNELS_H_
#define TFRT_KERNELS_BASIC_BASIC_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Adds the kernels of this room to |registry|. Thread-compatible.
tfrt_status_t tfrt_basic_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_BASIC_BASIC_KERNELS_H_
