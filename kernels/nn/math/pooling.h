// SPDX-License-Identifier: Apache-2.0
//
// The places of a window over an image, for poolings of both layouts: [N, C, ...], plane by plane,
// and [N, ..., C], all channels of a pixel together.
//
// Thread rule: thread-safe. Failure rule: see op_call.h.
#ifndef TFRT_KERNELS_NN_MATH_POOLING_H_
#define TFRT_KERNELS_NN_MATH_POOLING_H_

#include "kernels/nn/math/op_call.h"
#include "kernels/nn/math/window.h"

// One place of a window: from where to where along each axis it lies inside, and how many of its
// elements are in the padded operand.
typedef struct tfrt_nn_pool_place_s {
  int64_t first[TFRT_NN_MAX_SPATIAL];
  int64_t end[TFRT_NN_MAX_SPATIAL];
  int64_t padded_count;
} tfrt_nn_pool_place_t;

// Sets |*out_place| to place |index| of |window|. Windows of fewer than three axes get leading ones
// of length 1. Thread-safe.
void tfrt_nn_pool_place(const tfrt_nn_window_t* window, int64_t index,
                        tfrt_nn_pool_place_t* out_place);

// The window over one plane of the operand, as three axes.
typedef struct tfrt_nn_plane_s {
  int64_t dilations[TFRT_NN_MAX_SPATIAL];
  int64_t strides[TFRT_NN_MAX_SPATIAL];  // in elements
} tfrt_nn_plane_t;

// The plane of |window| in an image whose pixels are |channels| elements apart. Thread-safe.
tfrt_nn_plane_t tfrt_nn_plane(const tfrt_nn_window_t* window, int64_t channels);

// Calls |body| for the offset of each element of |place|.
#define TFRT_NN_FOR_EACH_OFFSET(plane, place, body)                                          \
  for (int64_t i0 = (place).first[0]; i0 < (place).end[0]; i0 += (plane).dilations[0]) {     \
    for (int64_t i1 = (place).first[1]; i1 < (place).end[1]; i1 += (plane).dilations[1]) {   \
      for (int64_t i2 = (place).first[2]; i2 < (place).end[2]; i2 += (plane).dilations[2]) { \
        int64_t offset =                                                                     \
            i0 * (plane).strides[0] + i1 * (plane).strides[1] + i2 * (plane).strides[2];     \
        body                                                                                 \
      }                                                                                      \
    }                                                                                        \
  }

// The greatest element, or the mean, of each place of |window| over input 0, f32 with the channels
// last, into result 0, which is made. |with_padding|: the mean of the padding, too.
// Thread-compatible.
tfrt_status_t tfrt_nn_pool_channels_last(const tfrt_nn_call_t* call, const tfrt_nn_window_t* window,
                                         bool is_max, bool with_padding) TFRT_MUST_USE;

// The mean of all |pixels| of each image of input 0, likewise. Thread-compatible.
tfrt_status_t tfrt_nn_pool_all_channels_last(const tfrt_nn_call_t* call, int64_t pixels)
    TFRT_MUST_USE;

#endif  // TFRT_KERNELS_NN_MATH_POOLING_H_
