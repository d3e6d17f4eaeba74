// SPDX-License-Identifier: Apache-2.0
//
// Walks over tensors of different shapes that are stretched to one: numpy's broadcasting. Axes that
// lie one behind the other in all operands are merged, so that the inner loop is long.
//
// Thread rule: values. Failure rule: INVALID_ARGUMENT for shapes that don't fit.
#ifndef TFRT_KERNELS_NN_MATH_BROADCAST_H_
#define TFRT_KERNELS_NN_MATH_BROADCAST_H_

#include "kernels/nn/math/op_call.h"

#define TFRT_NN_MAX_BROADCAST 3

typedef struct tfrt_nn_broadcast_s {
  uint32_t operand_count;
  uint32_t rank;  // at least 1
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  int64_t strides[TFRT_NN_MAX_BROADCAST][TFRT_SHAPE_MAX_RANK];  // in elements; 0: stretched
} tfrt_nn_broadcast_t;

// Sets |*out_shape| to the shape that all |count| |operands| are stretched to. Thread-safe.
tfrt_status_t tfrt_nn_broadcast_shape(const tfrt_nn_call_t* call,
                                      const tfrt_dense_host_tensor_t* const* operands,
                                      uint32_t count, tfrt_shape_t* out_shape) TFRT_MUST_USE;

// Prepares to walk over |count| |operands| of |shape|, which they can be stretched to. Thread-safe.
void tfrt_nn_broadcast_initialize(const tfrt_dense_host_tensor_t* const* operands, uint32_t count,
                                  const tfrt_shape_t* shape, tfrt_nn_broadcast_t* out_broadcast);

// One run of |count| elements: |data[i]| is where operand i begins, |strides[i]| its step (in
// elements), |out| where the results go.
typedef void (*tfrt_nn_row_fn_t)(const void* const* data, const int64_t* strides, void* out,
                                 int64_t count);

// Calls |row| for all of |broadcast|. |data| and |sizes| are the operands' first elements and the
// bytes of an element; |out_size| those of a result's. Thread-compatible.
void tfrt_nn_broadcast_walk(const tfrt_nn_broadcast_t* broadcast, tfrt_nn_row_fn_t row,
                            const void* const* data, const size_t* sizes, void* out,
                            size_t out_size);

#endif  // TFRT_KERNELS_NN_MATH_BROADCAST_H_
