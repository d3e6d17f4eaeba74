// SPDX-License-Identifier: Apache-2.0
//
// Which elements of a tensor make one element of the result, when some axes are reduced.
//
// Thread rule: values. Failure rule: see op_call.h.
#ifndef TFRT_KERNELS_NN_MATH_REDUCTION_H_
#define TFRT_KERNELS_NN_MATH_REDUCTION_H_

#include "kernels/nn/math/op_call.h"

// Some axes of a tensor, with neighbours merged.
typedef struct tfrt_nn_axes_s {
  uint32_t rank;
  int64_t dims[TFRT_SHAPE_MAX_RANK];
  int64_t strides[TFRT_SHAPE_MAX_RANK];
} tfrt_nn_axes_t;

typedef struct tfrt_nn_reduction_s {
  tfrt_nn_axes_t kept;
  tfrt_nn_axes_t reduced;
  int64_t count;       // of elements for one of the result
  tfrt_shape_t shape;  // of the result
} tfrt_nn_reduction_t;

// Sets |*out_plan| for the axes of input 0 whose bits in |axes_mask| are set; with |keeps|, they
// stay, of length 1. Thread-safe.
tfrt_status_t tfrt_nn_reduction_plan(const tfrt_nn_call_t* call, uint32_t axes_mask, bool keeps,
                                     tfrt_nn_reduction_t* out_plan) TFRT_MUST_USE;

// Sets |*out_mask| to the axes that input 1 names: all if there are none, unless the attribute
// noop_with_empty_axes says that then nothing is reduced. Thread-safe.
tfrt_status_t tfrt_nn_reduction_axes(const tfrt_nn_call_t* call, uint32_t* out_mask) TFRT_MUST_USE;

// The offset of the element |index| of |axes|, row-major. Thread-safe.
int64_t tfrt_nn_axes_offset(const tfrt_nn_axes_t* axes, int64_t index);

#endif  // TFRT_KERNELS_NN_MATH_REDUCTION_H_
