// SPDX-License-Identifier: Apache-2.0
//
// Products of f32 matrices, with what a dense layer adds to them.
//
// Thread rule: thread-safe; runs on the calling thread.
// Failure rule: INVALID_ARGUMENT with both shapes; otherwise as onednn.h says.
#ifndef TFRT_KERNELS_TENSOR_MATH_MATMUL_H_
#define TFRT_KERNELS_TENSOR_MATH_MATMUL_H_

#include "host_runtime/tensor/dense_host_tensor.h"

// Makes |*out_result| ([M, N]) the product of |a| ([M, K]) and |b| ([K, N]), plus |bias|
// ([N]; NULL: none) in each row, with negative results cut at 0 if |relu|. Thread-safe.
tfrt_status_t tfrt_tensor_matmul(const tfrt_dense_host_tensor_t* a,
                                 const tfrt_dense_host_tensor_t* b,
                                 const tfrt_dense_host_tensor_t* bias, bool relu,
                                 tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result)
    TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_MATH_MATMUL_H_
