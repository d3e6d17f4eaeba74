// SPDX-License-Identifier: Apache-2.0
//
// Pooling: the largest element in each place of a window that moves over images
// [N, C, H, W] of f32; each channel by itself. The padding never wins.
//
// Thread rule: thread-safe; runs on the calling thread.
// Failure rule: INVALID_ARGUMENT with the shape; otherwise as onednn.h says.
#ifndef TFRT_KERNELS_TENSOR_MATH_POOLING_H_
#define TFRT_KERNELS_TENSOR_MATH_POOLING_H_

#include "kernels/tensor/math/convolution.h"

// Makes |*out_result| ([N, C, OH, OW], see convolution.h) the maxima of |x| in |window|,
// whose padding must be smaller than its size. Thread-safe.
tfrt_status_t tfrt_tensor_max_pool2d(const tfrt_dense_host_tensor_t* x, const tfrt_window_t* window,
                                     tfrt_allocator_t allocator,
                                     tfrt_dense_host_tensor_t* out_result) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_MATH_POOLING_H_
