// SPDX-License-Identifier: Apache-2.0
//
// How a window moves over a tensor [batch, channels, spatial...]: what convolutions and poolings
// have in common.
//
// Thread rule: values. Failure rule: INVALID_ARGUMENT for what doesn't fit.
#ifndef TFRT_KERNELS_NN_MATH_WINDOW_H_
#define TFRT_KERNELS_NN_MATH_WINDOW_H_

#include "kernels/nn/math/op_call.h"

#define TFRT_NN_MAX_SPATIAL 3

typedef struct tfrt_nn_window_s {
  uint32_t spatial;
  int64_t size[TFRT_NN_MAX_SPATIAL];
  int64_t strides[TFRT_NN_MAX_SPATIAL];
  int64_t dilations[TFRT_NN_MAX_SPATIAL];
  int64_t before[TFRT_NN_MAX_SPATIAL];
  int64_t after[TFRT_NN_MAX_SPATIAL];
  int64_t source[TFRT_NN_MAX_SPATIAL];
  int64_t target[TFRT_NN_MAX_SPATIAL];
} tfrt_nn_window_t;

// True if the op has the attribute `layout` and it says that the channels are the last axis of the
// operand and the result: "NHWC" (with as many axes between N and C as there are), instead of
// "NCHW". Thread-safe.
bool tfrt_nn_is_channels_last(const tfrt_nn_call_t* call);

// Sets |*out_window| for operand 0 of |call| and a window of |size|, which has one length for each
// spatial axis, by the attributes auto_pad, dilations, pads and strides. |ceil_mode|: a window
// that only partly lies inside counts, too. Thread-safe.
tfrt_status_t tfrt_nn_window_plan(const tfrt_nn_call_t* call, const int64_t* size, bool ceil_mode,
                                  tfrt_nn_window_t* out_window) TFRT_MUST_USE;

// The same without what follows for the target: strides and dilations alone. Thread-safe.
tfrt_status_t tfrt_nn_window_read(const tfrt_nn_call_t* call, const int64_t* size,
                                  tfrt_nn_window_t* out_window) TFRT_MUST_USE;

// Sets |*out_values| to the attribute |name|, which has |count| numbers from |low| to 2^31 - 1, or
// none: then all are |standard|. Thread-safe.
tfrt_status_t tfrt_nn_window_numbers(const tfrt_nn_call_t* call, const char* name, uint32_t count,
                                     int64_t low, int64_t standard, int64_t* out_values)
    TFRT_MUST_USE;

#endif  // TFRT_KERNELS_NN_MATH_WINDOW_H_
