// SPDX-License-Identifier: Apache-2.0
//
// Images of other sizes: [H, W, C] of ui8 to [height, width, C] of f32. Each new pixel is a
// mean of the four old ones around its place, weighted by nearness; the place of pixel i is
// i * (old length / new length), so the first ones lie on each other.
//
//   old   0       1       2       3
//   new   0    1     2    3     4   5
//
// Thread rule: thread-safe; runs on the calling thread.
// Failure rule: INVALID_ARGUMENT with the shape; RESOURCE_EXHAUSTED.
#ifndef TFRT_KERNELS_TENSOR_MATH_RESIZING_H_
#define TFRT_KERNELS_TENSOR_MATH_RESIZING_H_

#include "host_runtime/tensor/dense_host_tensor.h"

// Makes |*out_result| the image |x| with |height| and |width|, which are not negative; an
// image without pixels can only become one. Thread-safe.
tfrt_status_t tfrt_tensor_resize_bilinear(const tfrt_dense_host_tensor_t* x, int64_t height,
                                          int64_t width, tfrt_allocator_t allocator,
                                          tfrt_dense_host_tensor_t* out_result) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_MATH_RESIZING_H_
