// SPDX-License-Identifier: Apache-2.0
//
// The kernels that come with libtfrt: basic values, control flow, tensors, hosts.
//
// Thread rule: thread-compatible. Failure rule: RESOURCE_EXHAUSTED; ALREADY_EXISTS for a registry
// that has them.
#ifndef TFRT_EMBEDDING_STANDARD_KERNELS_H_
#define TFRT_EMBEDDING_STANDARD_KERNELS_H_

#include "host_runtime/base/macros.h"
#include "host_runtime/executor/kernel/kernel_registry.h"

TFRT_API_BEGIN

// Registers the kernels and types of all rooms but those for tests: what docs/kernels.md lists,
// without the dialects `tfrt_test` and its like. Thread-compatible.
tfrt_status_t tfrt_standard_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_EMBEDDING_STANDARD_KERNELS_H_
