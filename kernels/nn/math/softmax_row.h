// SPDX-License-Identifier: Apache-2.0
//
// The softmax of one row of f32, for operations that contain it: e to the power of each element, by
// the sum of these. A row with a NaN, or without a finite greatest element, becomes NaN.
//
// Thread rule: pure functions. Failure rule: none fails.
#ifndef TFRT_KERNELS_NN_MATH_SOFTMAX_ROW_H_
#define TFRT_KERNELS_NN_MATH_SOFTMAX_ROW_H_

#include <stdint.h>

// Sets |out|, which may be |x|, to the softmax of the |count| elements of |x|; at least one.
void tfrt_nn_softmax_row(const float* x, float* out, int64_t count);

// The same without vectors of 512 bits, for tests and processors that have none.
void tfrt_nn_softmax_row_narrow(const float* x, float* out, int64_t count);

#endif  // TFRT_KERNELS_NN_MATH_SOFTMAX_ROW_H_
