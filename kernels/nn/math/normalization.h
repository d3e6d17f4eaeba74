// SPDX-License-Identifier: Apache-2.0
//
// The softmax of one row, for operations that contain it.
//
// Thread rule: pure functions. Failure rule: none fails.
#ifndef TFRT_KERNELS_NN_MATH_NORMALIZATION_H_
#define TFRT_KERNELS_NN_MATH_NORMALIZATION_H_

#include <stdint.h>

// Sets |out|, which may be |x|, to the softmax of the |count| elements of |x|; at least one.
void tfrt_nn_softmax_row(const float* x, float* out, int64_t count);

#endif  // TFRT_KERNELS_NN_MATH_NORMALIZATION_H_
