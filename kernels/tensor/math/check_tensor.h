// SPDX-License-Identifier: Apache-2.0
//
// Checks of the operands of this room's computations. The messages name the operation and the
// operand that came instead.
//
// Thread rule: thread-safe. Failure rule: INVALID_ARGUMENT.
#ifndef TFRT_KERNELS_TENSOR_MATH_CHECK_TENSOR_H_
#define TFRT_KERNELS_TENSOR_MATH_CHECK_TENSOR_H_

#include "host_runtime/base/status.h"
#include "host_runtime/tensor/dense_host_tensor.h"

// OK if |tensor| has the dtype |dtype|; |what| names it, as in "the weights of conv2d".
// Thread-safe.
tfrt_status_t tfrt_check_dtype(const tfrt_dense_host_tensor_t* tensor, tfrt_dtype_t dtype,
                               const char* what) TFRT_MUST_USE;

// OK if |tensor| has |rank| axes. Thread-safe.
tfrt_status_t tfrt_check_rank(const tfrt_dense_host_tensor_t* tensor, uint32_t rank,
                              const char* what) TFRT_MUST_USE;

// OK if |axis| is one of |tensor|. Thread-safe.
tfrt_status_t tfrt_check_axis(const tfrt_dense_host_tensor_t* tensor, int32_t axis,
                              const char* what) TFRT_MUST_USE;

// OK if |tensor| is f32, has |rank| axes, and none is too long for the maths library,
// which counts in 32 bits. Thread-safe.
tfrt_status_t tfrt_check_f32(const tfrt_dense_host_tensor_t* tensor, uint32_t rank,
                             const char* what) TFRT_MUST_USE;

// Whether |tensor| is f32 and has |rank| axes. Thread-safe.
static inline bool tfrt_is_f32(const tfrt_dense_host_tensor_t* tensor, uint32_t rank) {
  return tensor->dtype == TFRT_DTYPE_F32 && tensor->shape.rank == rank;
}

// The error for two operands of the operation |name| whose shapes don't fit together;
// |rule| says how they should. Thread-safe.
tfrt_status_t tfrt_shapes_mismatch(const char* name, const char* rule, const tfrt_shape_t* a,
                                   const tfrt_shape_t* b) TFRT_MUST_USE;

// The error for two operands of the operation |name| whose dtypes differ. Thread-safe.
tfrt_status_t tfrt_dtypes_mismatch(const char* name, const tfrt_dense_host_tensor_t* a,
                                   const tfrt_dense_host_tensor_t* b) TFRT_MUST_USE;

// OK if |target|, which the operation |name| writes to, shares no byte with |x|.
// Thread-safe.
tfrt_status_t tfrt_check_disjoint(const char* name, const tfrt_dense_host_tensor_t* x,
                                  const tfrt_dense_host_tensor_t* target) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_MATH_CHECK_TENSOR_H_
