// SPDX-License-Identifier: Apache-2.0
//
// A tensor all of whose elements are the same: one value and a shape, whatever the shape's size.
// Zeros, ones and fill values are kept and sent this way for a few bytes.
//
//   scalar tensor { dtype, shape, | value .. unused, 0 | }     16 bytes hold any element
//
// It has no buffer: its payload is copied with the struct. Kernels that want elements in a row
// get a dense tensor by a conversion (tensor_conversion.h).
//
// Life: made; read, or its value set by its only owner. There is nothing to give back.
//
// Thread rule: a value. Failure rule: making one fails with INVALID_ARGUMENT; making a dense one of
// it with RESOURCE_EXHAUSTED, too.
#ifndef TFRT_HOST_RUNTIME_TENSOR_SCALAR_HOST_TENSOR_H_
#define TFRT_HOST_RUNTIME_TENSOR_SCALAR_HOST_TENSOR_H_

#include <stdalign.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/tensor/dense_host_tensor.h"

TFRT_API_BEGIN

// Room for one element of any dtype.
#define TFRT_SCALAR_HOST_TENSOR_VALUE_SIZE 16

typedef struct tfrt_scalar_host_tensor_s {
  tfrt_dtype_t dtype;
  tfrt_shape_t shape;
  alignas(8) unsigned char value[TFRT_SCALAR_HOST_TENSOR_VALUE_SIZE];
} tfrt_scalar_host_tensor_t;

// Makes |*out_tensor| the tensor with the shape |shape| (which may be unbounded) whose elements are
// all the one of |dtype| at |value|, as it lies in tensors. INVALID_ARGUMENT if the dtype has no
// bytes or the shape is not good. Thread-safe.
tfrt_status_t tfrt_scalar_host_tensor_make(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                                           const void* value, tfrt_scalar_host_tensor_t* out_tensor)
    TFRT_MUST_USE;

// Makes |*out_dense| the same tensor with all its elements in memory of |allocator|.
// INVALID_ARGUMENT if their size overflows. Thread-safe.
tfrt_status_t tfrt_scalar_host_tensor_to_dense(const tfrt_scalar_host_tensor_t* tensor,
                                               tfrt_allocator_t allocator,
                                               tfrt_dense_host_tensor_t* out_dense) TFRT_MUST_USE;

// Makes |*out_tensor| what |dense| is with one value. INVALID_ARGUMENT, with the place, if it has
// no element, or two whose bytes differ. Thread-safe.
tfrt_status_t tfrt_scalar_host_tensor_from_dense(const tfrt_dense_host_tensor_t* dense,
                                                 tfrt_scalar_host_tensor_t* out_tensor)
    TFRT_MUST_USE;

// Appends |tensor| as TFRT prints it:
//   ScalarHostTensor dtype = i32, shape = [2, 2], value = 1
// Thread-safe, as |out| is.
void tfrt_scalar_host_tensor_print(const tfrt_scalar_host_tensor_t* tensor,
                                   tfrt_string_builder_t* out);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_TENSOR_SCALAR_HOST_TENSOR_H_
