// SPDX-License-Identifier: Apache-2.0
//
// The op tables of the language of asynchronous programs: MLIR's ops, which the compiler lowers
// and which so have no kernels.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_KERNELS_ASYNC_OPS_H_
#define TFRT_KERNELS_ASYNC_OPS_H_

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

// Branches between the blocks of a function: the dialect `cf`.
extern const tfrt_kernel_table_t tfrt_cf_ops;

// Scalars: the dialects `arith` and `math`.
extern const tfrt_kernel_table_t tfrt_arith_ops;

// Loops and branches with regions, memory, prints and calls: `scf`, `memref`, `linalg`, `vector`,
// `func`.
extern const tfrt_kernel_table_t tfrt_scf_ops;

// Regions as tasks, tokens, values and groups: the dialect `async`.
extern const tfrt_kernel_table_t tfrt_async_language_ops;

// Work of devices: the dialect `gpu`.
extern const tfrt_kernel_table_t tfrt_gpu_language_ops;

#endif  // TFRT_KERNELS_ASYNC_OPS_H_
