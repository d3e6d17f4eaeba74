// SPDX-License-Identifier: Apache-2.0
//
// Copies elements of a tensor in another order: transposing, cutting, stretching.
//
// Thread rule: thread-compatible (caller owns what is written to). Failure rule: none fails.
#ifndef TFRT_KERNELS_NN_MATH_MOVEMENT_H_
#define TFRT_KERNELS_NN_MATH_MOVEMENT_H_

#include "kernels/nn/math/op_call.h"

// Copies elements of |size| bytes to |out|, row-major with the lengths |dims| of |rank| axes:
// element (i, j, ...) is the one at |source| + i * strides[0] + j * strides[1] ..., in elements.
void tfrt_nn_copy_strided(const void* source, size_t size, uint32_t rank, const int64_t* dims,
                          const int64_t* strides, void* out);

// Makes result |index| of |call| the tensor |source| with its axes in the order |order|.
tfrt_status_t tfrt_nn_permute(const tfrt_nn_call_t* call, uint32_t index,
                              const tfrt_dense_host_tensor_t* source, const uint32_t* order)
    TFRT_MUST_USE;

#endif  // TFRT_KERNELS_NN_MATH_MOVEMENT_H_
