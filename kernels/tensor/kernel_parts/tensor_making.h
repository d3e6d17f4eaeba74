// SPDX-License-Identifier: Apache-2.0
//
// The work of the kernels that make and fill tensors. Each of these has an asynchronous form
// (dense_host_tensor_kernels.c) and a synchronous one (sync_tensor_kernels.c), and both call the
// functions here. Attributes are those of BEF, of the kind that the op table says.
//
// Thread rule: thread-compatible (caller owns what is written to).
// Failure rule: INVALID_ARGUMENT or RESOURCE_EXHAUSTED in the words of the reference; then
// nothing was made or written.
#ifndef TFRT_KERNELS_TENSOR_KERNEL_PARTS_TENSOR_MAKING_H_
#define TFRT_KERNELS_TENSOR_KERNEL_PARTS_TENSOR_MAKING_H_

#include "host_runtime/tensor/host_tensor.h"
#include "host_runtime/tensor/partial_shape.h"

// OK if |tensor|, operand |index| of a kernel, is dense and of |dtype|. Thread-safe.
tfrt_status_t tfrt_check_dense(const tfrt_host_tensor_t* tensor, uint32_t index, tfrt_dtype_t dtype)
    TFRT_MUST_USE;

// Makes |*out_tensor| a tensor with the shape that the attribute |dims|, an array of i64,
// says, which must have |rank| axes; its elements are undefined. Thread-compatible.
tfrt_status_t tfrt_make_uninitialized(tfrt_dtype_t dtype, uint32_t rank, const void* dims,
                                      tfrt_allocator_t allocator,
                                      tfrt_dense_host_tensor_t* out_tensor) TFRT_MUST_USE;

// Makes |*out_tensor| the tensor with |shape| in |buffer|, whose size it must have.
// Thread-compatible.
tfrt_status_t tfrt_make_in_buffer(tfrt_dtype_t dtype, tfrt_host_buffer_t* buffer,
                                  const tfrt_shape_t* shape, tfrt_dense_host_tensor_t* out_tensor)
    TFRT_MUST_USE;

// Makes |*out_tensor| a copy of the dense attribute |value|. Thread-compatible.
tfrt_status_t tfrt_make_constant(const void* value, tfrt_allocator_t allocator,
                                 tfrt_dense_host_tensor_t* out_tensor) TFRT_MUST_USE;

// Sets |*out_shape| to what the shape attribute |value| says. Thread-safe.
tfrt_status_t tfrt_read_shape(const void* value, tfrt_partial_shape_t* out_shape) TFRT_MUST_USE;

// Makes |*out_tensor| a tensor of 0 with the shape of the shape attribute |value|, which must be
// fully known. Thread-compatible.
tfrt_status_t tfrt_make_zeros(tfrt_dtype_t dtype, const void* value, tfrt_allocator_t allocator,
                              tfrt_dense_host_tensor_t* out_tensor) TFRT_MUST_USE;

// Makes |*out_tensor| the strings of the aggregate |values|, with the shape that the
// attribute |dims| says. Thread-compatible.
tfrt_status_t tfrt_make_strings(const void* dims, const void* values, tfrt_allocator_t allocator,
                                tfrt_string_host_tensor_t* out_tensor) TFRT_MUST_USE;

// Makes |*out_tensor| empty strings, with the shape that the attribute |dims| says.
// Thread-compatible.
tfrt_status_t tfrt_make_empty_strings(const void* dims, tfrt_allocator_t allocator,
                                      tfrt_string_host_tensor_t* out_tensor) TFRT_MUST_USE;

// Sets |*out_buffer| (+1) to |size| bytes, aligned to |alignment|. Thread-compatible.
tfrt_status_t tfrt_make_buffer(int64_t size, int64_t alignment, tfrt_allocator_t allocator,
                               tfrt_host_buffer_t** out_buffer) TFRT_MUST_USE;

// How many numbers of an attribute are one element of |dtype|: two for complex ones, the
// real and the imaginary part. Thread-safe.
uint32_t tfrt_numbers_per_element(tfrt_dtype_t dtype);

// Sets |*out_element| to the element of |dtype| that the attribute |value| is: itself, or for
// complex dtypes an array of two numbers. Lives as long as |value|. Thread-safe.
tfrt_status_t tfrt_read_element(tfrt_dtype_t dtype, const void* value, const void** out_element)
    TFRT_MUST_USE;

// Makes |*out_tensor| the tensor whose elements are all the attribute |value|, with the shape that
// the attribute |dims| says. Thread-safe.
tfrt_status_t tfrt_make_scalar(tfrt_dtype_t dtype, const void* dims, const void* value,
                               tfrt_scalar_host_tensor_t* out_tensor) TFRT_MUST_USE;

// The error for |given| values that should fill a tensor with |expected|. Thread-safe.
tfrt_status_t tfrt_wrong_value_count(uint32_t given, int64_t expected) TFRT_MUST_USE;

// Sets the elements of |tensor| to the attribute |values|, an array of its dtype.
// Thread-compatible.
tfrt_status_t tfrt_set_elements(const tfrt_dense_host_tensor_t* tensor, const void* values)
    TFRT_MUST_USE;

// Makes |*out_tensor| a tensor of |dtype| with the shape that the attribute |dims| says and the
// elements that the attribute |values|, an array, has: as many, or one for all of them.
// Thread-compatible.
tfrt_status_t tfrt_make_dense(tfrt_dtype_t dtype, const void* dims, const void* values,
                              tfrt_allocator_t allocator, tfrt_dense_host_tensor_t* out_tensor)
    TFRT_MUST_USE;

#endif  // TFRT_KERNELS_TENSOR_KERNEL_PARTS_TENSOR_MAKING_H_
