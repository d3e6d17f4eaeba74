// SPDX-License-Identifier: Apache-2.0
//
// Images in TFRT's layout, [N, H, W, C] of f32, computed into tensors that are there
// already:
//
//   max_pool         [N, H, W, C] -> [N, OH, OW, C]   the largest element of each place
//   average          [N, H, W, C] -> [N, C]           the mean of each channel
//   pad              [N, H, W, C] -> [N, H + 2 * down, W + 2 * across, C]   0 around
//   spread           [N, C] -> [N, H, W, C]           one value for each channel
//
// Thread rule: thread-compatible (caller owns the target); runs on the calling thread.
// Failure rule: INVALID_ARGUMENT with the shapes; otherwise as onednn.h says.
#ifndef TFRT_KERNELS_TENSOR_MATH_CHANNELS_LAST_H_
#define TFRT_KERNELS_TENSOR_MATH_CHANNELS_LAST_H_

#include "host_runtime/tensor/dense_host_tensor.h"

// A window that moves over an image: [0] is down, [1] across.
typedef struct tfrt_pool_window_s {
  int64_t size[2];     // at least 1
  int64_t strides[2];  // at least 1
  bool same;  // as much padding, nearly halved, as there is one place per stride; else none
} tfrt_pool_window_t;

// Sets |target| to the maxima of |x| in |window|. The padding never wins.
// Thread-compatible.
tfrt_status_t tfrt_channels_last_max_pool(const tfrt_dense_host_tensor_t* x,
                                          const tfrt_pool_window_t* window,
                                          tfrt_allocator_t allocator,
                                          const tfrt_dense_host_tensor_t* target) TFRT_MUST_USE;

// Sets |target| to the mean of each image's channels; NaN where there is no element.
// Thread-compatible.
tfrt_status_t tfrt_channels_last_average(const tfrt_dense_host_tensor_t* x,
                                         const tfrt_dense_host_tensor_t* target) TFRT_MUST_USE;

// Sets |target| to |x| with |padding[0]| rows of 0 above and below, and |padding[1]| columns
// on both sides. Thread-compatible.
tfrt_status_t tfrt_channels_last_pad(const tfrt_dense_host_tensor_t* x, const int64_t* padding,
                                     const tfrt_dense_host_tensor_t* target) TFRT_MUST_USE;

// Sets each pixel of |target| to what |x| says of its image and channel. Thread-compatible.
tfrt_status_t tfrt_channels_last_spread(const tfrt_dense_host_tensor_t* x,
                                        const tfrt_dense_host_tensor_t* target) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_MATH_CHANNELS_LAST_H_
