// SPDX-License-Identifier: Apache-2.0
//
// Reductions of a tensor: sums, the place of the largest element, comparisons.
//
// Thread rule: thread-safe; runs on the calling thread.
// Failure rule: INVALID_ARGUMENT with dtypes and shapes; RESOURCE_EXHAUSTED.
#ifndef TFRT_KERNELS_TENSOR_MATH_REDUCTION_H_
#define TFRT_KERNELS_TENSOR_MATH_REDUCTION_H_

#include "host_runtime/tensor/dense_host_tensor.h"

// Makes |*out_result| the sums of |x| (f32, f64, i32, i64) along |axis|, which is gone from
// the result. Floats are summed up in double, integers wrap. Thread-safe.
tfrt_status_t tfrt_tensor_sum(const tfrt_dense_host_tensor_t* x, int32_t axis,
                              tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result)
    TFRT_MUST_USE;

// Makes |*out_result| the means of |x| (f32, f64, i32, i64) along |axis|, which is gone from
// the result and must not be empty unless the result is. Means of integers, whose sums wrap,
// are cut towards zero. Thread-safe.
tfrt_status_t tfrt_tensor_mean(const tfrt_dense_host_tensor_t* x, int32_t axis,
                               tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result)
    TFRT_MUST_USE;

// Makes |*out_result| the places (i64) of the largest elements of |x| (f32, f64, i32, i64,
// ui8) along |axis|, which is gone from the result and must not be empty unless the result
// is. If several are equal, the first counts; a NaN counts as larger than anything. Thread-safe.
tfrt_status_t tfrt_tensor_argmax(const tfrt_dense_host_tensor_t* x, int32_t axis,
                                 tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result)
    TFRT_MUST_USE;

// Sets |*out_count| to the number of places where |a| and |b|, of one plain dtype and one
// shape, have equal elements. Thread-safe.
tfrt_status_t tfrt_tensor_count_equal(const tfrt_dense_host_tensor_t* a,
                                      const tfrt_dense_host_tensor_t* b, int64_t* out_count)
    TFRT_MUST_USE;

// Returns true if |a| and |b| have the same dtype and shape, and elements that are equal
// or, for floats, at most about |ulps| representable numbers apart; a NaN is close to
// nothing. Thread-safe.
bool tfrt_tensor_all_close(const tfrt_dense_host_tensor_t* a, const tfrt_dense_host_tensor_t* b,
                           uint64_t ulps);

#endif  // TFRT_KERNELS_TENSOR_MATH_REDUCTION_H_
