// SPDX-License-Identifier: Apache-2.0
//
// Other views of the same elements, and tensors put together from several: nothing is
// computed. Results share the operand's buffer wherever its bytes lie right already.
//
// Thread rule: thread-safe; runs on the calling thread.
// Failure rule: INVALID_ARGUMENT or OUT_OF_RANGE with the shapes; RESOURCE_EXHAUSTED.
#ifndef TFRT_KERNELS_TENSOR_MATH_SLICING_H_
#define TFRT_KERNELS_TENSOR_MATH_SLICING_H_

#include "host_runtime/tensor/dense_host_tensor.h"

// Makes |*out_result| a view of the elements of |x| with |rank| axes of the lengths |dims|. One
// length may be -1: it follows from the others. Thread-safe.
tfrt_status_t tfrt_tensor_reshape(const tfrt_dense_host_tensor_t* x, const int64_t* dims,
                                  size_t rank, tfrt_dense_host_tensor_t* out_result) TFRT_MUST_USE;

// Makes |*out_result| a view of |count| steps of |x| along the first axis, from |start| on.
// OUT_OF_RANGE unless they are all there. Thread-safe.
tfrt_status_t tfrt_tensor_slice(const tfrt_dense_host_tensor_t* x, int64_t start, int64_t count,
                                tfrt_dense_host_tensor_t* out_result) TFRT_MUST_USE;

// Makes |*out_result| a view of batch |index| of |x|, when the first axis is cut into
// batches of |size| > 0 steps; the last one is as short as it is. OUT_OF_RANGE if there is
// no such batch. Thread-safe.
tfrt_status_t tfrt_tensor_batch(const tfrt_dense_host_tensor_t* x, int64_t index, int64_t size,
                                tfrt_dense_host_tensor_t* out_result) TFRT_MUST_USE;

// Makes |*out_result| the |count| > 0 tensors, of one dtype and equal lengths but for the
// first axis, one after the other along that. One tensor gives an alias. Thread-safe.
tfrt_status_t tfrt_tensor_concat(const tfrt_dense_host_tensor_t* const* tensors, size_t count,
                                 tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_result)
    TFRT_MUST_USE;

// Sets |target| to the block of |x|, of the same dtype and rank, that begins at |begin|, with
// one number for each axis. OUT_OF_RANGE unless all of it is there. Thread-compatible
// (caller owns |target|).
tfrt_status_t tfrt_tensor_block_into(const tfrt_dense_host_tensor_t* x, const int64_t* begin,
                                     const tfrt_dense_host_tensor_t* target) TFRT_MUST_USE;

// Sets the matrix |target| ([N, M]) to |x| ([M, N]), of the same dtype, with rows and columns
// exchanged. They must not overlap. Thread-compatible (caller owns |target|).
tfrt_status_t tfrt_tensor_transpose_into(const tfrt_dense_host_tensor_t* x,
                                         const tfrt_dense_host_tensor_t* target) TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_MATH_SLICING_H_
