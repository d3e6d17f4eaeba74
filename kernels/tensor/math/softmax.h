// SPDX-License-Identifier: Apache-2.0
//
// Turns scores into probabilities: along the last axis, the exponentials divided by their
// sum. Computed relative to the largest score, so that nothing overflows.
//
// Thread rule: thread-safe; runs on the calling thread.
// Failure rule: INVALID_ARGUMENT with the shape; otherwise as onednn.h says.
#ifndef TFRT_KERNELS_TENSOR_MATH_SOFTMAX_H_
#define TFRT_KERNELS_TENSOR_MATH_SOFTMAX_H_

#include "host_runtime/tensor/dense_host_tensor.h"

// Makes |*out_result| the softmax of |x| (f32, at least one axis). Thread-safe.
tfrt_status_t tfrt_tensor_softmax(const tfrt_dense_host_tensor_t* x, tfrt_allocator_t allocator,
                                  tfrt_dense_host_tensor_t* out_result) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_MATH_SOFTMAX_H_
