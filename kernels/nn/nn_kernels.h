// SPDX-License-Identifier: Apache-2.0
//
// The kernels `tfrt_nn.*`: the operations of neural networks (ops/op_list.h).
//
// Thread rule: thread-safe. Failure rule: as the registry's.
#ifndef TFRT_KERNELS_NN_NN_KERNELS_H_
#define TFRT_KERNELS_NN_NN_KERNELS_H_

#include "host_runtime/executor/kernel/kernel_registry.h"

// Registers them, and the types that they need. Thread-safe.
tfrt_status_t tfrt_nn_kernels_register(tfrt_kernel_registry_t* registry) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_NN_NN_KERNELS_H_
