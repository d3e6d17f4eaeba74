// SPDX-License-Identifier: Apache-2.0
//
// Computations on each element by itself: conversion, scaling, adding, cutting at 0, filling.
// Memory bounds their speed, so they are plain loops that compilers vectorise.
//
// Thread rule: thread-safe; runs on the calling thread.
// Failure rule: INVALID_ARGUMENT with dtypes and shapes; RESOURCE_EXHAUSTED.
#ifndef TFRT_KERNELS_TENSOR_MATH_ELEMENTWISE_H_
#define TFRT_KERNELS_TENSOR_MATH_ELEMENTWISE_H_

#include "host_runtime/tensor/dense_host_tensor.h"

// Makes |*out_result| a tensor like |x| of |dtype|; both are plain or floats of 16 bits. To an
// integer, a float is cut towards zero and to the range (NaN gives 0), a wider integer is wrapped,
// as C does for unsigned ones; to i1, everything but 0 gives 1. The same dtype gives an alias.
// Thread-safe.
tfrt_status_t tfrt_tensor_cast(const tfrt_dense_host_tensor_t* x, tfrt_dtype_t dtype,
                               tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result)
    TFRT_MUST_USE;

// Makes |*out_result| the f32 tensor |x| with each element multiplied by |factor|.
// Thread-safe.
tfrt_status_t tfrt_tensor_scale(const tfrt_dense_host_tensor_t* x, float factor,
                                tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result)
    TFRT_MUST_USE;

// Makes |*out_result| the sum of |a| and |b|, of one dtype (f32, f64, i32, i64; integers
// wrap), stretched to each other (see tfrt_shape_broadcast()). Thread-safe.
tfrt_status_t tfrt_tensor_add(const tfrt_dense_host_tensor_t* a, const tfrt_dense_host_tensor_t* b,
                              tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result)
    TFRT_MUST_USE;

// Makes |*out_result| the f32 tensor |x| with negative elements replaced by 0; a NaN
// stays. Thread-safe.
tfrt_status_t tfrt_tensor_relu(const tfrt_dense_host_tensor_t* x, tfrt_allocator_t allocator,
                               tfrt_dense_host_tensor_t* out_result) TFRT_MUST_USE;

// Sets the f32 |tensor| to |bias| along |axis| (to 0 if that is NULL): what is left of a product
// that sums up nothing. Thread-compatible.
void tfrt_tensor_fill_with_bias(const tfrt_dense_host_tensor_t* bias, uint32_t axis,
                                const tfrt_dense_host_tensor_t* tensor);

// Replaces the negative elements of the f32 |tensor| by 0, in place; a NaN stays. The maths
// library could do that in the same pass as a product, but makes 0 of a NaN. Thread-compatible.
void tfrt_tensor_cut_at_zero(const tfrt_dense_host_tensor_t* tensor);

#endif  // TFRT_KERNELS_TENSOR_MATH_ELEMENTWISE_H_
