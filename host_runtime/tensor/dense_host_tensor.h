// SPDX-License-Identifier: Apache-2.0
//
// A tensor in this host's memory: element type, shape, and where in a counted buffer
// its elements lie, row-major and without gaps. It is the payload of values of the type
// "!tfrt_tensor.tensor" (tensor_types.h), and a plain struct for everybody else.
//
//   tensor { dtype, shape, buffer, offset }
//                            |       |
//                            v       v
//                  | ..... | element 0, element 1, ... | ..... |
//
// Reshaping and slicing along the first axis give a new tensor on the same buffer: no
// bytes move. So a kernel that writes into a tensor (one that takes and gives chains) must own it
// alone or know its readers; all other kernels make new tensors.
//
// Life:
//  1. Initialised with memory of its own, or as a view of a buffer.
//  2. Filled in by its maker, then read.
//  3. Deinitialised, which releases the buffer.
//
// Thread rule: thread-compatible (caller synchronises); reading is thread-safe.
// Failure rule: initialisation fails with INVALID_ARGUMENT or RESOURCE_EXHAUSTED, and
// leaves an empty struct that needs no deinitialisation.
#ifndef TFRT_HOST_RUNTIME_TENSOR_DENSE_HOST_TENSOR_H_
#define TFRT_HOST_RUNTIME_TENSOR_DENSE_HOST_TENSOR_H_

#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/tensor/dtype.h"
#include "host_runtime/tensor/host_buffer.h"
#include "host_runtime/tensor/shape.h"

TFRT_API_BEGIN

// The most elements that are printed.
#define TFRT_DENSE_HOST_TENSOR_PRINT_LIMIT 16

typedef struct tfrt_dense_host_tensor_s {
  tfrt_dtype_t dtype;
  tfrt_shape_t shape;
  tfrt_host_buffer_t* buffer;  // +1
  size_t offset;               // of element 0 in |buffer|, in bytes
} tfrt_dense_host_tensor_t;

// Sets |*out_size| to the bytes that the elements of a tensor take. INVALID_ARGUMENT if
// |dtype| has no bytes or the size overflows; |shape| may be unbounded. Thread-safe.
tfrt_status_t tfrt_dense_host_tensor_compute_size(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                                                  size_t* out_size) TFRT_MUST_USE;

// Makes |*out_tensor| a tensor with memory of its own from |allocator|, whose elements
// are undefined. Thread-compatible.
tfrt_status_t tfrt_dense_host_tensor_initialize(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                                                tfrt_allocator_t allocator,
                                                tfrt_dense_host_tensor_t* out_tensor) TFRT_MUST_USE;

// Makes |*out_tensor| a view of |buffer| (retained) from |offset| bytes on. OUT_OF_RANGE
// if the elements don't fit, INVALID_ARGUMENT if element 0 would be misaligned.
// Thread-compatible.
tfrt_status_t tfrt_dense_host_tensor_initialize_view(tfrt_dtype_t dtype, const tfrt_shape_t* shape,
                                                     tfrt_host_buffer_t* buffer, size_t offset,
                                                     tfrt_dense_host_tensor_t* out_tensor)
    TFRT_MUST_USE;

// Makes |*out_tensor| another tensor on the buffer of |tensor|. Thread-compatible.
void tfrt_dense_host_tensor_initialize_alias(const tfrt_dense_host_tensor_t* tensor,
                                             tfrt_dense_host_tensor_t* out_tensor);

// Releases the buffer of |tensor|, which may be an empty (zeroed) struct. Thread-compatible.
void tfrt_dense_host_tensor_deinitialize(tfrt_dense_host_tensor_t* tensor);

// Where the elements are; NULL only if there are none. Lives as long as the tensor.
// Thread-safe.
static inline void* tfrt_dense_host_tensor_data(const tfrt_dense_host_tensor_t* tensor) {
  char* data = (char*)tensor->buffer->data;
  return data ? data + tensor->offset : NULL;
}

// The number of elements, and of their bytes. Thread-safe.
static inline int64_t tfrt_dense_host_tensor_element_count(const tfrt_dense_host_tensor_t* tensor) {
  return tfrt_shape_element_count(&tensor->shape);
}
static inline size_t tfrt_dense_host_tensor_size(const tfrt_dense_host_tensor_t* tensor) {
  return (size_t)tfrt_shape_element_count(&tensor->shape) * tfrt_dtype_size(tensor->dtype);
}

// Sets all elements of |tensor| to the one at |element|, of its dtype. Thread-compatible (caller
// owns |tensor|).
void tfrt_dense_host_tensor_fill(const tfrt_dense_host_tensor_t* tensor, const void* element);

// Returns true if |a| and |b| have the same dtype and shape, and the same elements:
// numbers as C compares them (a NaN differs from itself), else the same bytes. Thread-safe.
bool tfrt_dense_host_tensor_equal(const tfrt_dense_host_tensor_t* a,
                                  const tfrt_dense_host_tensor_t* b);

// Appends |tensor| as TFRT prints it, at most 16 elements of it:
//   DenseHostTensor dtype = i32, shape = [2, 2], values = [1, 2, 3, 4]
// Thread-safe, as |out| is.
void tfrt_dense_host_tensor_print(const tfrt_dense_host_tensor_t* tensor,
                                  tfrt_string_builder_t* out);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_TENSOR_DENSE_HOST_TENSOR_H_
