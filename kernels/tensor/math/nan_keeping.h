// SPDX-License-Identifier: Apache-2.0
//
// NaNs that the maths library drops: its maximum passes them over, and its exponential of one is 0.
// The functions here put them back into a result, behind one pass over the input.
//
// Thread rule: thread-compatible (caller owns the target). Failure rule: none fails.
#ifndef TFRT_KERNELS_TENSOR_MATH_NAN_KEEPING_H_
#define TFRT_KERNELS_TENSOR_MATH_NAN_KEEPING_H_

#include <stdbool.h>
#include <stdint.h>

// The places of a maximum over windows of images with rows and columns: index 0 and 1.
typedef struct tfrt_pool_places_s {
  int64_t batch;
  int64_t channels;
  int64_t source[2];
  int64_t target[2];
  int64_t window[2];
  int64_t strides[2];
  int64_t padding[2];  // before the first row and column
  bool is_channels_last;
} tfrt_pool_places_t;

// Makes each element of |target| NaN whose window of |source| has a NaN.
void tfrt_pool_keep_nan(const tfrt_pool_places_t* places, const float* source, float* target);

// Makes each of the |rows| rows of |columns| elements of |target| NaN whose row of |source| has no
// softmax: it has a NaN or +infinity, or nothing but -infinity.
void tfrt_softmax_keep_nan(int64_t rows, int64_t columns, const float* source, float* target);

#endif  // TFRT_KERNELS_TENSOR_MATH_NAN_KEEPING_H_
