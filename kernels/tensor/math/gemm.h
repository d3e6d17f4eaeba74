// SPDX-License-Identifier: Apache-2.0
//
// The product of two matrices, added to one that is there already:
//
//   c [M, N]  =  alpha * a [M, K] * b [K, N]  +  beta * c
//
// A |beta| of 0 means that what was in c doesn't count, whatever it was.
//
// Thread rule: thread-compatible (caller owns c); runs on the calling thread.
// Failure rule: INVALID_ARGUMENT with both shapes; otherwise as onednn.h says.
#ifndef TFRT_KERNELS_TENSOR_MATH_GEMM_H_
#define TFRT_KERNELS_TENSOR_MATH_GEMM_H_

#include "host_runtime/tensor/dense_host_tensor.h"

// Computes the above for matrices of f32, i32 or i64, which all have one dtype; |alpha| and
// |beta| point to one element of it. Integers wrap. |c| must not overlap the others.
// Thread-compatible.
tfrt_status_t tfrt_tensor_gemm(const void* alpha, const tfrt_dense_host_tensor_t* a,
                               const tfrt_dense_host_tensor_t* b, const void* beta,
                               const tfrt_dense_host_tensor_t* c) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_MATH_GEMM_H_
