// SPDX-License-Identifier: Apache-2.0
//
// Convolution of images, in the layout of the networks that are trained elsewhere:
//
//   x        [N, C, H, W]            images, channels first
//   weights  [O, C, KH, KW]          one filter per output channel; not flipped
//   bias     [O]                     may be left out
//   result   [N, O, OH, OW]          OH = (H + 2 * padding - KH) / stride + 1, rounded down
//
// All are f32. Elements in the padding are 0.
//
// Thread rule: thread-safe; runs on the calling thread.
// Failure rule: INVALID_ARGUMENT with both shapes; otherwise as onednn.h says.
#ifndef TFRT_KERNELS_TENSOR_MATH_CONVOLUTION_H_
#define TFRT_KERNELS_TENSOR_MATH_CONVOLUTION_H_

#include "host_runtime/tensor/dense_host_tensor.h"

// A window that moves over an image: [0] is down, [1] across.
typedef struct tfrt_window_s {
  int64_t size[2];     // for a convolution taken from the weights
  int64_t strides[2];  // at least 1
  int64_t padding[2];  // at least 0, on both sides
} tfrt_window_t;

// OK if the strides and paddings of |window| are in their ranges. Thread-safe.
tfrt_status_t tfrt_window_check(const tfrt_window_t* window, const char* what) TFRT_MUST_USE;

// Sets |out_size[2]| to the number of places that |window|, of the given |size|, has in
// an image of |height| x |width|; 0 if it doesn't fit. Thread-safe.
void tfrt_window_count(const tfrt_window_t* window, const int64_t* size, const int64_t* image,
                       int64_t* out_size);

// Makes |*out_result| the convolution described above, with negative results cut at 0 if
// |relu|. |bias| may be NULL. Thread-safe.
tfrt_status_t tfrt_tensor_conv2d(const tfrt_dense_host_tensor_t* x,
                                 const tfrt_dense_host_tensor_t* weights,
                                 const tfrt_dense_host_tensor_t* bias, const tfrt_window_t* window,
                                 bool relu, tfrt_allocator_t allocator,
                                 tfrt_dense_host_tensor_t* out_result) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_MATH_CONVOLUTION_H_
