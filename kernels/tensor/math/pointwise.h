// SPDX-License-Identifier: Apache-2.0
//
// Computations element by element into a tensor that exists already. Kernels that work under chains
// use them; such a kernel owns its target while it runs. The target may be one of the operands. The
// dtypes are f32, f64, i32 and i64; integers wrap.
//
// Thread rule: thread-compatible (caller owns the target); runs on the calling thread.
// Failure rule: INVALID_ARGUMENT with both dtypes or shapes; nothing is written then.
#ifndef TFRT_KERNELS_TENSOR_MATH_POINTWISE_H_
#define TFRT_KERNELS_TENSOR_MATH_POINTWISE_H_

#include "host_runtime/tensor/dense_host_tensor.h"

typedef enum tfrt_pointwise_e {
  TFRT_POINTWISE_ADD = 0,    // a + b
  TFRT_POINTWISE_SUBTRACT,   // b - a
  TFRT_POINTWISE_EQUAL,      // a == b, as a number of their dtype
  TFRT_POINTWISE_RELU_GRAD,  // a > 0 ? b : 0
} tfrt_pointwise_t;

// Sets |target| to |operation| of |a| and |b|, which are stretched to each other; all of
// one dtype. |name| is for messages. Thread-compatible.
tfrt_status_t tfrt_tensor_combine(tfrt_pointwise_t operation, const char* name,
                                  const tfrt_dense_host_tensor_t* a,
                                  const tfrt_dense_host_tensor_t* b,
                                  const tfrt_dense_host_tensor_t* target) TFRT_MUST_USE;

// Sets |target| to |x|, with 0 for what is negative; a NaN stays. Thread-compatible.
tfrt_status_t tfrt_tensor_relu_into(const tfrt_dense_host_tensor_t* x,
                                    const tfrt_dense_host_tensor_t* target) TFRT_MUST_USE;

// Sets |target| to |x|, stretched to its shape. Thread-compatible.
tfrt_status_t tfrt_tensor_stretch_into(const tfrt_dense_host_tensor_t* x,
                                       const tfrt_dense_host_tensor_t* target) TFRT_MUST_USE;

// Takes |gradient|, times |rate|, from |target|; both f32 and of one shape.
// Thread-compatible.
tfrt_status_t tfrt_tensor_descend(const tfrt_dense_host_tensor_t* gradient, float rate,
                                  const tfrt_dense_host_tensor_t* target) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_MATH_POINTWISE_H_
